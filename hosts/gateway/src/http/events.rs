//! `/v1/events`: one stream of what a person may see, as server-sent events.
//!
//! The id of an event is its number in the store. A stream that is resumed with `Last-Event-ID` goes on after it, also after a restart; events
//! that retention has removed meanwhile are told as a `gap`. Events of an open conversation come without ids, as `live`: what they tell stands in
//! the transcript in the end.
//!
//! A stream holds one page of events at most, and reads the next one when the client has taken it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt as _, unfold};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use toolkit_serve::axum::Router;
use toolkit_serve::axum::body::Body;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use toolkit_serve::axum::response::Response;
use toolkit_serve::axum::routing::get;
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::live::{Live, Seen};
use super::session_paths;
use super::state::HttpState;
use crate::store::{EventFilter, EventPage, StoreError};

/// Events that are read at once.
const PAGE: u32 = 100;
pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/events", get(follow))
}

async fn follow(
    State(state): State<HttpState>,
    caller: Caller,
    headers: HeaderMap,
    mut query: Query,
) -> Result<Response, Problem> {
    let after = query.number("after", 0, i64::MAX)?;
    let (session, watched) = (query.one("session")?, query.one("live")?);
    query.finish()?;
    let after = last_event_id(&headers)?.or(after);
    let watched = watched.as_deref().or(session.as_deref());
    let frames = frames_of(state, caller, session.as_deref(), watched, after).await?;
    let frames = frames.map(|frame| Ok::<_, Infallible>(frame.to_sse()));
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // A proxy that collects the answer would hold it back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// The parts of a stream, one after the other.
pub(super) type Frames = Pin<Box<dyn Stream<Item = Frame> + Send>>;

/// Returns the events that a person sees, of one session or of all, after the one with a number, or from now on. The stream ends with the token.
pub(super) async fn frames(
    state: HttpState,
    caller: Caller,
    session: Option<&str>,
    after: Option<i64>,
) -> Result<Frames, Problem> {
    frames_of(state, caller, session, session, after).await
}

/// Returns the same, with the answer of another session as it is written.
async fn frames_of(
    state: HttpState,
    caller: Caller,
    session: Option<&str>,
    watched: Option<&str>,
    after: Option<i64>,
) -> Result<Frames, Problem> {
    let mut keys = [None, None];
    for (key, text) in keys.iter_mut().zip([session, watched]) {
        if let Some(text) = text {
            *key = Some(session_paths::find(&state, &caller, text).await?.key);
        }
    }
    let [session, watched] = keys;
    let live = watched.map(|session| Live::new(state.sessions().clone(), session));
    let filter = EventFilter { session, person: caller.seen_by(), asks_of: caller.answers_for() };
    let following = Following::new(state, caller, filter, after, live);
    Ok(Box::pin(unfold(following, async |mut following| {
        let frame = following.next().await?;
        Some((frame, following))
    })))
}

/// A part of a stream.
#[derive(Debug, PartialEq)]
pub(super) enum Frame {
    /// An event. One of the store has a number.
    Event { id: Option<i64>, kind: String, data: Value },
    /// Nothing has happened: the number after which a client goes on.
    Alive(i64),
}

impl Frame {
    fn event(id: Option<i64>, kind: &str, data: Value) -> Self {
        Self::Event { id, kind: kind.to_owned(), data }
    }

    /// Tells that events between two numbers, both left out, may be missing.
    fn gap(after: i64, until: i64) -> Self {
        Self::event(Some(until), "gap", json!({ "after": after, "until": until }))
    }

    /// As a server-sent event. Its JSON has no line breaks.
    fn to_sse(&self) -> Bytes {
        let (id, kind, data) = match self {
            Self::Event { id, kind, data } => (id, kind, data),
            // A comment: no event, so nothing is dispatched.
            Self::Alive(after) => return format!(": alive\nid: {after}\n\n").into(),
        };
        let mut text = String::new();
        if let Some(id) = id {
            let _ = writeln!(text, "id: {id}");
        }
        let _ = write!(text, "event: {kind}\ndata: {data}\n\n");
        text.into()
    }
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    // A client that has seen no event may send an empty one.
    let value = headers.get("last-event-id").filter(|value| !value.is_empty());
    let Some(value) = value else { return Ok(None) };
    let id = value.to_str().ok().and_then(|text| text.trim().parse::<i64>().ok()).filter(|id| *id >= 0);
    let wrong = || {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "the header `Last-Event-ID` is the `id` of an event of this stream",
        )
    };
    id.map(Some).ok_or_else(wrong)
}

/// A stream, between two frames.
struct Following {
    state: HttpState,
    caller: Caller,
    filter: EventFilter,
    /// All events up to this number were sent, or are for others.
    after: i64,
    /// The number of the last event in the store.
    last: watch::Receiver<i64>,
    /// True if the store may have events that were not read.
    is_behind: bool,
    live: Option<Live>,
    ready: VecDeque<Frame>,
    alive: Interval,
}

impl Following {
    fn new(
        state: HttpState,
        caller: Caller,
        filter: EventFilter,
        after: Option<i64>,
        live: Option<Live>,
    ) -> Self {
        let mut last = state.store().last_event();
        let newest = *last.borrow_and_update();
        let mut alive = interval_at(Instant::now() + state.keep_alive(), state.keep_alive());
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ready = VecDeque::new();
        let after = match after {
            // An earlier store was put back, in which these events never happened.
            Some(after) if after > newest => {
                ready.push_back(Frame::gap(after, newest));
                newest
            }
            after => after.unwrap_or(newest),
        };
        // A client that is cut off before the first event knows where to go on.
        ready.push_front(Frame::Alive(after));
        Self { state, caller, filter, after, last, is_behind: true, live, ready, alive }
    }

    /// Returns the next frame; `None` ends the stream.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if std::mem::take(&mut self.is_behind) {
                match self.read().await {
                    Ok(()) => continue,
                    Err(error) => {
                        tracing::warn!(%error, "a stream of events ended");
                        return None;
                    }
                }
            }
            let revoked = self.caller.0.revocation.token_revoked();
            tokio::select! {
                biased;
                () = revoked => return None,
                () = self.state.shutdown().cancelled() => return None,
                changed = self.last.changed() => {
                    // The store is closed.
                    changed.ok()?;
                    self.is_behind = true;
                }
                _ = self.alive.tick() => {
                    // A token expires without a word.
                    if !self.state.people().still_counts(&self.caller.0).await.is_ok_and(|counts| counts) {
                        return None;
                    }
                    return Some(Frame::Alive(self.after));
                }
                seen = next_live(&mut self.live) => self.ready.extend(live_frames(seen)),
            }
        }
    }

    /// Reads the next events of the store.
    async fn read(&mut self) -> Result<(), StoreError> {
        self.last.borrow_and_update();
        let page = self.state.store().event_page(self.after, self.filter.clone(), PAGE).await?;
        let EventPage { events, first_kept, seen } = page;
        self.is_behind = events.len() >= PAGE as usize;
        let before_kept = first_kept.map_or(seen, |first| first - 1);
        if before_kept > self.after {
            self.ready.push_back(Frame::gap(self.after, before_kept));
        }
        for event in events {
            self.ready.push_back(Frame::event(Some(event.seq), &event.kind, json!(event)));
        }
        self.after = seen;
        Ok(())
    }
}

async fn next_live(live: &mut Option<Live>) -> Seen {
    match live {
        Some(live) => live.next().await,
        None => std::future::pending().await,
    }
}

fn live_frames(seen: Seen) -> Vec<Frame> {
    match seen {
        Seen::Events(events) => events.iter().map(|event| Frame::event(None, "live", json!(event))).collect(),
        Seen::Missed(count) => vec![Frame::event(None, "live.missed", json!({ "count": count }))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_frame_whatever_its_text_is() {
        let frame =
            Frame::event(Some(7), "run.ended", json!({ "reason": "a\nb\r\n\u{2028}data: x" })).to_sse();
        let text = std::str::from_utf8(&frame).expect("text");
        assert_eq!(text.lines().collect::<Vec<_>>().len(), 4, "{text:?}");
        assert!(text.starts_with("id: 7\nevent: run.ended\ndata: {") && text.ends_with("}\n\n"), "{text:?}");
    }
}

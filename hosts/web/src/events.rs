//! The events of one call, as a client reads them: server-sent events.

use crate::answer::Answer;
use crate::limits::{MAX_EVENT_BYTES, MAX_EVENTS};
use crate::problems::lost;
use crate::room::{Share, Shared, holding};
use bytes::Bytes;
use futures_util::stream::unfold;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use toolkit::events::{CallEvent, Event};
use toolkit_serve::axum::body::Body;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::http::{HeaderName, HeaderValue};
use toolkit_serve::axum::response::Response;
use toolkit_serve::in_pieces;

/// The events of a call that wait for their reader, up to a limit. The last one is its answer.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Notify,
    /// The room of the client for what is on its way.
    sent: Shared,
}

#[derive(Debug, Default)]
struct Waiting {
    frames: VecDeque<(Frame, Share)>,
    bytes: usize,
    lost: u64,
    end: End,
    /// The part of the last event that was not taken.
    rest: Bytes,
}

/// The end of the events.
#[derive(Debug, Default)]
enum End {
    #[default]
    Pending,
    Answer(Answer),
    /// The call ended without an answer.
    Lost,
    Told,
}

#[derive(Debug)]
struct Frame {
    kind: &'static str,
    data: String,
    /// True for an event that a slow reader may miss early.
    is_intermediate: bool,
}

impl Queue {
    /// Creates the queue of a call of a client, with its room for what is on its way.
    pub(crate) fn new(sent: Shared) -> Self {
        Self { waiting: Mutex::default(), changed: Notify::new(), sent }
    }

    /// Adds an event of the call with the id `call`, or of one that it makes, if clients are told of it. `shown` returns a question as the client
    /// may see it.
    pub(crate) fn add(&self, call: &str, event: &CallEvent, shown: impl Fn(Value) -> Value) {
        let Some(frame) = frame_of(call, event, shown) else { return };
        let mut waiting = self.lock();
        let times = if frame.is_intermediate { 1 } else { 2 };
        let bytes = waiting.bytes.saturating_add(frame.data.len());
        let has_place = waiting.frames.len() < times * MAX_EVENTS && bytes <= times * MAX_EVENT_BYTES;
        match self.sent.take(frame.data.len()).filter(|_| has_place) {
            Some(share) => {
                waiting.bytes = bytes;
                waiting.frames.push_back((frame, share));
            }
            None => waiting.lost += 1,
        }
        drop(waiting);
        self.changed.notify_one();
    }

    /// Ends the events with the answer, or without one.
    pub(crate) fn end(&self, answer: Option<Answer>) {
        self.lock().end = answer.map_or(End::Lost, End::Answer);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the reader gets next; `None` if nothing waits.
    fn take(&self) -> Option<Next> {
        let mut waiting = self.lock();
        if let Some(piece) = piece_of(&mut waiting.rest) {
            return Some(Next::Frame(piece));
        }
        if let Some((frame, share)) = waiting.frames.pop_front() {
            waiting.bytes -= frame.data.len();
            waiting.rest = holding(sse(frame.kind, &frame.data), share);
            return piece_of(&mut waiting.rest).map(Next::Frame);
        }
        if waiting.lost > 0 {
            let lost = json!({ "count": std::mem::take(&mut waiting.lost) });
            return Some(Next::Frame(sse("lost", &lost.to_string())));
        }
        match std::mem::replace(&mut waiting.end, End::Told) {
            End::Pending => {
                waiting.end = End::Pending;
                None
            }
            End::Answer(answer) => {
                waiting.rest = last(&answer);
                piece_of(&mut waiting.rest).map(Next::Frame)
            }
            End::Lost => Some(Next::Frame(last(&(&lost()).into()))),
            End::Told => Some(Next::Over),
        }
    }
}

/// A step of the reader.
enum Next {
    Frame(Bytes),
    Over,
}

/// Bytes of a piece of a large event. A connection takes only some pieces at a time.
const PIECE: usize = 64 << 10;

/// Takes the next piece of an event; `None` at its end.
fn piece_of(rest: &mut Bytes) -> Option<Bytes> {
    let piece = rest.split_to(rest.len().min(PIECE));
    (!piece.is_empty()).then_some(piece)
}

/// Returns the last event: `result`, or `error` with the problem.
fn last(answer: &Answer) -> Bytes {
    let kind = if answer.is_result() { "result" } else { "error" };
    answer.in_its_room(sse(kind, &String::from_utf8_lossy(answer.json())))
}

/// Returns an event. Its JSON has no line breaks.
fn sse(kind: &str, data: &str) -> Bytes {
    format!("event: {kind}\ndata: {data}\n\n").into()
}

fn frame_of(call: &str, event: &CallEvent, shown: impl Fn(Value) -> Value) -> Option<Frame> {
    let is_own = event.call_id == call;
    let is_within = event.call_id.strip_prefix(call).is_some_and(|rest| rest.starts_with('/'));
    if !is_own && !is_within {
        return None;
    }
    let (kind, data, is_intermediate) = match &event.event {
        Event::Progress(progress) if is_own => ("progress", json!(progress), true),
        Event::Partial { content } if is_own => ("output", json!({ "content": content }), true),
        Event::Log(message) if is_own => ("log", json!(message), true),
        Event::Asked { ask } => ("ask", shown(json!(ask)), false),
        Event::Answered { ask_id, answer, .. } => {
            ("answered", json!({ "id": ask_id, "answer": answer }), false)
        }
        _ => return None,
    };
    Some(Frame { kind, data: Value::to_string(&data), is_intermediate })
}

/// Returns a response with the events of a call. `held` is dropped with it.
pub(crate) fn response(queue: Arc<Queue>, keep_alive: Duration, held: impl Send + 'static) -> Response {
    let reading = (queue, held);
    let frames = unfold(reading, move |(queue, held)| async move {
        loop {
            // The end of a wait that is told before it begins is kept.
            match queue.take() {
                Some(Next::Frame(frame)) => return Some((Ok::<_, Infallible>(frame), (queue, held))),
                Some(Next::Over) => return None,
                None => {}
            }
            if tokio::time::timeout(keep_alive, queue.changed.notified()).await.is_err() {
                let alive = Bytes::from_static(b": alive\n\n");
                return Some((Ok(alive), (queue, held)));
            }
        }
    });
    with_type(Body::from_stream(frames))
}

/// Returns a response with the last event alone.
pub(crate) fn one(answer: &Answer) -> Response {
    with_type(in_pieces(last(answer)))
}

fn with_type(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // A proxy that collects the answer would hold it back.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Room;
    use toolkit_serve::axum::http::StatusCode;

    fn queue() -> Queue {
        Queue::new(Shared::new(usize::MAX, Room::new(usize::MAX)))
    }

    fn event(call: &str, event: &Value) -> CallEvent {
        let mut whole = json!({ "seq": 1, "at": 1, "callId": call, "tool": "t" });
        whole.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    fn output(text: &str) -> Value {
        json!({ "event": "partial", "content": { "type": "text", "text": text } })
    }

    fn taken(queue: &Queue) -> Vec<String> {
        let mut all = Vec::new();
        while let Some(Next::Frame(frame)) = queue.take() {
            all.push(String::from_utf8(frame.to_vec()).unwrap());
        }
        all
    }

    #[test]
    fn the_events_of_a_call_come_in_order_and_the_answer_last() {
        let queue = self::queue();
        queue.add("1", &event("1", &json!({ "event": "progress", "done": 1.0 })), |shown| shown);
        queue.add("1", &event("1", &output("a\nb")), |shown| shown);
        queue.add("1", &event("2", &output("of another call")), |shown| shown);
        queue.add("1", &event("1/1", &output("of a call within")), |shown| shown);
        queue.add("1", &event("10", &output("of another call")), |shown| shown);
        queue.end(Some(Answer::new(StatusCode::OK, &json!({ "isError": false }))));
        let frames = taken(&queue);
        assert_eq!(frames.len(), 3, "{frames:?}");
        assert_eq!(frames[0], "event: progress\ndata: {\"done\":1.0}\n\n");
        assert!(frames[1].starts_with("event: output\n") && frames[1].lines().count() == 3);
        assert_eq!(frames[2], "event: result\ndata: {\"isError\":false}\n\n");
        assert!(matches!(queue.take(), Some(Next::Over)));
    }

    #[test]
    fn a_slow_reader_misses_events_and_is_told_how_many() {
        let queue = self::queue();
        for _ in 0..MAX_EVENTS + 5 {
            queue.add("1", &event("1", &output("x")), |shown| shown);
        }
        let large = self::queue();
        large.add("1", &event("1", &output(&"x".repeat(MAX_EVENT_BYTES))), |shown| shown);
        assert_eq!(taken(&large), ["event: lost\ndata: {\"count\":1}\n\n"]);
        queue.end(None);
        let frames = taken(&queue);
        assert_eq!(frames.len(), MAX_EVENTS + 2);
        assert_eq!(frames[MAX_EVENTS], "event: lost\ndata: {\"count\":5}\n\n");
        assert!(frames[MAX_EVENTS + 1].starts_with("event: error\n"), "{}", frames[MAX_EVENTS + 1]);
    }

    #[test]
    fn events_take_the_room_of_their_client_until_they_are_read() {
        let all = Room::new(1_000);
        let queue = Queue::new(Shared::new(200, Arc::clone(&all)));
        for _ in 0..3 {
            queue.add("1", &event("1", &output(&"x".repeat(50))), |shown| shown);
        }
        let taken_room = all.taken();
        assert!((100..=200).contains(&taken_room), "{taken_room}");
        let first = queue.take();
        assert_eq!(all.taken(), taken_room, "it is on its way");
        drop(first);
        assert!(all.taken() < taken_room);
        let rest = taken(&queue);
        assert!(rest.last().unwrap().starts_with("event: lost\n"), "{rest:?}");
        assert_eq!(all.taken(), 0);
    }

    #[test]
    fn questions_that_are_not_read_have_a_limit_of_their_own() {
        let queue = self::queue();
        let answered = json!({ "event": "answered", "askId": "a", "answer": "denied", "by": "person" });
        for _ in 0..=2 * MAX_EVENTS {
            queue.add("1", &event("1", &answered), |shown| shown);
        }
        let frames = taken(&queue);
        assert_eq!(frames.len(), 2 * MAX_EVENTS + 1);
        assert_eq!(frames[2 * MAX_EVENTS], "event: lost\ndata: {\"count\":1}\n\n");
    }
}

//! `/v1/sessions`: listed, shown, labelled, archived, cancelled.

use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{get, post};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::body::Body;
use super::caller::Caller;
use super::session_paths::find_begun;
use super::state::HttpState;
use crate::SessionKind;
use crate::store::{Moment, RunRecord, SessionFilter, SessionRecord, check_label_text};

/// The sessions of one page, if nothing else is asked for, and at most.
const PAGE: (u32, u32) = (50, 500);

pub(super) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/v1/sessions", get(list))
        .route("/v1/sessions/{key}", get(show).patch(change))
        .route("/v1/sessions/{key}/cancel", post(cancel))
}

/// A session, with the parts of its key that a client would have to take out of it.
#[derive(Serialize)]
struct View {
    #[serde(flatten)]
    record: SessionRecord,
    agent: String,
    kind: SessionKind,
}

impl View {
    fn of(record: SessionRecord) -> Self {
        Self { agent: record.key.agent().to_owned(), kind: record.key.kind(), record }
    }
}

async fn list(
    State(state): State<HttpState>,
    caller: Caller,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let limit = query.number("limit", 1, PAGE.1)?.unwrap_or(PAGE.0);
    let active_since = query.number("activeMinutes", 1, 60 * 24 * 366)?;
    let active_since =
        active_since.map(|minutes| state.store().clock().now().before(Duration::from_mins(minutes)));
    let filter = SessionFilter {
        agent: query.one("agent")?,
        kinds: query.all_named("kind")?,
        status: query.named("status")?,
        label: query.one("label")?,
        with_archived: query.flag("archived")?,
        after: query.one("cursor")?.map(|cursor| read_cursor(&cursor)).transpose()?,
        active_since,
        seen_by: caller.seen_by(),
        limit: Some(limit + 1),
        ..SessionFilter::default()
    };
    query.finish()?;
    let mut sessions = state.store().sessions(filter).await?;
    let has_more = sessions.len() > limit as usize;
    sessions.truncate(limit as usize);
    let next = sessions.last().filter(|_| has_more).map(cursor);
    let sessions: Vec<View> = sessions.into_iter().map(View::of).collect();
    Ok(Json(json!({ "sessions": sessions, "nextCursor": next })))
}

/// The place of a session in a list: those after it were active before it.
fn cursor(last: &SessionRecord) -> String {
    BASE64URL_NOPAD.encode(format!("{}/{}", last.active_at.0, last.key).as_bytes())
}

fn read_cursor(text: &str) -> Result<(Moment, crate::SessionKey), Problem> {
    let read = || {
        let text = String::from_utf8(BASE64URL_NOPAD.decode(text.as_bytes()).ok()?).ok()?;
        let (at, key) = text.split_once('/')?;
        Some((Moment(at.parse().ok()?), key.parse().ok()?))
    };
    let wrong = "the parameter `cursor` is the `nextCursor` of an earlier answer";
    read().ok_or_else(|| Problem::new(StatusCode::BAD_REQUEST, wrong))
}

async fn show(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Query,
) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let record = find_begun(&state, &caller, &path?).await?;
    Ok(Json(shown(&state, record).await?))
}

/// A session with its run and the messages that wait.
async fn shown(state: &HttpState, record: SessionRecord) -> Result<Value, Problem> {
    let run: Option<RunRecord> = state.store().run_in_flight(record.key.clone()).await?;
    let waiting = state.store().queued(record.key.clone()).await?;
    let waiting: Vec<Value> = waiting
        .into_iter()
        .map(|message| json!({ "id": message.id, "sender": message.sender, "acceptedAt": message.accepted_at }))
        .collect();
    let mut shown = json!(View::of(record));
    shown["run"] = json!(run);
    shown["waiting"] = waiting.into();
    Ok(shown)
}

/// A change of a session.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    #[serde(default, deserialize_with = "given")]
    label: LabelChange,
    archived: Option<bool>,
}

#[derive(Default)]
enum LabelChange {
    /// The field is missing.
    #[default]
    None,
    /// Null takes the label away.
    To(Option<String>),
}

fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LabelChange, D::Error> {
    Option::deserialize(deserializer).map(LabelChange::To)
}

async fn change(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    Body(change): Body<Change>,
) -> Result<Json<Value>, Problem> {
    let Path(text) = path?;
    let record = find_begun(&state, &caller, &text).await?;
    if let LabelChange::To(label) = change.label {
        set_label(&state, &caller, &record, label).await?;
    }
    if let Some(archived) = change.archived {
        state.store().archive(record.key, archived).await?;
    }
    Ok(Json(shown(&state, find_begun(&state, &caller, &text).await?).await?))
}

async fn set_label(
    state: &HttpState,
    caller: &Caller,
    record: &SessionRecord,
    label: Option<String>,
) -> Result<(), Problem> {
    if let Some(label) = &label {
        check_label_text(label).map_err(|text| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text))?;
        let (key, agent) = (record.key.clone(), record.key.agent().to_owned());
        let other = state.store().labelled(key, agent, label.clone()).await?;
        if let Some(other) = other.filter(|other| other.key != record.key) {
            // A session of somebody else is not named.
            let name = if caller.may_see(state.store(), &other.key).await? {
                format!("the session `{}`", other.key)
            } else {
                "another session of this agent".to_owned()
            };
            let text = format!("this label belongs to {name}; take another one");
            return Err(Problem::new(StatusCode::CONFLICT, text));
        }
    }
    Ok(state.store().label(record.key.clone(), label).await?)
}

async fn cancel(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let record = find_begun(&state, &caller, &path?).await?;
    let cancelled = state.sessions().cancel(record.key).await?;
    Ok(Json(json!({ "cancelled": cancelled })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_no_other_text_is() {
        let key: crate::SessionKey = "agent:main:chat:one:direct:a%2Fb".parse().expect("a key");
        let text = BASE64URL_NOPAD.encode(format!("17/{key}").as_bytes());
        assert_eq!(read_cursor(&text).expect("a cursor"), (Moment(17), key));
        for text in [
            "",
            "x",
            "!",
            &BASE64URL_NOPAD.encode(b"17/nothing"),
            &BASE64URL_NOPAD.encode(b"x/agent:main:main"),
        ] {
            assert_eq!(read_cursor(text).expect_err("no cursor").status(), StatusCode::BAD_REQUEST);
        }
    }
}

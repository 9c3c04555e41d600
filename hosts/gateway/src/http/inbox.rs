//! `/v1/sessions/{key}/inbox/{id}`: what became of a message.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::session_paths::find_begun;
use super::state::HttpState;
use crate::store::{Message, MessageId, MessageState, RunState};

/// The longest time that a request waits for an answer, in seconds.
const MAX_WAIT_SECONDS: u64 = 60;

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/sessions/{key}/inbox/{id}", get(show).delete(cancel))
}

async fn show(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<(String, i64)>, PathRejection>,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let wait = query.number("waitSeconds", 0, MAX_WAIT_SECONDS)?.unwrap_or_default();
    query.finish()?;
    let id = find(&state, &caller, path).await?.id;
    let until = Instant::now() + Duration::from_secs(wait);
    let mut events = state.store().last_event();
    loop {
        events.borrow_and_update();
        let outcome = outcome(&state, id).await?;
        if outcome.is_final {
            return Ok(Json(outcome.shown));
        }
        tokio::select! {
            changed = timeout_at(until, events.changed()) => match changed {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Ok(Json(outcome.shown)),
            },
            () = state.shutdown().cancelled() => return Ok(Json(outcome.shown)),
        }
    }
}

/// Takes a message back that waits, or cancels the run that it began.
async fn cancel(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<(String, i64)>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let id = find(&state, &caller, path).await?.id;
    state.sessions().cancel_message(id).await?;
    Ok(Json(outcome(&state, id).await?.shown))
}

async fn find(
    state: &HttpState,
    caller: &Caller,
    path: Result<Path<(String, i64)>, PathRejection>,
) -> Result<Message, Problem> {
    let Path((key, id)) = path?;
    let session = find_begun(state, caller, &key).await?;
    let message = state.store().message(MessageId(id)).await?;
    message.filter(|message| message.session == session.key).ok_or_else(|| not_found(id))
}

fn not_found(id: i64) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("this session has no message {id}"))
}

/// The state of a message so far.
pub(super) struct Outcome {
    /// True if it stays so.
    is_final: bool,
    pub(super) shown: Value,
}

pub(super) async fn outcome(state: &HttpState, id: MessageId) -> Result<Outcome, Problem> {
    let store = state.store();
    let message = store.message(id).await?.ok_or_else(|| not_found(id.0))?;
    let run = match &message.run {
        Some(run) => store.run(run).await?,
        None => None,
    };
    let status = match (message.state, run.as_ref().map(|run| run.state)) {
        (MessageState::Queued, _) => "queued",
        (MessageState::Cancelled, _) | (_, Some(RunState::Cancelled)) => "cancelled",
        (_, Some(RunState::Running)) => "running",
        (_, Some(RunState::Waiting)) => "waiting",
        (_, Some(RunState::Answered)) => "answered",
        // A run is kept longer than its messages, so that it is never missing.
        (_, Some(RunState::Failed) | None) => "failed",
    };
    let is_final = matches!(status, "cancelled" | "answered" | "failed");
    let mut shown = json!({
        "id": message.id,
        "session": message.session,
        "sender": message.sender,
        "state": status,
        "acceptedAt": message.accepted_at,
        "run": message.run,
    });
    if let Some(run) = run.filter(|_| is_final) {
        shown["endedAt"] = json!(run.ended_at);
        shown["reason"] = json!(run.reason);
        if run.state == RunState::Answered {
            let parts = store.deliveries_of(&run.id).await?;
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.body.get("text")?.as_str()).collect();
            shown["text"] = texts.join("\n\n").into();
        }
    }
    Ok(Outcome { is_final, shown })
}

//! `/v1/people`.

use std::time::Duration;

use serde_json::{Value, json};
use toolkit_serve::Problem;
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{get, post};
use toolkit_serve::axum::{Json, Router};

use super::caller::Caller;
use super::query::Query;
use super::state::HttpState;
use crate::store::{PersonRecord, SessionFilter};

/// Time for which an answer waits until the work of a blocked person has ended.
const MAX_WAIT: Duration = Duration::from_secs(10);

pub(super) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/v1/people", get(list))
        .route("/v1/people/{name}/block", post(block))
        .route("/v1/people/{name}/unblock", post(unblock))
}

/// All people for the owner, and themselves for others.
async fn list(State(state): State<HttpState>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let mut people = state.store().people().await?;
    people.retain(|person| caller.is_manager() || person.name == caller.name());
    Ok(Json(json!({ "people": people })))
}

/// Blocks a person: their connections and streams end, their runs are cancelled, and their messages that wait are taken back.
async fn block(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let person = find(&state, path).await?;
    state.people().block(&person.name).await?;
    // It goes on if the client does not wait.
    let ending = tokio::spawn(end_work(state.clone(), person.name.clone()));
    if let Ok(Ok(ended)) = tokio::time::timeout(MAX_WAIT, ending).await {
        ended?;
    }
    Ok(Json(json!(state.store().person(person.name).await?)))
}

async fn unblock(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let person = find(&state, path).await?;
    state.people().unblock(&person.name).await?;
    Ok(Json(json!(state.store().person(person.name).await?)))
}

async fn find(state: &HttpState, path: Result<Path<String>, PathRejection>) -> Result<PersonRecord, Problem> {
    let Path(name) = path?;
    state.store().person(name.clone()).await?.ok_or_else(|| {
        let text = format!("there is no person `{}`; GET /v1/people lists them", name.escape_debug());
        Problem::new(StatusCode::NOT_FOUND, text)
    })
}

/// Ends what runs and waits in the sessions of a person, and below. A message that was to reach a run waits again at its end, so this goes on
/// until nothing runs.
async fn end_work(state: HttpState, name: String) -> Result<(), Problem> {
    let mut events = state.store().last_event();
    loop {
        events.borrow_and_update();
        if !cancel_all(&state, &name).await? {
            return Ok(());
        }
        tokio::select! {
            changed = events.changed() => if changed.is_err() { return Ok(()) },
            () = state.shutdown().cancelled() => return Ok(()),
        }
    }
}

/// Takes the messages back that wait, and cancels the runs. Returns true if there were any.
async fn cancel_all(state: &HttpState, name: &str) -> Result<bool, Problem> {
    let mut filter =
        SessionFilter { seen_by: Some(name.to_owned()), with_archived: true, ..SessionFilter::default() };
    let mut found = false;
    loop {
        let sessions = state.store().sessions(filter.clone()).await?;
        let Some(last) = sessions.last() else { return Ok(found) };
        filter.after = Some((last.active_at, last.key.clone()));
        for session in sessions.into_iter().filter(|session| session.queued > 0 || session.is_running) {
            found = true;
            for message in state.store().queued(session.key.clone()).await? {
                state.sessions().cancel_message(message.id).await?;
            }
            state.sessions().cancel(session.key).await?;
        }
    }
}

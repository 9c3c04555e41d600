//! `/v1/people`.

use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{get, post};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::state::HttpState;
use crate::store::{IdentityRecord, PersonRecord, SessionFilter};

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
    let identities = state.store().identities(caller.seen_by()).await?;
    let shown = people.into_iter().map(|person| {
        let of_person = |identity: &&IdentityRecord| identity.person == person.name;
        let identities: Vec<_> = identities.iter().filter(of_person).collect();
        let mut shown = json!(person);
        shown["identities"] = json!(identities);
        shown
    });
    Ok(Json(json!({ "people": shown.collect::<Vec<_>>() })))
}

/// Blocks a person: their connections and streams end, their runs are cancelled, and their messages that wait are taken back.
async fn block(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let person = find(&state, path).await?;
    // Carried out also if whoever asked for it has gone.
    let blocking = {
        let (state, name) = (state.clone(), person.name.clone());
        tokio::spawn(async move {
            state.people().block(&name).await?;
            cancel_runs(&state, &name).await?;
            cancel_begun(&state, &name).await
        })
    };
    blocking.await.unwrap_or_else(|_| {
        Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the gateway is ending; look at the person again"))
    })?;
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
    state.sessions().look_again();
    Ok(Json(json!(state.store().person(person.name).await?)))
}

async fn find(state: &HttpState, path: Result<Path<String>, PathRejection>) -> Result<PersonRecord, Problem> {
    let Path(name) = path?;
    state.store().person(name.clone()).await?.ok_or_else(|| {
        let text = format!("there is no person `{}`; GET /v1/people lists them", name.escape_debug());
        Problem::new(StatusCode::NOT_FOUND, text)
    })
}

/// Cancels the runs in the sessions of a person, and below.
async fn cancel_runs(state: &HttpState, name: &str) -> Result<(), Problem> {
    let mut filter =
        SessionFilter { seen_by: Some(name.to_owned()), with_archived: true, ..SessionFilter::default() };
    loop {
        let sessions = state.store().sessions(filter.clone()).await?;
        let Some(last) = sessions.last() else { return Ok(()) };
        filter.after = Some((last.active_at, last.key.clone()));
        for session in sessions.into_iter().filter(|session| session.is_running) {
            state.sessions().cancel(session.key).await?;
        }
    }
}

/// Cancels the runs that a person began in sessions of others, as in a group.
async fn cancel_begun(state: &HttpState, name: &str) -> Result<(), Problem> {
    for message in state.store().in_flight_of_sender(name).await? {
        state.sessions().cancel_message(message).await?;
    }
    Ok(())
}

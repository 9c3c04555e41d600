//! `/v1/tokens`, for the owner.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{delete, get};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::body::Body;
use super::caller::Caller;
use super::state::HttpState;
use crate::Role;
use crate::store::{Moment, NewToken};

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/tokens", get(list).post(add)).route("/v1/tokens/{name}", delete(revoke))
}

async fn list(State(state): State<HttpState>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    query.finish()?;
    Ok(Json(json!({ "tokens": state.store().tokens().await? })))
}

/// A token that is asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
    name: String,
    /// By default, a person with the name of the token.
    person: Option<String>,
    role: Option<Role>,
    /// The agent of a person who is added; by default, the owner's.
    agent: Option<String>,
    expires_at: Option<Moment>,
    expires_in_seconds: Option<u64>,
}

async fn add(
    State(state): State<HttpState>,
    caller: Caller,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    caller.check_manager()?;
    let Wanted { name, person, role, agent, expires_at, expires_in_seconds } = wanted;
    let agent = agent.unwrap_or_else(|| caller.agent().to_owned());
    if !state.about().agents.iter().any(|known| known.id == agent) {
        let text = format!("there is no agent `{}`; GET /v1/agents lists them", agent.escape_debug());
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text));
    }
    if state.store().tokens().await?.iter().any(|token| token.name == name) {
        let text = format!("there is a token `{name}`; revoke it first for a new one");
        return Err(Problem::new(StatusCode::CONFLICT, text));
    }
    let mut token = NewToken::new(name.clone(), person.unwrap_or(name), agent);
    if let Some(role) = role {
        token = token.with_role(role);
    }
    let expires_at = match (expires_at, expires_in_seconds) {
        (Some(_), Some(_)) => {
            let text = "give `expiresAt` or `expiresInSeconds`, and not both";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text));
        }
        (at, None) => at,
        (None, Some(seconds)) => Some(state.store().clock().now().after(Duration::from_secs(seconds))),
    };
    if let Some(at) = expires_at {
        token = token.with_expiry(at);
    }
    let (text, record) = state.people().add_token(token).await?;
    let mut shown = json!(record);
    shown["token"] = text.into();
    Ok((StatusCode::CREATED, Json(shown)))
}

async fn revoke(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    caller.check_manager()?;
    let Path(name) = path?;
    if state.people().revoke_token(&name).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    let text = format!("there is no token `{}`; GET /v1/tokens lists them", name.escape_debug());
    Err(Problem::new(StatusCode::NOT_FOUND, text))
}

//! `/v1/pairings` and `/v1/identities`: unknown senders of chat channels, and who they become.

use serde::Deserialize;
use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{delete, get, post};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::body::Body;
use super::caller::Caller;
use super::state::HttpState;
use crate::people::{OWNER, Paired};
use crate::store::{Becomes, Role};

pub(super) fn routes() -> Router<HttpState> {
    Router::new()
        .route("/v1/pairings", get(list))
        .route("/v1/pairings/approve", post(approve))
        .route("/v1/pairings/deny", post(deny))
        .route("/v1/identities", get(identities))
        .route("/v1/identities/{channel}/{sender}", delete(remove))
}

async fn list(State(state): State<HttpState>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    query.finish()?;
    caller.check_manager()?;
    let pairings = state.store().strangers().await?;
    Ok(Json(json!({ "pairings": pairings, "wrongCodes": state.people().wrong_sender_codes() })))
}

/// A sender who is let in.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
    /// The code, `CHANNEL:SENDER`, or the platform's id of the sender.
    sender: String,
    /// True if it is the owner.
    #[serde(default)]
    owner: bool,
    /// The person who is there already to whom the sender belongs.
    person: Option<String>,
    /// The role of a new person.
    role: Option<Role>,
    /// The agent of a new person.
    agent: Option<String>,
    /// The name of a new person.
    name: Option<String>,
}

impl Wanted {
    fn becomes(&self, state: &HttpState) -> Result<Becomes, Problem> {
        let is_new = self.role.is_some() || self.agent.is_some() || self.name.is_some();
        let unfit = |text: &str| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, text.to_owned());
        match (self.owner, &self.person) {
            (true, None) if !is_new => Ok(Becomes::Person(OWNER.to_owned())),
            (false, Some(person)) if !is_new => Ok(Becomes::Person(person.clone())),
            (true, _) => Err(unfit("the owner has a role, an agent and a name: give `owner` alone")),
            (_, Some(_)) => {
                Err(unfit("a person who is there has a role, an agent and a name: give `person` alone"))
            }
            (false, None) => {
                let about = state.about();
                let agents = &about.agents;
                let agent = match &self.agent {
                    Some(agent) if agents.iter().any(|known| known.id == *agent) => agent.clone(),
                    Some(agent) => {
                        let text = format!(
                            "there is no agent `{}`; GET /v1/agents lists them",
                            agent.escape_debug()
                        );
                        return Err(Problem::new(StatusCode::NOT_FOUND, text));
                    }
                    None => agents.first().map_or_else(|| "main".to_owned(), |agent| agent.id.clone()),
                };
                Ok(Becomes::New { name: self.name.clone(), role: self.role.unwrap_or(Role::User), agent })
            }
        }
    }
}

async fn approve(
    State(state): State<HttpState>,
    caller: Caller,
    Body(wanted): Body<Wanted>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let becomes = wanted.becomes(&state)?;
    let paired =
        state.people().approve_sender(&wanted.sender, becomes, caller.name(), caller.0.token()).await?;
    match paired {
        Paired::Approved(person, identity) => {
            state.sessions().look_again();
            Ok(Json(json!({ "person": person, "identity": identity })))
        }
        Paired::Unknown => Err(nobody()),
        Paired::TooMany(wait) => {
            let text = "too many codes were wrong lately; wait, and send a right one";
            Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).retry_after(wait))
        }
    }
}

/// A sender who is turned away.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Denied {
    sender: String,
}

async fn deny(
    State(state): State<HttpState>,
    caller: Caller,
    Body(Denied { sender }): Body<Denied>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let denied = state.people().deny_sender(&sender).await?;
    denied.map(|stranger| Json(json!(stranger))).ok_or_else(nobody)
}

fn nobody() -> Problem {
    let text = "no such sender waits: GET /v1/pairings lists them; a code counts for an hour, and a sender can be named as CHANNEL:SENDER";
    Problem::new(StatusCode::NOT_FOUND, text)
}

/// All identities for the owner, and their own for others.
async fn identities(
    State(state): State<HttpState>,
    caller: Caller,
    query: Query,
) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let identities = state.store().identities(caller.seen_by()).await?;
    Ok(Json(json!({ "identities": identities })))
}

/// Takes an identity from its person: from then on the sender is unknown.
async fn remove(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<StatusCode, Problem> {
    caller.check_manager()?;
    let Path((channel, sender)) = path?;
    if state.store().remove_identity(channel, sender).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    Err(Problem::new(StatusCode::NOT_FOUND, "there is no such identity; GET /v1/identities lists them"))
}

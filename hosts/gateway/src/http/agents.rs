//! `/v1/agents`.

use serde_json::{Value, json};
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::state::HttpState;

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/agents", get(list))
}

async fn list(State(state): State<HttpState>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let about = state.about();
    let agents: Vec<_> = about.agents.iter().filter(|agent| caller.may_use(&agent.id)).collect();
    Ok(Json(json!({ "agents": agents, "default": caller.agent() })))
}

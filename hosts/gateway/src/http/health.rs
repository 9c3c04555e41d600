//! `/healthz` and `/v1/status`.

use serde_json::{Value, json};
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::state::HttpState;

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/healthz", get(health)).route("/v1/status", get(status))
}

/// Tells if all works, and no more: the request has no token.
async fn health(State(state): State<HttpState>) -> Json<Value> {
    let is_readable = state.store().first_event().await.is_ok();
    let is_ok = is_readable && state.problems().await.is_ok_and(|problems| problems.is_empty());
    Json(json!({ "status": if is_ok { "ok" } else { "degraded" } }))
}

async fn status(
    State(state): State<HttpState>,
    caller: Caller,
    query: Query,
) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let about = state.about();
    let problems = state.problems().await?;
    let counts = state.store().counts(caller.seen_by()).await?;
    let exhausted = state.store().exhausted_budgets(caller.seen_by()).await?;
    let mut status = json!({
        "status": if problems.is_empty() { "ok" } else { "degraded" },
        "version": about.version,
        "startedAt": state.started_at(),
        "person": { "name": caller.name(), "role": caller.role(), "agent": caller.agent() },
        "hasModel": about.agents.iter().any(|agent| caller.may_use(&agent.id) && agent.model.is_some()),
        "sessions": counts.sessions,
        "runs": { "running": counts.running, "waiting": counts.waiting },
        "queued": counts.queued,
        "outbox": counts.outbox,
        "exhaustedBudgets": exhausted,
    });
    if caller.is_manager() {
        status["problems"] = problems.into();
        status["lastCleanUp"] = json!(state.store().last_clean_up());
        status["wrongTokens"] = state.people().wrong_tokens().into();
    }
    Ok(Json(status))
}

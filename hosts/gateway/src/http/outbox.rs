//! `/v1/outbox`: what leaves, and what became of it.

use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{get, post};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::state::HttpState;
use crate::store::{DeliveryFilter, DeliveryState};

/// The deliveries of one page, if nothing else is asked for, and at most.
const PAGE: (u32, u32) = (50, 500);

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/outbox", get(list)).route("/v1/outbox/{id}/resend", post(resend))
}

/// Sends a delivery once more of which nobody knows whether it arrived: by a person alone, since it may arrive twice.
async fn resend(
    State(state): State<HttpState>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let Path(text) = path?;
    let found = match text.parse::<i64>() {
        Ok(id) => state.store().delivery(id).await?,
        Err(_) => None,
    };
    let is_seen = match found.as_ref().map(|delivery| &delivery.session) {
        None => false,
        Some(None) => caller.is_manager(),
        Some(Some(session)) => caller.may_see(state.store(), session).await?,
    };
    let Some(delivery) = found.filter(|_| is_seen) else {
        let text = format!("there is no delivery `{}`; GET /v1/outbox lists them", text.escape_debug());
        return Err(Problem::new(StatusCode::NOT_FOUND, text));
    };
    if delivery.state != DeliveryState::Unknown {
        let text = format!(
            "the delivery {} is `{}`: only one that is `unknown` is sent once more",
            delivery.id,
            delivery.state.name()
        );
        return Err(Problem::new(StatusCode::CONFLICT, text));
    }
    state.store().resend(delivery.id, caller.name()).await?;
    Ok((StatusCode::ACCEPTED, Json(json!(state.store().delivery(delivery.id).await?))))
}

async fn list(
    State(state): State<HttpState>,
    caller: Caller,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let limit = query.number("limit", 1, PAGE.1)?.unwrap_or(PAGE.0);
    let filter = DeliveryFilter {
        state: query.named("state")?,
        before: query.number("before", 1, i64::MAX)?,
        seen_by: caller.seen_by(),
        limit: limit + 1,
    };
    query.finish()?;
    let mut deliveries = state.store().list_deliveries(filter).await?;
    let has_more = deliveries.len() > limit as usize;
    deliveries.truncate(limit as usize);
    Ok(Json(json!({ "deliveries": deliveries, "hasMore": has_more })))
}

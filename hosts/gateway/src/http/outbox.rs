//! `/v1/outbox`: what leaves, and what became of it.

use serde_json::{Value, json};
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::state::HttpState;
use crate::store::DeliveryFilter;

/// The deliveries of one page, if nothing else is asked for, and at most.
const PAGE: (u32, u32) = (50, 500);

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/outbox", get(list))
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

//! `/v1/budgets`: what was used, and how much may be.

use serde_json::{Value, json};
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::get;
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use super::state::HttpState;
use crate::store::{BudgetAccount, BudgetFilter, BudgetKind};

/// The accounts of one page, if nothing else is asked for, and at most.
const PAGE: (u32, u32) = (50, 500);

/// The days of one answer, if nothing else is asked for, and at most: the use of days is kept for so long.
const DAYS: (u32, u32) = (30, 62);

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/budgets", get(list)).route("/v1/usage", get(usage))
}

/// The use of one account by days, the oldest first.
async fn usage(
    State(state): State<HttpState>,
    caller: Caller,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let days = query.number("days", 1, DAYS.1)?.unwrap_or(DAYS.0);
    let kind: Option<BudgetKind> = query.named("kind")?;
    let name = query.one("name")?;
    query.finish()?;
    // People other than the owner have an account of their own, and none of everything.
    let by_default = if caller.is_manager() { BudgetKind::Everything } else { BudgetKind::Person };
    let kind = kind.unwrap_or(by_default);
    let name = match (kind, name) {
        (BudgetKind::Everything, None) => String::new(),
        (BudgetKind::Person, None) => caller.name().to_owned(),
        (_, Some(name)) => name,
        (_, None) => {
            let text = format!("`name` is missing: the {} whose use it is", kind.name());
            return Err(Problem::new(StatusCode::BAD_REQUEST, text));
        }
    };
    let account = BudgetAccount::new(kind, name);
    let store = state.store();
    let Some(days) = store.usage_by_day(account, caller.seen_by(), days).await? else {
        let text = "there is no such account; GET /v1/budgets lists them";
        return Err(Problem::new(StatusCode::NOT_FOUND, text));
    };
    Ok(Json(json!({ "timezone": store.budgets().timezone, "days": days })))
}

async fn list(
    State(state): State<HttpState>,
    caller: Caller,
    mut query: Query,
) -> Result<Json<Value>, Problem> {
    let limit = query.number("limit", 1, PAGE.1)?.unwrap_or(PAGE.0);
    let filter = BudgetFilter {
        kind: query.named("kind")?,
        seen_by: caller.seen_by(),
        after: query.one("after")?.map(|after| account(&after)).transpose()?,
        limit: limit + 1,
    };
    query.finish()?;
    let store = state.store();
    let mut budgets = store.account_budgets(filter).await?;
    let has_more = budgets.len() > limit as usize;
    budgets.truncate(limit as usize);
    let mut answer = json!({ "timezone": store.budgets().timezone, "budgets": budgets, "hasMore": has_more });
    if has_more && let Some(last) = budgets.last() {
        answer["next"] = format!("{}/{}", last.account.kind.name(), last.account.name).into();
    }
    Ok(Json(answer))
}

/// Reads an account as `next` names it.
fn account(text: &str) -> Result<BudgetAccount, Problem> {
    let named = text.split_once('/').and_then(|(kind, name)| {
        let kind = BudgetKind::ALL.into_iter().find(|known| known.name() == kind)?;
        Some(BudgetAccount::new(kind, name))
    });
    named.ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, "the parameter `after` is the `next` of the page before")
    })
}

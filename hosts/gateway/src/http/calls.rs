//! `/v1/calls`: calls of tools of clients that wait for their results.

use serde_json::{Value, json};
use toolkit_serve::axum::extract::rejection::PathRejection;
use toolkit_serve::axum::extract::{Path, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::routing::{delete, get};
use toolkit_serve::axum::{Json, Router};
use toolkit_serve::{Problem, Query};

use super::caller::Caller;
use crate::Clients;
use crate::store::{ClientCall, Store};

/// The parts that these routes use.
#[derive(Clone)]
struct Calls {
    store: Store,
    clients: Clients,
}

pub(super) fn routes(store: Store, clients: Clients) -> Router {
    Router::new()
        .route("/v1/calls", get(list))
        .route("/v1/calls/{id}", delete(cancel))
        .with_state(Calls { store, clients })
}

async fn list(State(calls): State<Calls>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    query.finish()?;
    Ok(Json(json!({ "calls": seen(&calls, &caller).await? })))
}

/// Ends a call that waits, with a result that says so.
async fn cancel(
    State(calls): State<Calls>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let id = path?.0;
    let not_found = || {
        let text = format!("no call `{}` waits; GET /v1/calls lists those that do", id.escape_debug());
        Problem::new(StatusCode::NOT_FOUND, text)
    };
    let call = seen(&calls, &caller).await?.into_iter().find(|call| call.id == id).ok_or_else(not_found)?;
    if calls.clients.cancel(&call).await? { Ok(Json(json!({ "cancelled": true }))) } else { Err(not_found()) }
}

/// The calls of the tools of a person.
async fn seen(calls: &Calls, caller: &Caller) -> Result<Vec<ClientCall>, Problem> {
    Ok(calls.store.client_calls(caller.seen_by()).await?)
}

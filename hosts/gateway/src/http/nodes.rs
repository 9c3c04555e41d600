//! `/v1/nodes`: the devices of people.

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
use crate::Nodes;
use crate::nodes::Approval;

/// Returns the routes of nodes, for [`service_with`](super::service_with): `/v1/nodes`. Their sockets are those of
/// [`clients_and_nodes`](super::clients_and_nodes).
pub fn nodes(nodes: Nodes) -> Router {
    Router::new()
        .route("/v1/nodes", get(list))
        .route("/v1/nodes/approve", post(approve))
        .route("/v1/nodes/{id}", delete(revoke))
        .with_state(nodes)
}

/// All nodes for the owner, and their own for others, with the key of the gateway, which people compare with the one that a node prints.
async fn list(State(nodes): State<Nodes>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let listed = nodes.list(caller.seen_by()).await?;
    let key = nodes.public_key();
    let gateway = json!({ "key": key, "fingerprint": key.fingerprint() });
    Ok(Json(json!({ "nodes": listed, "gateway": gateway })))
}

/// An approval that is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The code that the node shows.
    code: String,
    /// The person to whom the node belongs; by default, the caller.
    person: Option<String>,
}

async fn approve(
    State(nodes): State<Nodes>,
    caller: Caller,
    Body(Wanted { code, person }): Body<Wanted>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let by = caller.name().to_owned();
    match nodes.approve(&code, person.unwrap_or_else(|| by.clone()), by).await? {
        Approval::Approved(node) => Ok(Json(json!(node))),
        Approval::Unknown => {
            let text = "no node with this code waits: look at the code that the node shows, or pair it again; a code counts for an hour";
            Err(Problem::new(StatusCode::NOT_FOUND, text))
        }
        Approval::TooMany(wait) => {
            let text = "too many codes were wrong lately; wait, and send a right one";
            Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, text).retry_after(wait))
        }
    }
}

/// Revokes a node. Its connection ends, and each call that waits for it, before the answer.
async fn revoke(
    State(nodes): State<Nodes>,
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let Path(id) = path?;
    let is_seen = nodes.list(caller.seen_by()).await?.iter().any(|node| node.record.id == id);
    // Carried out also if whoever asked for it has gone.
    let revoking = {
        let id = id.clone();
        async move { if is_seen { nodes.revoke(&id).await } else { Ok(false) } }
    };
    let ending = |_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the gateway is ending; try again later");
    if tokio::spawn(revoking).await.map_err(ending)?? {
        return Ok(StatusCode::NO_CONTENT);
    }
    let text = format!("there is no node `{}` to revoke; GET /v1/nodes lists them", id.escape_debug());
    Err(Problem::new(StatusCode::NOT_FOUND, text))
}

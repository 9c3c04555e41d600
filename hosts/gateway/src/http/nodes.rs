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
use crate::nodes::{ByCode, NodeStatus, Nodes};

/// Returns the routes of nodes, for [`service_with`](super::service_with): `/v1/nodes`. Their sockets are those of
/// [`clients_and_nodes`](super::clients_and_nodes).
pub fn nodes(nodes: Nodes) -> Router {
    Router::new()
        .route("/v1/nodes", get(list))
        .route("/v1/nodes/pending", post(pending))
        .route("/v1/nodes/approve", post(approve))
        .route("/v1/nodes/{id}", delete(revoke))
        .with_state(nodes)
}

/// All nodes for the owner, and their own for others, with the key of the gateway, which people compare with the one that a node prints.
async fn list(State(nodes): State<Nodes>, caller: Caller, query: Query) -> Result<Json<Value>, Problem> {
    query.finish()?;
    let listed = nodes.list(caller.seen_by()).await?;
    Ok(Json(json!({ "nodes": listed, "gateway": gateway(&nodes) })))
}

fn gateway(nodes: &Nodes) -> Value {
    let key = nodes.public_key();
    json!({ "key": key, "fingerprint": key.fingerprint() })
}

/// A node that is looked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sought {
    /// The code that the node shows.
    code: String,
}

/// The node that shows a code, with the key of the gateway: a person compares both before the approval.
async fn pending(
    State(nodes): State<Nodes>,
    caller: Caller,
    Body(Sought { code }): Body<Sought>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let node = node_of(nodes.waiting(&code, caller.0.token()).await?)?;
    Ok(Json(json!({ "node": node, "gateway": gateway(&nodes) })))
}

/// An approval that is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The code that the node shows.
    code: String,
    /// The fingerprint of the node's key, as the person has seen it.
    fingerprint: String,
    /// The person to whom the node belongs; by default, the caller.
    person: Option<String>,
}

async fn approve(
    State(nodes): State<Nodes>,
    caller: Caller,
    Body(Wanted { code, fingerprint, person }): Body<Wanted>,
) -> Result<Json<Value>, Problem> {
    caller.check_manager()?;
    let by = caller.name().to_owned();
    let person = person.unwrap_or_else(|| by.clone());
    let approved = nodes.approve((&code, fingerprint), person, (by, caller.0.token())).await?;
    Ok(Json(json!(node_of(approved)?)))
}

/// Returns the node that was found by its code.
fn node_of(found: ByCode) -> Result<Box<NodeStatus>, Problem> {
    match found {
        ByCode::Node(node) => Ok(node),
        ByCode::OtherKey(fingerprint) => {
            let text = format!(
                "the node was not approved: the key of the one that waits under this code has the fingerprint {fingerprint}, and not the one of the request; \
                 compare it with the one that the node shows"
            );
            Err(Problem::new(StatusCode::CONFLICT, text))
        }
        ByCode::Unknown => {
            let text = "no node with this code waits: look at the code that the node shows, or pair it again; a code counts for an hour";
            Err(Problem::new(StatusCode::NOT_FOUND, text))
        }
        ByCode::TooMany(wait) => {
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

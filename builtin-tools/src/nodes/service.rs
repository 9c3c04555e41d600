//! The service behind `nodes`.

use std::pin::Pin;

use serde_json::{Map, Value};
use toolkit::Caller;
use toolkit::prelude::*;

/// Future returned by a [`NodeService`].
pub type NodeAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send + 'a>>;

/// Knows the devices of callers that are connected, and calls what they serve.
///
/// Each method sees only nodes of the caller's person: another person's node does not exist for it.
pub trait NodeService: Send + Sync + 'static {
    /// Lists the nodes that are connected, by id.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the caller is in no session, or the nodes cannot be read.
    fn connected<'a>(&'a self, caller: &'a Caller) -> NodeAnswer<'a, Vec<NodeInfo>>;

    /// Calls what a node serves under the name of an action. Cancelled, or dropped, it tells the node to cancel.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if no such node is connected or it does not serve the action, `Unavailable` if the connection ends meanwhile, and the
    /// errors of the node.
    fn call<'a>(&'a self, ctx: &'a ToolContext, call: NodeCall) -> NodeAnswer<'a, ToolOutput>;
}

/// A call of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeCall {
    /// The id of the node.
    pub node_id: String,
    /// The action.
    pub action: String,
    /// The arguments of the action, as the node takes them.
    pub arguments: Map<String, Value>,
}

/// A node that is connected.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodeInfo {
    /// Its id.
    pub node_id: String,
    /// The name that it gave itself.
    pub name: String,
    /// The platform that it named.
    pub platform: String,
    /// The actions that it serves.
    pub actions: Vec<String>,
}

//! Calls of an attached client's tools that a host makes itself, beside toolboxes.

use super::call;
use super::server::Server;
use serde_json::{Map, Value};
use std::sync::Arc;
use toolkit::{ToolContext, ToolError, ToolOutput};

/// Calls tools of an attached client on behalf of a tool of the host, which has checked the arguments and asked for approval. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AttachedCalls(Arc<Server>);

impl AttachedCalls {
    pub(super) fn new(server: &Arc<Server>) -> Self {
        Self(Arc::clone(server))
    }

    /// Calls a tool by the name that the client gives it. Progress goes to the context. If the context is cancelled, or the future is dropped,
    /// the client is told to cancel. There is no time limit besides that of the call of the context.
    ///
    /// # Errors
    ///
    /// Returns the error of the tool, `Unavailable` if the connection has ended, and `Aborted` if the context is cancelled.
    pub async fn call(
        &self,
        context: &ToolContext,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolOutput, ToolError> {
        call::call_by_name(&self.0, context, tool, arguments).await
    }
}

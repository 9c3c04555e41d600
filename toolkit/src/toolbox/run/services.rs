//! Creates services before the first function that takes them.

use crate::service::{ServiceHost, ensure, is_wanting};
use crate::tool::Tool;
use crate::tool::context::ToolContext;
use crate::toolbox::Scope;
use std::sync::Arc;
use toolkit_core::error::ToolError;

/// Returns true if the function needs a service that is not created yet.
pub(super) fn are_wanting(scope: &Scope, tool: &Tool, context: &ToolContext) -> bool {
    scope.toolkit.makes_services && is_wanting(tool.service_defs(), context.services())
}

/// Creates the services.
pub(super) async fn make(context: &ToolContext) -> Result<(), ToolError> {
    let scope = context.scope();
    let host: Arc<dyn ServiceHost> = scope.toolkit.clone();
    ensure(context.tool().service_defs(), context.services(), &host, &scope.caller).await
}

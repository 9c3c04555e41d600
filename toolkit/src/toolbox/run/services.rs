//! Services that are made before the first function that takes them.

use crate::context::ToolContext;
use crate::error::ToolError;
use crate::service::{ensure, is_wanting};

/// Whether the function needs a service that is yet to be made.
pub(super) fn are_wanting(context: &ToolContext) -> bool {
    context.scope().toolkit.makes_services && is_wanting(context.tool().service_defs(), context.services())
}

/// Makes them.
pub(super) async fn make(context: &ToolContext) -> Result<(), ToolError> {
    let scope = context.scope();
    ensure(context.tool().service_defs(), context.services(), &scope.toolkit, &scope.caller).await
}

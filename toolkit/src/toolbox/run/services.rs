//! Services that are made before the first function that takes them.

use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::service::{ensure, is_wanting};
use crate::tool::Waiting;
use crate::tool_def::BoxFuture;

/// Whether the function needs a service that is yet to be made.
pub(super) fn are_wanting(context: &ToolContext) -> bool {
    context.scope().toolkit.makes_services && is_wanting(context.tool().service_defs(), context.services())
}

async fn made(context: &ToolContext) -> Result<(), ToolError> {
    let scope = context.scope();
    ensure(context.tool().service_defs(), context.services(), &scope.toolkit, &scope.caller).await
}

/// The function, after its services are made.
pub(super) fn first<'a>(
    context: &'a ToolContext,
    function: Waiting<'a>,
    mut arguments: Arguments,
) -> BoxFuture<'a> {
    Box::pin(async move {
        made(context).await?;
        function.start(context, &mut arguments)?.await
    })
}

/// The same, of one that begins when it is first polled.
pub(super) fn before<'a>(context: &'a ToolContext, function: BoxFuture<'a>) -> BoxFuture<'a> {
    if !are_wanting(context) {
        return function;
    }
    Box::pin(async move {
        made(context).await?;
        function.await
    })
}

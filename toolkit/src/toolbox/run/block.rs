//! Runs functions that are not async.

use super::Outcome;
use super::turn::Lent;
use crate::tool::context::ToolContext;
use crate::tool::def::BoxFuture;
use std::future::poll_fn;
use std::pin::Pin;
use tokio::runtime::Handle;
use toolkit_core::arguments::Arguments;
use toolkit_core::error::{ToolError, ToolErrorKind};
use toolkit_core::guard::{guard, panicked};

/// Runs a blocking function on tokio's blocking pool. If the call is cancelled, the function is notified and left to
/// end by itself.
pub(super) fn block(
    context: &ToolContext,
    function: fn(&ToolContext, &mut Arguments) -> Outcome,
    mut arguments: Arguments,
    place: Option<Lent>,
) -> BoxFuture<'static> {
    let context = context.clone();
    if let Some(bound) = context.tool().bound_arguments() {
        arguments.extend(bound);
    }
    Box::pin(async move {
        let Ok(runtime) = Handle::try_current() else {
            return Err(ToolError::unavailable(
                "a tool that is not an `async fn` needs a tokio runtime, and none is running here",
            ));
        };
        let name = context.tool_name().to_owned();
        // Dropping this future notifies the function, which can check for it; nothing else can stop it.
        let _told = context.cancellation_token().clone().drop_guard();
        let mut task = runtime.spawn_blocking(move || {
            let _place = place;
            // The call may have been cancelled while it waited for a thread.
            context.check_cancelled()?;
            guard(context.tool_name(), || function(&context, &mut arguments))?
        });
        poll_fn(|waker| Pin::new(&mut task).poll(waker)).await.unwrap_or_else(|error| {
            Err(match error.try_into_panic() {
                Ok(panic) => panicked(&name, panic),
                Err(_) => ToolError::new(ToolErrorKind::Interrupted, "the host is shutting down"),
            })
        })
    })
}

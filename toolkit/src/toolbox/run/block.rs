//! A function that is no `async fn`.

use super::Outcome;
use super::turn::Lent;
use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::error::{ToolError, ToolErrorKind};
use crate::guard::{guard, panicked};
use crate::tool_def::BoxFuture;
use std::future::poll_fn;
use std::pin::Pin;
use tokio::runtime::Handle;

/// Runs a blocking function on the pool for such. Cancelled, it is told and left to end by itself.
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
                "a tool that is no `async fn` runs on tokio's blocking pool, and there is no tokio runtime here",
            ));
        };
        let name = context.tool_name().to_owned();
        // Whoever drops this future tells the function: it can ask, nothing else can stop it.
        let _told = context.cancellation_token().clone().drop_guard();
        let mut task = runtime.spawn_blocking(move || {
            let _place = place;
            // It may have waited for a thread until nobody wanted it any more.
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

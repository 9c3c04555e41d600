//! Running a tool's function: to its end, its cancellation or its panic, with one outcome.

use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::error::{ToolError, ToolErrorKind};
use crate::output::ToolOutput;
use crate::tool::Tool;
use crate::tool_def::{BoxFuture, Run};
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use tokio::runtime::Handle;

pub(super) async fn run(
    tool: &Tool,
    context: ToolContext,
    mut arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    if context.is_cancelled() {
        return Err(aborted());
    }
    match tool.def().run {
        Run::Async(start) => {
            let started = catch_unwind(AssertUnwindSafe(|| start(&context, &mut arguments)));
            let future = started.map_err(|panic| panicked(tool, &*panic))??;
            drive(tool, &context, future).await
        }
        Run::Blocking(function) => block(tool, context, function, arguments).await,
    }
}

/// Polls the function. Nothing is set up for cancellation until it has to wait.
async fn drive(
    tool: &Tool,
    context: &ToolContext,
    mut future: BoxFuture<'_>,
) -> Result<ToolOutput, ToolError> {
    let mut cancelled = None;
    poll_fn(|task| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(task)));
        match polled {
            Err(panic) => return Poll::Ready(Err(panicked(tool, &*panic))),
            Ok(Poll::Ready(outcome)) => return Poll::Ready(outcome),
            Ok(Poll::Pending) => {}
        }
        let cancelled = cancelled.get_or_insert_with(|| Box::pin(context.cancellation_token().cancelled()));
        cancelled.as_mut().poll(task).map(|()| Err(aborted()))
    })
    .await
}

/// Runs a blocking function on the pool for such. Cancelled, it is told and left to end by itself.
async fn block(
    tool: &Tool,
    context: ToolContext,
    function: fn(&ToolContext, &mut Arguments) -> Result<ToolOutput, ToolError>,
    mut arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    let Ok(runtime) = Handle::try_current() else {
        return Err(ToolError::unavailable(
            "a tool that is no `async fn` runs on tokio's blocking pool, and there is no tokio runtime here",
        ));
    };
    // Whoever drops this call cancels it: the function can ask, nothing else can stop it.
    let token = context.cancellation_token().child_token();
    let context = context.with_token(token.clone());
    let guard = token.clone().drop_guard();
    let mut task = runtime.spawn_blocking(move || function(&context, &mut arguments));
    let mut cancelled = Box::pin(token.cancelled());
    let outcome = poll_fn(|waker| match Pin::new(&mut task).poll(waker) {
        Poll::Ready(Ok(outcome)) => Poll::Ready(outcome),
        Poll::Ready(Err(error)) => Poll::Ready(Err(match error.try_into_panic() {
            Ok(panic) => panicked(tool, &*panic),
            Err(_) => ToolError::new(ToolErrorKind::Interrupted, "the host is shutting down"),
        })),
        Poll::Pending => cancelled.as_mut().poll(waker).map(|()| Err(aborted())),
    })
    .await;
    guard.disarm();
    outcome
}

fn aborted() -> ToolError {
    ToolError::aborted("the call was cancelled")
}

fn panicked(tool: &Tool, panic: &(dyn Any + Send)) -> ToolError {
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    ToolError::new(
        ToolErrorKind::Panicked,
        format!(
            "the tool `{}` stopped on an internal error ({message}); calling it again the same way will not help",
            tool.name()
        ),
    )
}

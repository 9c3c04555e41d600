//! Running a tool's function: to its end, its cancellation or its panic, with one outcome.

use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::error::{ToolError, ToolErrorKind};
use crate::guard::{guard, panicked};
use crate::output::ToolOutput;
use crate::tool::Tool;
use crate::tool_def::{BoxFuture, Run};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use tokio_util::sync::WaitForCancellationFuture;

/// A call that is ready to run.
pub(super) struct Prepared {
    pub(super) tool: Tool,
    pub(super) context: ToolContext,
    pub(super) arguments: Arguments,
}

impl Prepared {
    pub(super) async fn run(self) -> Result<ToolOutput, ToolError> {
        let Self { tool, context, mut arguments } = self;
        if context.is_cancelled() {
            return Err(aborted());
        }
        match tool.run() {
            Run::Async(start) => {
                let context = EndsWithCall(context);
                let mut running = Running::begin(&tool, &context.0, &mut arguments, start)?;
                poll_fn(|task| running.poll(task)).await
            }
            Run::Blocking(function) => block(tool, context, function, arguments).await,
        }
    }
}

/// Tells what the function left running, if it asked for a token, that the call is over.
struct EndsWithCall(ToolContext);

impl Drop for EndsWithCall {
    fn drop(&mut self) {
        self.0.end();
    }
}

type Start = for<'a> fn(&'a ToolContext, &mut Arguments) -> Result<BoxFuture<'a>, ToolError>;

/// A function's future. Nothing is set up for cancellation until it has to wait.
struct Running<'a> {
    tool: &'a Tool,
    context: &'a ToolContext,
    future: Option<BoxFuture<'a>>,
    cancelled: Option<Pin<Box<WaitForCancellationFuture<'a>>>>,
}

impl<'a> Running<'a> {
    fn begin(
        tool: &'a Tool,
        context: &'a ToolContext,
        arguments: &mut Arguments,
        start: Start,
    ) -> Result<Self, ToolError> {
        let future = guard(tool.name(), || start(context, arguments))??;
        Ok(Self { tool, context, future: Some(future), cancelled: None })
    }

    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<ToolOutput, ToolError>> {
        let Some(future) = &mut self.future else { return Poll::Pending };
        let outcome = match guard(self.tool.name(), || future.as_mut().poll(task)) {
            Err(panicked) => Err(panicked),
            Ok(Poll::Ready(outcome)) => outcome,
            Ok(Poll::Pending) => {
                let token = self.context.call_token();
                let cancelled = self.cancelled.get_or_insert_with(|| Box::pin(token.cancelled()));
                if cancelled.as_mut().poll(task).is_pending() {
                    return Poll::Pending;
                }
                Err(aborted())
            }
        };
        self.drop_future();
        Poll::Ready(outcome)
    }

    /// What the function holds may panic when it is dropped. The outcome stands all the same.
    fn drop_future(&mut self) {
        let future = self.future.take();
        let _ = guard(self.tool.name(), || drop(future));
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.drop_future();
    }
}

/// Runs a blocking function on the pool for such. Cancelled, it is told and left to end by itself.
fn block(
    tool: Tool,
    context: ToolContext,
    function: fn(&ToolContext, &mut Arguments) -> Result<ToolOutput, ToolError>,
    mut arguments: Arguments,
) -> Pin<Box<dyn Future<Output = Result<ToolOutput, ToolError>> + Send>> {
    Box::pin(async move {
        let Ok(runtime) = Handle::try_current() else {
            return Err(ToolError::unavailable(
                "a tool that is no `async fn` runs on tokio's blocking pool, and there is no tokio runtime here",
            ));
        };
        let call_token = context.call_token().clone();
        // Whoever drops this call cancels it: the function can ask, nothing else can stop it.
        let _told = context.cancellation_token().clone().drop_guard();
        let mut task = runtime.spawn_blocking(move || {
            // It may have waited for a thread until nobody wanted it any more.
            context.check_cancelled()?;
            guard(context.tool_name(), || function(&context, &mut arguments))?
        });
        let mut cancelled = Box::pin(call_token.cancelled());
        poll_fn(|waker| match Pin::new(&mut task).poll(waker) {
            Poll::Ready(Ok(outcome)) => Poll::Ready(outcome),
            Poll::Ready(Err(error)) => Poll::Ready(Err(match error.try_into_panic() {
                Ok(panic) => panicked(tool.name(), panic),
                Err(_) => ToolError::new(ToolErrorKind::Interrupted, "the host is shutting down"),
            })),
            Poll::Pending => cancelled.as_mut().poll(waker).map(|()| Err(aborted())),
        })
        .await
    })
}

fn aborted() -> ToolError {
    ToolError::aborted("the call was cancelled")
}

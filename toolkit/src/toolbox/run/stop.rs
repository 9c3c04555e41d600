//! Stops a call before its function ends: on cancellation, or at its time limit.

use super::Running;
use crate::timer::timer;
use crate::tool::Runs;
use crate::tool::context::ToolContext;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use toolkit_core::error::{ToolError, ToolErrorKind};

impl Running<'_> {
    /// Returns ready if the call has to stop before its function ends.
    pub(super) fn poll_stops(&mut self, task: &mut Context<'_>) -> Poll<ToolError> {
        match self.poll_cancelled(task) {
            Poll::Pending => self.poll_clock(task),
            stopped @ Poll::Ready(_) => stopped,
        }
    }

    pub(super) fn poll_cancelled(&mut self, task: &mut Context<'_>) -> Poll<ToolError> {
        let context = self.context;
        let waits = self.waits.get_or_insert_default();
        let end = context.scope().toolkit.lifecycle.closing();
        let closing = waits.closing.get_or_insert_with(|| Box::pin(end.cancelled()));
        if closing.as_mut().poll(task).is_ready() {
            return Poll::Ready(ToolError::aborted(CLOSING));
        }
        let Some(token) = context.call_token() else { return Poll::Pending };
        let cancelled = waits.cancelled.get_or_insert_with(|| Box::pin(token.cancelled()));
        cancelled.as_mut().poll(task).map(|()| aborted())
    }

    fn poll_clock(&mut self, task: &mut Context<'_>) -> Poll<ToolError> {
        let context = self.context;
        let settings = &context.scope().toolkit.settings;
        let limit = self.start.timeout.or(context.tool().timeout()).unwrap_or(settings.timeout);
        let waits = self.waits.get_or_insert_default();
        let since = *waits.since.get_or_insert_with(Instant::now);
        let (stopped_for, stands) = match context.live_if_made() {
            Some(live) => live.stopped(task.waker()),
            None => (Duration::ZERO, false),
        };
        let deadline = limit.checked_add(stopped_for).and_then(|limit| since.checked_add(limit));
        let Some(deadline) = deadline.filter(|_| !stands) else {
            waits.timer = None;
            return Poll::Pending;
        };
        if waits.timer.is_none() {
            waits.timer = timer(deadline);
        }
        let Some(timer) = &mut waits.timer else { return Poll::Pending };
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(task).map(|()| timed_out(context, limit))
    }
}

/// The reason of calls that the end of the toolkit prevents or ends.
pub(in crate::toolbox) const CLOSING: &str = "the program is shutting down";

pub(super) fn aborted() -> ToolError {
    ToolError::aborted("the call was cancelled")
}

fn timed_out(context: &ToolContext, limit: Duration) -> ToolError {
    let what = match context.tool().run() {
        Runs::Waiting(_) => "was stopped",
        Runs::Blocking(_) => "was told to stop",
    };
    ToolError::new(
        ToolErrorKind::TimedOut,
        format!(
            "`{}` did not finish within {limit:?} and {what}; its effects so far remain. Request less in one call",
            context.tool_name()
        ),
    )
}

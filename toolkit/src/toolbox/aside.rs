//! Waits of a function that hold nothing that other calls need.

use crate::live::Reason;
use crate::tool::context::ToolContext;
use futures_util::future::{Either, select};
use std::pin::pin;
use toolkit_core::error::ToolError;

impl ToolContext {
    /// Waits for a future that may take long because it depends on a person, another session or a remote process.
    ///
    /// Meanwhile the call holds nothing that other calls need: other calls of the session run, also those that change something; the
    /// place among the calls of the tool (`concurrency`) is free; and the call's clock stops, so that its time-out does not count the wait.
    /// This holds for the calls above a nested call, too. When the future is done, the call takes its place and its turn in the session
    /// again, behind the calls that came meanwhile, and then this method returns. [`ask`](Self::ask) and [`elicit`](Self::elicit) wait in
    /// the same way.
    ///
    /// A wait that is dropped before its end, as by a time limit of one's own, has the call take them again at its next `.await`; a function that
    /// blocks a thread has none, and lets its waits end. Of several waits at the same time, the first that ends has the call take them again.
    ///
    /// The future must only wait. Whatever it changes, it changes while other calls of the session run. After the wait, read again what
    /// those may have changed.
    ///
    /// ```
    /// use toolkit::prelude::*;
    /// use tokio::sync::Notify;
    ///
    /// /// Waits for the end of the deployment that runs.
    /// #[tool(read_only, timeout = "10s")]
    /// async fn await_deployment(ctx: &ToolContext, deployed: State<Notify>) -> Result<&'static str, ToolError> {
    ///     ctx.wait_aside(deployed.notified()).await?;
    ///     Ok("deployed")
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// `Aborted` when the call is cancelled or over, at once; the future is dropped.
    pub async fn wait_aside<T>(&self, future: impl Future<Output = T>) -> Result<T, ToolError> {
        self.check_cancelled()?;
        let away = self.live().leave(Reason::Aside);
        let output = self.unless_cancelled(future).await?;
        away.come_back().await;
        Ok(output)
    }

    /// Waits until the call is cancelled or over: a thread or a task that outlives the call would otherwise wait for hours.
    pub(super) async fn unless_cancelled<T>(&self, future: impl Future<Output = T>) -> Result<T, ToolError> {
        let cancelled = pin!(self.cancellation_token().cancelled());
        match select(pin!(future), cancelled).await {
            Either::Left((output, _)) => Ok(output),
            Either::Right(_) => Err(ToolError::aborted("the call was cancelled")),
        }
    }
}

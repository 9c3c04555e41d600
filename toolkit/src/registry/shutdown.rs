//! Shuts a toolkit down.

use super::{Builder, Toolkit};
use crate::lifecycle::{SessionHook, shutdown_hook};
use crate::named_hook::Named;
use futures_util::future::BoxFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The result of [`Toolkit::shutdown`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// The number of calls that had not ended after half of the time. Their futures belong to the host, which can drop them.
    pub calls: usize,
    /// The names of shutdown hooks, and the types of services, that had not ended at the deadline, sorted.
    pub hooks: Vec<String>,
}

impl ShutdownReport {
    /// Returns true if everything ended before the deadline.
    pub fn is_complete(&self) -> bool {
        self.calls == 0 && self.hooks.is_empty()
    }
}

impl Builder {
    /// Adds a function that gets the id of each session that ends: when a host [ends](Toolkit::end_session) it, when the toolkit is
    /// [shut down](Toolkit::shutdown), or when a session that was not used for long is removed since there are too many.
    ///
    /// Sessions without a name, which belong to one toolbox, are not reported. `name` is used in log messages. The function must not block.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use toolkit::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let (ended, sessions) = channel();
    /// let toolkit = Toolkit::empty().on_session_end("log", move |id| drop(ended.send(id.to_owned()))).build()?;
    /// let toolbox = toolkit.toolbox(&Caller::new().with_session("chat-1")).await;
    /// toolkit.end_session("chat-1");
    /// assert_eq!(sessions.try_iter().collect::<Vec<_>>(), ["chat-1"]);
    /// # drop(toolbox);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn on_session_end(
        mut self,
        name: impl Into<String>,
        hook: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let hook = Arc::new(hook) as Arc<SessionHook>;
        self.settings.end_hooks.session_end.push(Named { name: name.into().into(), hook });
        self
    }

    /// Adds a function that runs when the toolkit is [shut down](Toolkit::shutdown), after the last call: it closes a connection, or writes
    /// what is still to be written. `name` is used in the [report](ShutdownReport).
    #[must_use]
    pub fn on_shutdown<F: Future<Output = ()> + Send + 'static>(
        mut self,
        name: impl Into<String>,
        hook: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.settings.end_hooks.shutdown.push(Named { name: name.into().into(), hook: shutdown_hook(hook) });
        self
    }
}

impl Toolkit {
    /// Ends everything in an orderly way, within this time:
    ///
    /// 1. No call begins any more: the result of each is [`Unavailable`](crate::ToolErrorKind::Unavailable).
    /// 2. Running calls are cancelled, with their questions, and waited for, at most for half of the time.
    /// 3. All sessions end: the state that tools keep for them is dropped, and with it background jobs. Approvals that are
    ///    [kept](Builder::keep_session_approvals) beyond the process stay.
    /// 4. [Services](macro@crate::service) with a `close` function are closed, and the [hooks](Builder::on_shutdown) run, all at once.
    ///
    /// A later call of this method does the same again, without the hooks and without closing. It must run in the runtime in which the
    /// calls run.
    ///
    /// ```
    /// use std::time::Duration;
    /// use toolkit::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let toolkit = Toolkit::empty().build()?;
    /// let report = toolkit.shutdown(Duration::from_secs(5)).await;
    /// assert!(report.is_complete());
    /// # Ok(()) }
    /// ```
    pub async fn shutdown(&self, deadline: Duration) -> ShutdownReport {
        self.ended(deadline).await
    }

    /// Behind a pointer, and not `async`: the future is compiled in this crate, and not again in each crate that awaits it.
    fn ended(&self, deadline: Duration) -> BoxFuture<'_, ShutdownReport> {
        Box::pin(self.end(deadline))
    }

    async fn end(&self, deadline: Duration) -> ShutdownReport {
        let inner = &self.0;
        let (half, until) = {
            let now = Instant::now();
            (now.checked_add(deadline / 2), now.checked_add(deadline))
        };
        inner.lifecycle.close();
        within(half, inner.lifecycle.idle()).await;
        let calls = inner.lifecycle.waiting();
        inner.sessions.end_all();
        if !inner.lifecycle.closes_first() {
            return ShutdownReport { calls, hooks: Vec::new() };
        }
        let own = inner.settings.end_hooks.shutdown.iter();
        let mut closing: Vec<(String, Closing)> =
            own.map(|Named { name, hook }| (name.to_string(), hook())).collect();
        closing.extend(inner.services.closings());
        // Tasks, so that one that blocks or panics does not keep the others from ending.
        let tasks = closing.into_iter().map(|(name, closing)| (name, tokio::spawn(closing)));
        let mut hooks = Vec::new();
        for (name, mut task) in tasks.collect::<Vec<_>>() {
            match within(until, &mut task).await {
                Some(Ok(())) => {}
                Some(Err(_)) => {
                    tracing::error!(target: "toolkit", hook = name, "a shutdown hook stopped on an internal error");
                }
                None => {
                    task.abort();
                    hooks.push(name);
                }
            }
        }
        hooks.sort_unstable();
        ShutdownReport { calls, hooks }
    }
}

/// The work of a hook or a service that is closed.
type Closing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Waits for a future until a deadline, if there is one.
async fn within<F: Future>(until: Option<Instant>, future: F) -> Option<F::Output> {
    match until {
        Some(until) => timeout_at(until, future).await.ok(),
        None => Some(future.await),
    }
}

//! The end of a toolkit: no further calls, an orderly end of those that run, and hooks of the host.

use crate::named_hook::Named;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use toolkit_core::guard::guard;

/// A hook that runs when the toolkit is shut down.
pub(crate) type ShutdownHook = dyn Fn() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

/// A hook that gets the id of each session that ends.
pub(crate) type SessionHook = dyn Fn(&str) + Send + Sync;

/// A hook that removes old files, or anything else that is no longer needed.
pub(crate) type Sweeper = dyn Fn() + Send + Sync;

/// The hooks of a host for the end of sessions and of the toolkit.
#[derive(Clone, Default)]
pub(crate) struct EndHooks {
    pub(crate) shutdown: Vec<Named<ShutdownHook>>,
    pub(crate) session_end: Vec<Named<SessionHook>>,
    pub(crate) sweepers: Vec<Named<Sweeper>>,
}

impl EndHooks {
    /// Runs the hooks for the end of a session. A hook that panics does not keep the others from running.
    pub(crate) fn session_ended(&self, id: &str) {
        for Named { name, hook } in &self.session_end {
            if guard(name, || hook(id)).is_err() {
                tracing::error!(target: "toolkit", hook = &**name, "a hook for the end of a session stopped on an internal error");
            }
        }
    }

    /// Runs the sweepers.
    pub(crate) fn sweep(&self) {
        for Named { name, hook } in &self.sweepers {
            if guard(name, || hook()).is_err() {
                tracing::error!(target: "toolkit", hook = &**name, "a sweeper stopped on an internal error");
            }
        }
    }
}

impl fmt::Debug for EndHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shutdown, session_end, sweepers } = self;
        write!(f, "{} hooks", shutdown.len() + session_end.len() + sweepers.len())
    }
}

/// The state of a toolkit between its start and its end, and the calls that have to wait for something.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    closing: CancellationToken,
    /// True once `closing` is cancelled: read in each call, where the token's lock would cost time.
    is_closing: AtomicBool,
    waiting: AtomicUsize,
    idle: Notify,
    /// True once the hooks have been started.
    is_closed: Mutex<bool>,
}

impl Lifecycle {
    /// Becomes cancelled when the toolkit is shut down.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Returns true once the toolkit is shut down.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire)
    }

    /// Starts no further calls, and cancels those that wait.
    pub(crate) fn close(&self) {
        self.is_closing.store(true, Ordering::Release);
        self.closing.cancel();
    }

    /// Counts a call until the returned value is dropped. A call that never has to wait is not counted: it ends within one poll.
    pub(crate) fn enter(&self) -> InFlight<'_> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        InFlight(self)
    }

    /// Returns the number of calls that have to wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Acquire)
    }

    /// Waits until no call has to wait.
    pub(crate) async fn idle(&self) {
        loop {
            let mut notified = pin!(self.idle.notified());
            // Registered before the count is read, so that no notification is missed.
            notified.as_mut().enable();
            if self.waiting() == 0 {
                return;
            }
            notified.await;
        }
    }

    /// Returns true at the first call alone.
    pub(crate) fn closes_first(&self) -> bool {
        let mut is_closed = self.is_closed.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut *is_closed, true)
    }
}

/// A call that has to wait.
#[derive(Debug)]
pub(crate) struct InFlight<'a>(&'a Lifecycle);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.0.waiting.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

/// Creates a shutdown hook of a function.
pub(crate) fn shutdown_hook<F: Future<Output = ()> + Send + 'static>(
    hook: impl Fn() -> F + Send + Sync + 'static,
) -> Arc<ShutdownHook> {
    Arc::new(move || Box::pin(hook()))
}

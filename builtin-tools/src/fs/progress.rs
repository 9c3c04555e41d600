//! Progress of what takes long enough to be told.

use std::time::{Duration, Instant};
use toolkit::Progress;
use toolkit::prelude::*;

/// How long something takes before anything is told of it, and how long it is from one time to the next.
const EVERY: Duration = Duration::from_millis(500);

/// Tells those who watch how far a call got, past half a second, and twice a second at most.
pub(crate) struct Meter {
    ctx: ToolContext,
    told: Instant,
}

impl Meter {
    /// Begins to wait.
    pub(crate) fn new(ctx: &ToolContext) -> Self {
        Self { ctx: ctx.clone(), told: Instant::now() }
    }

    /// Tells it if it is time to.
    pub(crate) fn tell(&mut self, progress: impl FnOnce() -> Progress) {
        #[cfg(test)]
        units::pass();
        if self.told.elapsed() >= every() {
            self.told = Instant::now();
            self.ctx.progress(progress());
        }
    }
}

#[cfg(not(test))]
fn every() -> Duration {
    EVERY
}

#[cfg(test)]
fn every() -> Duration {
    if units::ARE_TOLD.load(std::sync::atomic::Ordering::SeqCst) { Duration::ZERO } else { EVERY }
}

/// The units of work between which a call can be stopped, for tests that count them.
#[cfg(test)]
pub(crate) mod units {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    type Hook = Arc<dyn Fn() + Send + Sync>;

    /// Whether each is told, as if all took long.
    pub(super) static ARE_TOLD: AtomicBool = AtomicBool::new(false);
    static HOOK: Mutex<Option<Hook>> = Mutex::new(None);
    /// What is set here holds for the whole process.
    static ALONE: Mutex<()> = Mutex::new(());

    pub(super) fn pass() {
        let hook = HOOK.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(hook) = hook {
            hook();
        }
    }

    /// Until it is dropped, each unit is told, and `hook` called for it.
    pub(crate) struct Watched {
        _alone: MutexGuard<'static, ()>,
    }

    pub(crate) fn watch(hook: impl Fn() + Send + Sync + 'static) -> Watched {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(hook));
        ARE_TOLD.store(true, Ordering::SeqCst);
        Watched { _alone: alone }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            ARE_TOLD.store(false, Ordering::SeqCst);
            *HOOK.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

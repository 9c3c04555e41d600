//! Progress reports of calls that take longer.

use std::time::{Duration, Instant};
use toolkit::events::Progress;
use toolkit::prelude::*;

/// Delay before the first report of progress, and interval between reports.
const EVERY: Duration = Duration::from_millis(500);

/// Reports the progress of a call after half a second, and at most twice a second.
pub(crate) struct Meter {
    ctx: ToolContext,
    told: Instant,
    every: Duration,
    /// Called for each unit of work that a test counts.
    #[cfg(test)]
    hook: Option<units::Hook>,
}

impl Meter {
    /// Begins to wait.
    pub(crate) fn new(ctx: &ToolContext) -> Self {
        let (ctx, told, every) = (ctx.clone(), Instant::now(), EVERY);
        #[cfg(test)]
        if let Some((every, hook)) = units::of(ctx.workspace_dir()) {
            return Self { ctx, told, every, hook: Some(hook) };
        }
        Self {
            ctx,
            told,
            every,
            #[cfg(test)]
            hook: None,
        }
    }

    /// Reports the progress if it is due.
    pub(crate) fn tell(&mut self, progress: impl FnOnce() -> Progress) {
        #[cfg(test)]
        if let Some(hook) = &self.hook {
            hook();
        }
        if self.told.elapsed() >= self.every {
            self.told = Instant::now();
            self.ctx.progress(progress());
        }
    }
}

/// The units of work between which a call can be stopped, for tests that count them.
#[cfg(test)]
pub(crate) mod units {
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
    use std::time::Duration;

    pub(super) type Hook = Arc<dyn Fn() + Send + Sync>;

    /// The watchers by the workspace of their calls, since tests run concurrently.
    static WATCHED: Mutex<Vec<(PathBuf, Duration, Hook)>> = Mutex::new(Vec::new());

    fn watched() -> MutexGuard<'static, Vec<(PathBuf, Duration, Hook)>> {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn of(workspace: &Path) -> Option<(Duration, Hook)> {
        let watched = watched();
        let found = watched.iter().find(|(path, ..)| path == workspace);
        found.map(|(_, every, hook)| (*every, Arc::clone(hook)))
    }

    /// Until it is dropped, calls in the workspace report each unit of work, and call `hook` for each.
    pub(crate) struct Watched(PathBuf);

    pub(crate) fn watch(
        workspace: &Path,
        every: Duration,
        hook: impl Fn() + Send + Sync + 'static,
    ) -> Watched {
        watched().push((workspace.to_owned(), every, Arc::new(hook)));
        Watched(workspace.to_owned())
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            watched().retain(|(path, ..)| *path != self.0);
        }
    }
}

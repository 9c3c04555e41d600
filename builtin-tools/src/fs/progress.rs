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
        if self.told.elapsed() >= EVERY {
            self.told = Instant::now();
            self.ctx.progress(progress());
        }
    }
}

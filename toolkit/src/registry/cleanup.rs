//! Removes old outputs, and what the host's sweepers remove, while a program runs.

use super::{Builder, Toolkit};
use crate::lifecycle::Sweeper;
use crate::named_hook::Named;
use crate::output_store::{EVERY, SweepReport};
use crate::temporary_names;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

impl Builder {
    /// Adds a function that removes old files, or anything else that is no longer needed; `name` is used in log messages. It
    /// runs with [`Toolkit::spawn_cleanup`], at once and then every hour, and with [`Toolkit::sweep`]. It may block.
    #[must_use]
    pub fn sweeper(mut self, name: impl Into<String>, sweeper: impl Fn() + Send + Sync + 'static) -> Self {
        let hook = Arc::new(sweeper) as Arc<Sweeper>;
        self.settings.end_hooks.sweepers.push(Named { name: name.into().into(), hook });
        self
    }
}

impl Toolkit {
    /// Removes saved outputs that are older than 7 days, now. Blocks while it reads their directory. Nothing else in
    /// the directory is touched, and no symbolic link is followed.
    pub fn sweep_outputs(&self) -> SweepReport {
        self.outputs().sweep(SystemTime::now())
    }

    /// Removes saved outputs that are older than 7 days and the temporary files of writes whose process was killed, and runs every
    /// [sweeper](Builder::sweeper), now. Blocks.
    pub fn sweep(&self) -> SweepReport {
        let swept = self.sweep_outputs();
        if let Some(data_dir) = self.outputs().data_dir() {
            temporary_names::remove_left(data_dir);
        }
        self.0.settings.end_hooks.sweep();
        swept
    }

    /// [Sweeps](Self::sweep) at once and then every hour, until the returned value is dropped.
    ///
    /// Without it, old outputs are removed when an output is saved and the last removal was at least an hour ago, and temporary files that
    /// are an hour old when their directory is written to.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    #[must_use = "it ends when it is dropped"]
    pub fn spawn_cleanup(&self) -> CleanupTask {
        CleanupTask(Handle::current().spawn(sweep_hourly(self.clone())))
    }
}

async fn sweep_hourly(toolkit: Toolkit) {
    let mut hours = interval(EVERY);
    hours.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        hours.tick().await;
        let toolkit = toolkit.clone();
        let swept = tokio::task::spawn_blocking(move || toolkit.sweep());
        if let Ok(swept) = swept.await {
            tracing::debug!(target: "toolkit", ?swept, "swept old outputs");
        }
    }
}

/// A guard that keeps the cleanup running until it is dropped: see [`Toolkit::spawn_cleanup`].
#[derive(Debug)]
pub struct CleanupTask(JoinHandle<()>);

impl Drop for CleanupTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

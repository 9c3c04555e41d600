//! Removes old outputs while a host runs.

use super::Toolkit;
use crate::output_store::{EVERY, OutputStore, SweepReport};
use std::time::SystemTime;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

impl Toolkit {
    /// Removes saved outputs that are older than 7 days, now. Blocks while it reads their directory. Nothing else in
    /// the directory is touched, and no symbolic link is followed.
    pub fn sweep_outputs(&self) -> SweepReport {
        self.outputs().sweep(SystemTime::now())
    }

    /// Removes saved outputs that are older than 7 days, at once and then every hour, until the returned value is
    /// dropped.
    ///
    /// Without it, old outputs are removed when an output is saved and the last removal was at least an hour ago.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    #[must_use = "it ends when it is dropped"]
    pub fn keep_house(&self) -> Housekeeping {
        let outputs = self.outputs().clone();
        Housekeeping(Handle::current().spawn(sweep_hourly(outputs)))
    }
}

async fn sweep_hourly(outputs: OutputStore) {
    let mut hours = interval(EVERY);
    hours.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        hours.tick().await;
        let outputs = outputs.clone();
        let swept = tokio::task::spawn_blocking(move || outputs.sweep(SystemTime::now()));
        if let Ok(swept) = swept.await {
            tracing::debug!(target: "toolkit", ?swept, "swept old outputs");
        }
    }
}

/// A guard that keeps the cleanup running until it is dropped: see [`Toolkit::keep_house`].
#[derive(Debug)]
pub struct Housekeeping(JoinHandle<()>);

impl Drop for Housekeeping {
    fn drop(&mut self) {
        self.0.abort();
    }
}

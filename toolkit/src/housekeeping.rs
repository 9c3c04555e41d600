//! Removing what is kept too long, while a host runs.

use crate::output_store::{EVERY, OutputStore, Swept};
use crate::registry::Toolkit;
use std::time::SystemTime;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

impl Toolkit {
    /// Removes whole outputs that are older than 7 days, now. Blocks while it looks through their directory. Nothing
    /// else in it is touched, and no symbolic link is followed.
    pub fn sweep_outputs(&self) -> Swept {
        self.outputs().sweep(SystemTime::now())
    }

    /// Removes whole outputs that are older than 7 days, at once and every hour, until the value is dropped.
    ///
    /// Without it they are removed when the first output after an hour is kept.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
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

/// Keeps house while it lives: see [`Toolkit::keep_house`].
#[derive(Debug)]
pub struct Housekeeping(JoinHandle<()>);

impl Drop for Housekeeping {
    fn drop(&mut self) {
        self.0.abort();
    }
}

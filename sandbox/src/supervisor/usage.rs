//! Resource usage of all processes of a job.

use std::time::{Duration, Instant};

use rustix::process::getpid;

use crate::{Limit, Limits};
use crate::{sys, tree};

/// Interval between measurements.
const PAUSE: Duration = Duration::from_millis(250);
/// Interval while at least half of the memory is in use.
const SHORT_PAUSE: Duration = Duration::from_millis(40);
/// Minimum interval between measurements, as a multiple of the duration of one.
const SHARE: u32 = 20;

/// Measures the resource usage of a job from time to time.
pub(super) struct Usage {
    limits: Limits,
    next: Instant,
}

impl Usage {
    /// Returns `None` if there is nothing to measure.
    pub(super) fn new(limits: Limits) -> Option<Self> {
        limits.are_watched().then(|| Self { limits, next: Instant::now() + PAUSE })
    }

    /// Returns the time until the next measurement.
    pub(super) fn wait(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Looks. Returns the limit that the job has gone beyond.
    pub(super) fn look(&mut self, init: Option<i32>) -> Option<Limit> {
        let begun = Instant::now();
        let own = getpid().as_raw_nonzero().get();
        let most =
            self.limits.processes.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut processes = Vec::new();
        // A job that creates processes without a pause creates them faster than they are counted.
        sys::run_before_others();
        tree::each_descendant(own, |pid| {
            if Some(pid) != init {
                processes.push(pid);
            }
            processes.len() <= most
        });
        sys::run_among_others();
        if processes.len() > most {
            return Some(Limit::Processes);
        }
        let is_more = |count: u64, limit: Option<u64>| limit.is_some_and(|limit| count > limit);
        let threads = || processes.iter().map(|&pid| tree::threads(pid)).sum();
        if self.limits.processes.is_some() && is_more(threads(), self.limits.processes.map(u64::from)) {
            return Some(Limit::Processes);
        }
        let mut pause = PAUSE;
        if let Some(limit) = self.limits.memory {
            let files = tree::files_in_memory(&processes);
            // Of a file that is mapped, the same memory is found in two ways.
            let sum = |exact: bool| {
                let own = if exact { tree::exact_memory } else { tree::private_memory };
                let own: u64 = processes.iter().map(|&pid| own(pid)).sum();
                let shared: u64 = processes.iter().map(|&pid| tree::shared_memory(pid, exact)).sum();
                own + shared.max(files)
            };
            let quick = sum(false);
            // Memory shared after a fork was counted for each process.
            let exact = || sum(true);
            if quick > limit && exact() > limit {
                return Some(Limit::Memory);
            }
            if quick > limit / 2 {
                pause = SHORT_PAUSE;
            }
        }
        self.next = Instant::now() + pause.max(begun.elapsed() * SHARE);
        None
    }
}

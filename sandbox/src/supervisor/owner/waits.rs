//! Requests that wait for the output to be closed, the processes that hold it, and the list of processes.

use std::time::{Duration, Instant};

use rustix::process::getpid;

use super::Owner;
use crate::Process;
use crate::pump::Pump;
use crate::tree::{self, Identity};
use crate::wire::{self, Writer, to_host};

/// A request that waits for the output to be closed.
pub(super) struct Wait {
    id: u64,
    pub(super) deadline: Instant,
    /// Time at which the holders are searched for again, if the output is not read here.
    pub(super) next: Instant,
    pause: Duration,
}

impl Wait {
    pub(super) fn new(id: u64, deadline: Instant) -> Self {
        Self { id, deadline, next: Instant::now(), pause: Duration::from_millis(1) }
    }
}

impl Owner {
    /// Returns true if the end of the output is detected by reading it.
    pub(super) fn sees_end(&self) -> bool {
        self.pump.is_some() && self.slave.is_none()
    }

    /// Answers the requests that wait for the output to be closed, if it is closed or their time is over.
    pub(super) fn answer_waits(&mut self) {
        let now = Instant::now();
        let mut waits = std::mem::take(&mut self.waits);
        waits.retain_mut(|wait| {
            let mut closed = self.empty || self.pump.as_ref().is_some_and(Pump::closed);
            let mut holders = Vec::new();
            if !closed && (now >= wait.deadline || (!self.sees_end() && now >= wait.next)) {
                holders = self.holders();
                closed = !self.sees_end() && holders.is_empty();
                wait.next = now + wait.pause;
                wait.pause = (wait.pause * 2).min(Duration::from_millis(100));
            }
            if !closed && now < wait.deadline {
                return true;
            }
            let message = Writer::new(to_host::REPLY).number(wait.id).flag(closed);
            self.say(wire::processes(message, &holders));
            false
        });
        self.waits = waits;
    }

    /// Returns the processes that have the output open: those of the job, or else other processes.
    pub(super) fn holders(&self) -> Vec<Process> {
        let own = getpid().as_raw_nonzero().get();
        let holds = |pid: &i32| tree::holds(*pid, &self.identity);
        let mut found: Vec<_> =
            tree::descendants(own).into_iter().filter(holds).filter_map(tree::describe).collect();
        if found.is_empty() && self.pump.is_some() && matches!(self.identity, Identity::Links(_)) {
            found =
                tree::everyone().filter(|&pid| pid != own).filter(holds).filter_map(tree::describe).collect();
        }
        found
    }

    /// All processes of the job that have not ended.
    pub(super) fn processes(&self) -> Vec<Process> {
        let own = getpid().as_raw_nonzero().get();
        tree::descendants(own)
            .into_iter()
            .filter(|&pid| Some(pid) != self.init && tree::alive(pid))
            .filter_map(tree::describe)
            .collect()
    }
}

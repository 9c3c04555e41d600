//! The end of a job's processes: first TERM, then KILL until none is left.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::Process;
use crate::{sys, tree};

/// Time after which callers are told of processes that do not end.
const STUBBORN: Duration = Duration::from_secs(3);

/// Time for the first process of a namespace to report which processes have ended.
const TELLING: Duration = Duration::from_millis(20);

/// Time between the first turns of killing.
const PAUSE: Duration = Duration::from_millis(2);

/// Maximum number of processes that are killed in one turn.
const MAX_TARGETS: usize = 100_000;

/// State of ending the tree.
pub(super) struct Ending {
    /// The first process of a namespace: killing it kills all within.
    init: Option<i32>,
    /// Time at which TERM is followed by KILL.
    pub(super) deadline: Instant,
    /// Start of the killing, and time of the next KILL.
    killing: Option<(Instant, Instant)>,
    /// True if no caller needs to know how the command ended.
    pub(super) at_once: bool,
    pause: Duration,
    /// The processes that were killed.
    seen: HashSet<i32>,
    pub(super) terminated: u32,
    pub(super) killed: u32,
    /// The questions that wait for the end.
    pub(super) waiting: Vec<u64>,
}

impl Ending {
    /// Sends TERM to all processes, if they are given time to end.
    pub(super) fn begin(init: Option<i32>, grace: Duration) -> Self {
        let mut ending = Self {
            init,
            deadline: Instant::now() + grace,
            killing: None,
            at_once: false,
            pause: PAUSE,
            seen: HashSet::new(),
            terminated: 0,
            killed: 0,
            waiting: Vec::new(),
        };
        if !grace.is_zero() {
            ending.terminate();
        }
        ending
    }

    /// The processes of the job.
    fn targets(&self) -> Vec<i32> {
        let mut all = tree::descendants(own());
        all.retain(|&pid| Some(pid) != self.init && tree::alive(pid));
        all
    }

    /// Sends TERM. Stopped processes are continued, since otherwise only KILL has an effect on them.
    pub(super) fn terminate(&mut self) {
        for pid in self.targets() {
            if tree::signal(pid, own(), &[Signal::TERM, Signal::CONT]) {
                self.terminated += 1;
            }
        }
    }

    /// Returns the time until the next action.
    pub(super) fn wait(&self) -> Duration {
        let next = self.killing.map_or(self.deadline, |(_, next)| next);
        next.saturating_duration_since(Instant::now())
    }

    /// Performs the due actions. Returns the remaining processes once, if some do not end.
    pub(super) fn turn(&mut self) -> Option<Vec<Process>> {
        let now = Instant::now();
        if now < self.deadline {
            return None;
        }
        let (since, next) = *self.killing.get_or_insert((now, now));
        if now < next {
            return None;
        }
        if since == now {
            // Otherwise a job with many processes leaves this one too little time to find those that it starts.
            sys::run_before_others();
        }
        let (mut targets, mut groups) = (Vec::new(), HashSet::new());
        // Each is killed as soon as it is found: otherwise processes may be created faster than they are found.
        tree::each_descendant(own(), |pid| {
            if Some(pid) != self.init && tree::alive(pid) {
                tree::kill(pid, own(), &mut groups);
                targets.push(pid);
            }
            targets.len() < MAX_TARGETS
        });
        if since == now {
            self.killed = u32::try_from(targets.len()).unwrap_or(u32::MAX);
        }
        // It reports how the command ended, and exits by itself when no process is left below it.
        if let Some(init) = self.init.and_then(Pid::from_raw)
            && (self.at_once || since.elapsed() > TELLING)
        {
            let _ = kill_process(init, Signal::KILL);
        }
        self.killing = Some((since, now + self.pause));
        let is_growing = targets.iter().any(|pid| !self.seen.contains(pid));
        self.seen.extend(&targets);
        self.pause = if is_growing { PAUSE } else { (self.pause * 2).min(Duration::from_millis(100)) };
        (since.elapsed() > STUBBORN && !self.waiting.is_empty())
            .then(|| targets.into_iter().filter_map(tree::describe).collect())
    }
}

fn own() -> i32 {
    getpid().as_raw_nonzero().get()
}

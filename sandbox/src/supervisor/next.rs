//! Supervisors for jobs that have not come yet.
//!
//! The slow steps of a start are performed before the job arrives: a fork, and the namespaces for a sandboxed job. The next job is
//! usually similar to an earlier one: so one supervisor waits for a job without namespaces, and one for a job with the namespaces of the
//! last sandboxed job, each from the first such job until there was none for a while.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::ready::lives;
use crate::socket;

/// Delay after a job before the next supervisor is started, so as not to slow down the job's own start.
const SOON: Duration = Duration::from_millis(3);
/// Time for which a waiting supervisor is kept without a job of its kind.
const KEPT: Duration = Duration::from_mins(1);

/// A supervisor that waits for its job.
pub(super) struct Waiting {
    pub(super) pid: i32,
    /// The socket on which the supervisor receives its job; it exits when this is closed.
    pub(super) jobs: OwnedFd,
}

impl Waiting {
    /// Gives the supervisor the socket of a job. Returns true if it lives to receive it.
    ///
    /// That its end is open does not say so: a process that it has just created has a copy of it.
    pub(super) fn give(&self, job: BorrowedFd<'_>) -> bool {
        Pid::from_raw(self.pid).is_some_and(lives) && socket::send(&self.jobs, &[0], &[job], true).is_ok()
    }
}

/// A kind of job that there was.
struct Kind {
    namespaces: i32,
    /// Time of the last job of this kind.
    since: Instant,
    waiting: Option<Waiting>,
}

/// The waiting supervisors: at most one without its own namespaces, and one with them.
#[derive(Default)]
pub(super) struct Next(Vec<Kind>);

impl Next {
    /// A job has come that takes these namespaces: takes the one that waits for it, if there is one. The next is likely to be such a job.
    pub(super) fn take(&mut self, namespaces: i32) -> Option<Waiting> {
        let kind = self.0.iter_mut().find(|kind| kind.namespaces == namespaces);
        let waiting = kind.and_then(|kind| kind.waiting.take());
        self.0.retain(|kind| (kind.namespaces == 0) != (namespaces == 0));
        self.0.push(Kind { namespaces, since: Instant::now(), waiting: None });
        waiting
    }

    /// Returns the time until [`turn`](Self::turn) has something to do.
    pub(super) fn due(&self) -> Duration {
        let since = self.0.iter().map(|kind| kind.since).max();
        let due = |kind: &Kind| match (&kind.waiting, since) {
            (None, Some(since)) => SOON.saturating_sub(since.elapsed()),
            _ => KEPT.saturating_sub(kind.since.elapsed()),
        };
        self.0.iter().map(due).min().unwrap_or(Duration::MAX)
    }

    /// Ends supervisors that have waited too long. Returns the namespaces for which a supervisor is due, to be added with
    /// [`put`](Self::put).
    pub(super) fn turn(&mut self) -> Option<i32> {
        self.0.retain(|kind| kind.since.elapsed() < KEPT);
        if self.0.iter().any(|kind| kind.since.elapsed() < SOON) {
            return None;
        }
        self.0.iter().find(|kind| kind.waiting.is_none()).map(|kind| kind.namespaces)
    }

    /// Adds a supervisor for these namespaces. If none could be created, the next job gets one on arrival, or the error.
    pub(super) fn put(&mut self, namespaces: i32, waiting: Option<Waiting>) {
        match self.0.iter_mut().find(|kind| kind.namespaces == namespaces) {
            Some(kind) if waiting.is_some() => kind.waiting = waiting,
            _ => self.0.retain(|kind| kind.namespaces != namespaces),
        }
    }

    /// A process has ended. If it was a supervisor that waits, none is added in its place before the next job of that kind, which
    /// gets one on arrival.
    pub(super) fn ended(&mut self, pid: i32) {
        self.0.retain(|kind| kind.waiting.as_ref().is_none_or(|waiting| waiting.pid != pid));
    }

    /// Lets all end.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

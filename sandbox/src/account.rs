//! Reports about a job: its end, its output, its remaining processes.

use std::time::Duration;

use crate::Limit;

/// The means that holds a job's processes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guarantee {
    /// A supervisor process owns the whole tree, daemons included, and ends it when the job is dropped and when the host dies, however
    /// that happens.
    Supervised,
    /// The host itself watches a process group: a process that leaves the group is found only while its parent lives, and if the host
    /// is killed, the job runs on. This is the case if [`init`](crate::init) was not called, and on systems other than Linux.
    ProcessGroup,
}

/// The end of a command's own process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The process exited with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// The signal's number.
        number: i32,
        /// True if it left a core file.
        core: bool,
    },
    /// The end is unknown: the supervisor was killed, and the job with it.
    Lost,
}

/// The end of a command's own process, and its resource usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// The end of the process.
    pub end: End,
    /// Elapsed time between start and end.
    pub duration: Duration,
    /// Processor time in its own code, together with that of the children it waited for.
    pub user: Duration,
    /// Processor time in the system, counted the same way.
    pub system: Duration,
    /// Peak resident memory, in bytes, of the process or one of those children, whichever is larger. 0 if it is unknown.
    pub peak_memory: u64,
}

impl Exit {
    /// Returns true if the process exited with code 0.
    pub fn success(&self) -> bool {
        self.end == End::Code(0)
    }

    /// Returns the exit code, if the process exited.
    pub fn code(&self) -> Option<i32> {
        match self.end {
            End::Code(code) => Some(code),
            _ => None,
        }
    }

    /// The signal that ended it, if one did.
    pub fn signal(&self) -> Option<i32> {
        match self.end {
            End::Signal { number, .. } => Some(number),
            _ => None,
        }
    }

    /// Returns an exit whose end is unknown.
    pub(crate) fn lost(duration: Duration) -> Self {
        Self { end: End::Lost, duration, user: Duration::ZERO, system: Duration::ZERO, peak_memory: 0 }
    }
}

/// Progress of a job. It is reported at most 20 times a second while only output arrives, and at once when the state changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Progress {
    /// Number of bytes of output so far. Always 0 if the output goes to [pipes](crate::Output::Pipes).
    pub bytes: u64,
    /// Line feeds in them.
    pub newlines: u64,
    /// Number of bytes written to the file. It is less than `bytes` only if writing failed; from then on nothing more is written, so
    /// the file holds the beginning of the output, and the job runs on.
    pub written: u64,
    /// The reason for which writing failed: the system's error number. `EFBIG` if the output exceeded its
    /// [limit](crate::Limits::with_output).
    pub write_error: Option<i32>,
    /// The exceeded limit, because of which the job is ended.
    pub exceeded: Option<Limit>,
    /// True if every process has closed the output, and all of it is in the file.
    pub closed: bool,
    /// True if the command's own process has ended.
    pub exited: bool,
    /// True if no process of the tree remains.
    pub gone: bool,
}

/// A process of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// Process id, as the host sees it.
    pub pid: u32,
    /// The id of its parent.
    pub parent: u32,
    /// The program with its arguments, at most 4096 bytes; the name in brackets for a process that no longer has arguments.
    pub command: String,
    /// State in the letters of `ps`: `R` runs, `S` sleeps, `D` waits for a device, `T` is stopped, `Z` has ended.
    pub state: char,
}

/// State of a job's output after waiting for it to be closed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Drained {
    /// No process holds the output any more, and all of it is in the file.
    Closed,
    /// These processes still hold the output. Empty if the holder is not a process of the job.
    Held(Vec<Process>),
}

/// Result of stopping a job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stopped {
    /// Number of processes that received TERM.
    pub terminated: u32,
    /// Number of processes that had to be killed with KILL.
    pub killed: u32,
    /// Remaining processes that even KILL does not end, since they hang in the system. They are sent KILL repeatedly.
    pub left: Vec<Process>,
}

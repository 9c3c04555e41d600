//! Resource limits of a job.

use std::fmt;

/// Resource limits of a job. A job that exceeds one of them is ended; [`Progress::exceeded`](crate::Progress::exceeded) is the exceeded
/// one. Only the limit of the size of a file is enforced by the kernel, on the program that writes it.
///
/// Processes and memory are limited by a control group, if the system permits creating one
/// ([`Strength::cgroup`](crate::Strength::cgroup)). In any case the supervisor adds up the usage of the job's processes, at least four
/// times a second; between two measurements a job can exceed the limit. In a sandbox with its own process ids, the kernel refuses more
/// processes: with a limit for the namespace (from Linux 6.14 on), or for the user of the namespace (from 5.14 on, not for root).
/// Without [`init`](crate::init), only the limit of the output is in effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    pub(crate) output: Option<u64>,
    pub(crate) processes: Option<u32>,
    pub(crate) memory: Option<u64>,
    pub(crate) file_size: Option<u64>,
}

impl Limits {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the bytes of output written to the [file](crate::Output::File), which then has that much of the beginning.
    #[must_use]
    pub fn with_output(mut self, bytes: u64) -> Self {
        self.output = Some(bytes);
        self
    }

    /// Limits the number of concurrent processes and threads.
    #[must_use]
    pub fn with_processes(mut self, count: u32) -> Self {
        self.processes = Some(count);
        self
    }

    /// Limits the memory of all processes together, in bytes: private memory, without mapped files, and files that
    /// are memory themselves: anonymous ones (`memfd_create`), those of a sandbox's own `/dev/shm`, `/tmp` and `/var/tmp` there, and open ones of the host's. In a
    /// control group the cache of the files that they use counts too, and is reclaimed first.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Limits the size of each file that the job writes to, in bytes (`RLIMIT_FSIZE`): a program that writes beyond it gets SIGXFSZ, by
    /// which it ends, or else the error `EFBIG`. The job cannot raise the limit. It has no effect without [`init`](crate::init).
    #[must_use]
    pub fn with_file_size(mut self, bytes: u64) -> Self {
        self.file_size = Some(bytes);
        self
    }

    /// Bytes of output.
    pub fn output(&self) -> Option<u64> {
        self.output
    }

    /// Returns the maximum number of concurrent processes and threads.
    pub fn processes(&self) -> Option<u32> {
        self.processes
    }

    /// Returns the maximum number of bytes of memory.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Returns the maximum size of a file, in bytes.
    pub fn file_size(&self) -> Option<u64> {
        self.file_size
    }

    /// Returns true if processes or memory are limited.
    pub(crate) fn are_watched(&self) -> bool {
        self.processes.is_some() || self.memory.is_some()
    }
}

/// A limit of [`Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Bytes of output.
    Output,
    /// Processes and threads.
    Processes,
    /// Bytes of memory.
    Memory,
}

impl Limit {
    const ALL: [Self; 3] = [Self::Output, Self::Processes, Self::Memory];

    /// Returns the name for metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Processes => "processes",
            Self::Memory => "memory",
        }
    }

    /// 0 means no limit.
    pub(crate) fn number(limit: Option<Self>) -> u8 {
        limit.map_or(0, |limit| limit as u8 + 1)
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

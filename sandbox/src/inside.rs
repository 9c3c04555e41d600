//! Containment of a command, set up between the fork and the program, in this order.
//!
//! 1. New namespaces ([`identity`]: the user keeps its number in them; [`loopback`]: all that there is of a network).
//! 2. Mounts ([`mounts`]): everything is read-only except the writable paths; hidden paths are covered.
//! 3. With its own process ids, a first process ([`init`](crate::supervisor::init)) that stays, and connects sockets ([`broker`]).
//! 4. No new privileges, Landlock ([`landlock`]), no capabilities ([`capabilities`]), filtered system calls ([`seccomp`]).
//!
//! A command that only reads gets the last step alone, with its own rules ([`reading`], [`reading_calls`]).

pub(crate) mod broker;
pub(crate) mod capabilities;
pub(crate) mod identity;
mod landlock;
pub(crate) mod loopback;
pub(crate) mod most;
pub(crate) mod mounts;
mod placeholder;
mod plan;
mod reading;
mod reading_calls;
pub(crate) mod seccomp;

pub(crate) use placeholder::is_placeholder;
pub(crate) use plan::namespaces;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::Mode;
use crate::failure::{Failure, Step};
use placeholder::Placeholder;
use reading::ReadingPlan;

/// Compiles the filters of system calls before a job waits for them.
pub(crate) fn prepare_filters() {
    seccomp::prepare();
    reading_calls::prepare();
}

/// A plan to contain one command, computed before the fork. Its paths contain no symbolic links.
pub(crate) struct Plan {
    namespaces: i32,
    mode: Mode,
    network: bool,
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    visible: Vec<PathBuf>,
    /// Covered by something empty.
    private: Vec<PathBuf>,
    tmp: Option<PathBuf>,
    /// Version of the interface, 0 without.
    landlock: u32,
    seccomp: bool,
    directory: PathBuf,
    placeholders: Vec<Placeholder>,
    /// The files that the command may use, if it only reads.
    reading: Option<ReadingPlan>,
}

impl Plan {
    /// Returns the namespaces in which to create the process (`CLONE_NEW…`).
    pub(crate) fn namespaces(&self) -> i32 {
        self.namespaces
    }

    /// Returns true if the first process stays as the init of a PID namespace.
    pub(crate) fn has_init(&self) -> bool {
        self.namespaces & libc::CLONE_NEWPID != 0
    }

    /// Returns true if the command's system calls are filtered.
    pub(crate) fn has_filter(&self) -> bool {
        self.seccomp
    }

    /// Restricts this process to abstract sockets of the processes that it starts. Returns true if the restriction is in effect.
    pub(crate) fn scope_abstract_sockets(&self) -> bool {
        !self.has_loopback() && landlock::scope_abstract_sockets(self.landlock)
    }

    /// Returns true if the command has a network of its own that contains only a loopback.
    fn has_loopback(&self) -> bool {
        self.namespaces & libc::CLONE_NEWNET != 0
    }

    /// The directory that the command starts in.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The last steps, in the process that becomes the command. Returns where the broker is to answer, if there `is_broker`.
    pub(crate) fn restrict(&self, is_broker: bool) -> Result<Option<OwnedFd>, Failure> {
        rustix::thread::set_no_new_privs(true).map_err(|error| Failure::new(Step::Capabilities, error))?;
        if let Some(reading) = &self.reading {
            reading.restrict(self.landlock)?;
            capabilities::keep_reading()?;
            let refuses_signals = ReadingPlan::filters_signals(self.landlock);
            return reading_calls::restrict(reading.network_tables, refuses_signals).map(|()| None);
        }
        if self.landlock > 0 {
            landlock::restrict(self)?;
        }
        capabilities::drop_all()?;
        if !self.seccomp {
            return Ok(None);
        }
        let local = if is_broker { seccomp::Local::Brokered } else { seccomp::Local::Pairs };
        seccomp::restrict(self.network || self.has_loopback(), local)
    }

    /// Removes the files created for the duration of the job.
    pub(crate) fn tidy(&self) {
        self.placeholders.iter().for_each(Placeholder::remove);
    }
}

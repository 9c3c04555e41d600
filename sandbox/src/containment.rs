//! The containment that is in effect for a command, for metadata and for the model.

mod explained;

use std::fmt;

use crate::Mode;

pub use explained::Explained;

/// A part of the sandbox: one restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// Only the writable paths can be changed.
    Files,
    /// Protected paths within writable ones cannot be changed.
    Protected,
    /// Hidden paths cannot be read.
    Hidden,
    /// `/tmp`, `/var/tmp` and `/run` are the command's own.
    PrivateTmp,
    /// The network is unreachable, including the machine's own services.
    Network,
    /// The command can connect only to sockets in the file system that it has created itself.
    Sockets,
    /// Other processes can be neither seen nor signalled, and no process can outlive the job.
    Processes,
    /// System calls that commands do not need, and that could extend their access, are refused.
    SystemCalls,
}

impl Part {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Files,
        Self::Protected,
        Self::Hidden,
        Self::PrivateTmp,
        Self::Network,
        Self::Sockets,
        Self::Processes,
        Self::SystemCalls,
    ];

    /// Returns the name for display and metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Protected => "protected paths",
            Self::Hidden => "hidden paths",
            Self::PrivateTmp => "private tmp",
            Self::Network => "network",
            Self::Sockets => "local sockets",
            Self::Processes => "processes",
            Self::SystemCalls => "system calls",
        }
    }

    pub(crate) fn number(self) -> u8 {
        Self::ALL
            .iter()
            .position(|&part| part == self)
            .and_then(|at| u8::try_from(at).ok())
            .unwrap_or(u8::MAX)
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The containment that is in effect for a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Containment {
    /// The files that the command may change; `None` without a sandbox.
    pub mode: Option<Mode>,
    /// The parts in effect.
    pub held: Vec<Part>,
    /// Requested parts that are not in effect, each with the reason.
    pub missing: Vec<(Part, String)>,
    /// Deviations from the description that do not weaken it, such as a writable path that does not exist.
    pub notes: Vec<String>,
    /// The paths that may be changed, as they were when the command started.
    pub writable: Vec<std::path::PathBuf>,
    /// The private directory for temporary files, by the path that the command sees: `TMPDIR`. That is `/tmp`, or, if the system has
    /// no private mounts, the directory of [`Sandbox::with_tmp`](crate::Sandbox::with_tmp) itself. `None` if there is none.
    pub tmp: Option<std::path::PathBuf>,
    /// True if the command has a loopback network of its own: the processes of the job reach each other at `127.0.0.1` and `::1`, and
    /// nothing else is reachable. If this is false with the network off, the command has no IP at all.
    pub loopback: bool,
}

impl Containment {
    /// Returns true if there was a sandbox, and every part of it is in effect.
    pub fn is_whole(&self) -> bool {
        self.mode.is_some() && self.missing.is_empty()
    }

    /// Returns true if this part is in effect.
    pub fn holds(&self, part: Part) -> bool {
        self.held.contains(&part)
    }
}

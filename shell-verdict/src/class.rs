//! Classes of commands by their effect.

use crate::situation::Decision;

/// The class of a command by its effect, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The command reads files, or nothing.
    ReadOnly,
    /// The command reads a git repository.
    GitRead,
    /// The effect of the command is unknown.
    Unknown,
    /// The command changes files.
    Write,
    /// The command changes a git repository.
    GitWrite,
    /// The command communicates with other machines.
    Network,
    /// The command runs a text as a program.
    Code,
    /// The command may destroy data irrecoverably, or disclose secrets.
    Dangerous,
    /// The command never runs.
    Forbidden,
}

impl Class {
    /// Returns the decision on a command of this class where nothing else decides.
    pub const fn decision(self) -> Decision {
        match self {
            Self::ReadOnly | Self::GitRead => Decision::Allow,
            Self::Forbidden => Decision::Deny,
            _ => Decision::Ask,
        }
    }

    /// Returns the name, such as `read-only`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::GitRead => "git-read",
            Self::Unknown => "unknown",
            Self::Write => "write",
            Self::GitWrite => "git-write",
            Self::Network => "network",
            Self::Code => "code",
            Self::Dangerous => "dangerous",
            Self::Forbidden => "forbidden",
        }
    }

    /// Returns the description, to follow "it".
    pub const fn words(self) -> &'static str {
        match self {
            Self::ReadOnly => "only reads",
            Self::GitRead => "only reads the repository",
            Self::Unknown => "is not known to only read",
            Self::Write => "changes files",
            Self::GitWrite => "changes the repository",
            Self::Network => "speaks with other machines",
            Self::Code => "runs a text as a program",
            Self::Dangerous => "can destroy data or reveal secrets",
            Self::Forbidden => "never runs here",
        }
    }
}

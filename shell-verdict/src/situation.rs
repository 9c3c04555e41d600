//! What has to be known to judge a command.

use crate::lookup::Programs;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// What becomes of a command; of several, the last here decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl Decision {
    /// `allow`, `ask` or `deny`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// A file's content or metadata, or the names in a directory, are read.
    Read,
    /// The names and metadata of all that is below a directory are read, through no link.
    ReadNames,
    /// The content of all that is below a directory is read; of a file, its own.
    ReadTree {
        /// Whether links below it are followed, wherever they lead.
        follows_links: bool,
    },
    /// It is written, made or removed, or something in it is.
    Write,
}

/// The shell that runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shell {
    /// bash.
    #[default]
    Bash,
    /// Another shell of the POSIX kind. What it would understand otherwise than bash is never proved to only read.
    Sh,
}

/// Where a command would run, and what is allowed there.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// The directory that it runs in, absolute.
    pub cwd: &'a Path,
    /// The directory whose files may be anybody's, programs and the configuration of programs among them. Absolute.
    pub workspace: &'a Path,
    /// All of the environment that it gets.
    pub env: &'a BTreeMap<String, String>,
    /// The programs that the shell will find.
    pub programs: &'a Programs,
    /// The shell.
    pub shell: Shell,
    /// What is decided of an access to a path. The path is absolute and without `..`; whether something is there, and where
    /// links lead, is for the caller to find out.
    pub decide: &'a dyn Fn(&Path, Access) -> Decision,
}

impl Situation<'_> {
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.env.get("HOME").filter(|home| home.starts_with('/')).map(PathBuf::from)
    }
}

impl fmt::Debug for Situation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("Situation")
            .field("cwd", &self.cwd)
            .field("workspace", &self.workspace)
            .field("programs", &self.programs)
            .field("shell", &self.shell)
            .finish_non_exhaustive()
    }
}

//! The situation in which a command is judged.

use crate::lookup::Programs;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The decision on a command; of several, the last here decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// The command runs.
    Allow,
    /// A person is asked.
    Ask,
    /// The command does not run.
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

/// The access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// A file's content or metadata, or the names in a directory, are read.
    Read,
    /// The names and metadata of all that is below a directory are read, through no link.
    ReadNames,
    /// The content of all that is below a directory is read; of a file, its own.
    ReadTree {
        /// True if links below it are followed, wherever they lead.
        follows_links: bool,
    },
    /// The content of the files that a search below a directory opens is read: a [`Search`] says which.
    Search,
    /// A git repository is read, by the directory that git keeps its own files in.
    Repository,
    /// The path, or something below it, is written, created or removed.
    Write,
}

/// The files below a directory that a search opens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Search {
    /// The rule by which files are left out.
    pub files: SearchedFiles,
    /// Globs of `rg -g`, in order; one that begins with `!` leaves files out.
    pub globs: Vec<String>,
}

/// The rule by which a search leaves files out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchedFiles {
    /// The files that ripgrep opens: no ignored ones.
    NotIgnored {
        /// Hidden files and directories are searched as well.
        hidden: bool,
    },
    /// The files that git tracks.
    Tracked,
    /// All whose names fit, as `grep -r` opens them. In these patterns `*` alone is special, and `?` in `include`.
    Named {
        /// The name of a file has to fit one of these, if there is one.
        include: Vec<String>,
        /// Files whose names fit one of these are left out.
        exclude: Vec<String>,
        /// The same of directories below the one that the search begins with.
        exclude_dir: Vec<String>,
    },
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

/// The decision on a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// As strict as the strictest of the files.
    pub decision: Decision,
    /// The files that it opens, each by the directory that was searched and its path there; `None` where they are too many, or cannot be told.
    pub files: Option<Vec<PathBuf>>,
}

/// The circumstances in which a command would run, and the permissions there.
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
    /// Decides on an access to a path. The path is absolute and without `..`; whether something is there, and where
    /// links lead, is for the caller to find out.
    pub decide: &'a dyn Fn(&Path, Access) -> Decision,
    /// Decides on a search below a directory, as strict as the strictest of the files that it opens. Without it a search
    /// counts as [`Access::ReadTree`].
    pub search: Option<&'a DecideSearch<'a>>,
}

/// Decides a search below a directory.
pub type DecideSearch<'a> = dyn Fn(&Path, &Search) -> Searched + 'a;

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

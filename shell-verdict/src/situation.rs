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
    /// The command needs approval.
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
    /// The names and metadata of everything below a directory are read, without following symlinks.
    ReadNames,
    /// The content of everything below a directory is read; for a file, its own.
    ReadTree {
        /// True if links below it are followed, wherever they lead.
        follows_links: bool,
    },
    /// The content of the files that a search below a directory opens is read: see [`Search`].
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
    /// Globs of `rg -g`, in order; one that begins with `!` excludes files.
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
    /// All files whose names match, as `grep -r` opens them. Only `*` is special in these patterns, and `?` in `include`.
    Named {
        /// The name of a file has to fit one of these, if there is one.
        include: Vec<String>,
        /// Files whose names match one of these are excluded.
        exclude: Vec<String>,
        /// The same for directories below the one in which the search begins.
        exclude_dir: Vec<String>,
    },
}

/// The shell that runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shell {
    /// bash.
    #[default]
    Bash,
    /// Another POSIX shell. Constructs that it would read differently from bash are never proved read-only.
    Sh,
}

/// The decision on a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Searched {
    /// The strictest decision of the files.
    pub decision: Decision,
    /// The files that the search opens, each by the searched directory and its path in it; `None` if there are too many, or they are
    /// unknown.
    pub files: Option<Vec<PathBuf>>,
}

/// The circumstances in which a command would run, and the permissions there.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// The directory that it runs in, absolute.
    pub cwd: &'a Path,
    /// The directory whose files are untrusted, including programs and their configuration. Absolute.
    pub workspace: &'a Path,
    /// All of the environment that it gets.
    pub env: &'a BTreeMap<String, String>,
    /// The programs that the shell will find.
    pub programs: &'a Programs,
    /// The shell.
    pub shell: Shell,
    /// Decides on an access to a path. The path is absolute and without `..`; the caller must check whether it exists, and resolve
    /// symlinks.
    pub decide: &'a dyn Fn(&Path, Access) -> Decision,
    /// Decides on a search below a directory, by the strictest decision of the files that it opens. Without it a search counts as
    /// [`Access::ReadTree`].
    pub search: Option<&'a DecideSearch<'a>>,
    /// True if the host contains a command that this verdict allows: the command can write nothing but a private temporary directory,
    /// create no socket, read no hidden path, execute no program of the workspace, and start from git only git itself, the programs of
    /// its exec-path and the shell. Then the configuration of a repository needs fewer checks, more programs are allowed, and those
    /// whose answer would be wrong in a containment need approval.
    pub contained: bool,
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
        // No test covers the text: it is for debugging only.
        // The environment may contain secrets.
        f.debug_struct("Situation")
            .field("cwd", &self.cwd)
            .field("workspace", &self.workspace)
            .field("programs", &self.programs)
            .field("shell", &self.shell)
            .field("contained", &self.contained)
            .finish_non_exhaustive()
    }
}

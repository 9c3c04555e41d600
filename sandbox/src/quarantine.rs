//! Files that a command must not leave behind.

use std::path::PathBuf;

/// Treatment of repositories in the directories of a [`Quarantine`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Repositories {
    /// Existing repositories are wholly protected, as by [`Sandbox::with_protected`](crate::Sandbox::with_protected). A new one stays if it
    /// makes git run nothing.
    #[default]
    Protected,
    /// Existing repositories can be written to, except for new hooks and configuration. A new one stays if it makes git run nothing.
    Watched,
    /// Repositories are left alone: the command is known to write to them.
    Open,
}

/// Files that a command must not leave behind, since they make other programs run something: they are moved away when the command has
/// ended, and again when no process of the job is left. The supervisor does this, so it also happens after the host was killed.
///
/// No system can refuse a name at any depth, however a file gets it. So the supervisor searches the directories before the command starts
/// and afterwards, and moves new files: into the store, or, if that is on another file system, into a new directory beside the file that
/// nobody can enter. [`Job::quarantined`](crate::Job::quarantined) returns the moved files. Files that another program creates at the same
/// time are moved as well, since the system does not record the creator of a file.
///
/// A pattern matches the last components of a path in lower case; with a final `/` it matches a directory, or anything else with its name.
/// `*` stands for any text within one component. With a `/` at its beginning a pattern matches all components of a path, and `**` stands for
/// any number of them. Case does not matter. Symlinks are not followed, and are moved like files.
///
/// A new git repository (`.git`, or a bare one of any name) stays if it makes git run nothing: it has no hooks except samples, its
/// configuration has only known harmless keys, and it refers to no other location.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quarantine {
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) names: Vec<String>,
    pub(crate) exceptions: Vec<String>,
    pub(crate) ruled: Vec<String>,
    pub(crate) ruled_exceptions: Vec<String>,
    pub(crate) tool_directories: Vec<String>,
    pub(crate) named: Vec<PathBuf>,
    pub(crate) repositories: Repositories,
    pub(crate) store: Option<PathBuf>,
}

impl Quarantine {
    /// Looks through these directories.
    pub fn new(directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { directories: directories.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Adds names of files to move.
    #[must_use]
    pub fn with_names(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.names.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Adds names of files to leave in place, even if they match another name.
    #[must_use]
    pub fn with_exceptions(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.exceptions.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Adds paths of files to move, each with the exceptions from it, which leave no other name in place.
    #[must_use]
    pub fn with_ruled(
        mut self,
        patterns: impl IntoIterator<Item = impl Into<String>>,
        exceptions: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.ruled.extend(patterns.into_iter().map(Into::into));
        self.ruled_exceptions.extend(exceptions.into_iter().map(Into::into));
        self
    }

    /// Adds names of directories with files installed by tools, such as packages. Within them only repositories are searched for.
    #[must_use]
    pub fn with_tool_directories(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tool_directories.extend(names.into_iter().map(Into::into));
        self
    }

    /// Leaves this path in place, with everything below it: the command was allowed to create it.
    #[must_use]
    pub fn with_named(mut self, path: impl Into<PathBuf>) -> Self {
        self.named.push(path.into());
        self
    }

    /// Sets the treatment of repositories.
    #[must_use]
    pub fn with_repositories(mut self, repositories: Repositories) -> Self {
        self.repositories = repositories;
        self
    }

    /// Sets the directory that files are moved to. It is created if it is missing, accessible only by its owner. It should be on the same
    /// file system.
    #[must_use]
    pub fn with_store(mut self, directory: impl Into<PathBuf>) -> Self {
        self.store = Some(directory.into());
        self
    }
}

/// A file that was moved away after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// The original path.
    pub from: PathBuf,
    /// The present path. `None` if the file could not be moved, and is still at the original path.
    pub to: Option<PathBuf>,
}

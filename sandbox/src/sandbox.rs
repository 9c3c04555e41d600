//! The description of a command's sandbox.

use std::path::{Path, PathBuf};

use crate::Quarantine;

/// The files that a command may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Mode {
    /// No files, except those in a private `/tmp`.
    #[default]
    ReadOnly,
    /// Files in the workspace and in the paths that are named writable.
    WorkspaceWrite,
    /// All that the user may; protected and hidden paths stay so.
    Full,
}

/// A description of a command's sandbox. Parts that the system cannot enforce are listed in [`Containment`](crate::Containment), or are
/// an error if the sandbox is [required](Self::required).
///
/// Paths are absolute. Symbolic links in them are resolved when the command starts. If one path lies within another, the deeper one
/// counts; for the same path, hidden takes precedence over protected, and protected over writable. A hidden directory is wholly hidden:
/// nothing within it can be made visible again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    pub(crate) mode: Mode,
    pub(crate) network: bool,
    pub(crate) workspace: PathBuf,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) protected: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) visible: Vec<PathBuf>,
    pub(crate) private_tmp: bool,
    pub(crate) tmp: Option<PathBuf>,
    pub(crate) required: bool,
    pub(crate) quarantine: Option<Quarantine>,
    pub(crate) reading: Option<Reading>,
}

/// The files that a command of [`Sandbox::reading`] may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    /// Files whose content can be read, and directories with all below them, except hidden paths.
    pub(crate) readable: Vec<PathBuf>,
    /// Programs, and directories of programs, that can be executed.
    pub(crate) executable: Vec<PathBuf>,
    /// True if the kernel's tables of network interfaces, routes and sockets can be queried.
    pub(crate) network_tables: bool,
}

impl Sandbox {
    /// A sandbox around `workspace`, without network, with a private `/tmp`.
    pub fn new(mode: Mode, workspace: impl Into<PathBuf>) -> Self {
        Self {
            mode,
            network: false,
            workspace: workspace.into(),
            writable: Vec::new(),
            protected: Vec::new(),
            hidden: Vec::new(),
            visible: Vec::new(),
            private_tmp: true,
            tmp: None,
            required: false,
            quarantine: None,
            reading: None,
        }
    }

    /// A sandbox for a command that only reads, in place: Landlock and a filter for system calls, without namespaces and mounts. So the
    /// command sees the processes, mounts, network interfaces and owners of the system, and its answers are those of a command without a
    /// sandbox.
    ///
    /// It can change no file, mode, time or attribute, create no socket, signal no process outside the job, and read the content of those
    /// files alone that are [readable](Self::with_readable) and not [hidden](Self::with_hidden). Names and metadata can be read
    /// everywhere. It can execute what is [executable](Self::with_executable). It can write to the directory of
    /// [`with_tmp`](Self::with_tmp) alone, at its own path. The sandbox is [required](Self::required).
    ///
    /// [`with_writable`](Self::with_writable), [`with_protected`](Self::with_protected), [`with_visible`](Self::with_visible) and
    /// [`with_quarantine`](Self::with_quarantine) have no effect.
    pub fn reading(workspace: impl Into<PathBuf>) -> Self {
        let mut sandbox = Self::new(Mode::ReadOnly, workspace).required(true);
        sandbox.reading = Some(Reading::default());
        sandbox
    }

    /// Lets a [reading](Self::reading) command read the content of this file, or of all files below this directory, except hidden ones.
    /// A missing path is left out.
    #[must_use]
    pub fn with_readable(mut self, path: impl Into<PathBuf>) -> Self {
        self.reading.get_or_insert_default().readable.push(path.into());
        self
    }

    /// Lets a [reading](Self::reading) command execute this program, or all programs below this directory, and read them. A missing path
    /// is left out.
    #[must_use]
    pub fn with_executable(mut self, path: impl Into<PathBuf>) -> Self {
        self.reading.get_or_insert_default().executable.push(path.into());
        self
    }

    /// Sets whether a [reading](Self::reading) command can query the kernel's tables of network interfaces, routes and sockets, for which
    /// programs such as `ip` and `ss` need a netlink socket. Nothing can be sent to another process or machine through it.
    #[must_use]
    pub fn with_network_tables(mut self, network_tables: bool) -> Self {
        self.reading.get_or_insert_default().network_tables = network_tables;
        self
    }

    /// Sets access to the network. Without it a command has its own network with only a loopback, in which the processes that it starts
    /// reach each other and nothing else. If the system does not support this (see
    /// [`Containment::loopback`](crate::Containment::loopback)), the command has only local sockets.
    #[must_use]
    pub fn with_network(mut self, network: bool) -> Self {
        self.network = network;
        self
    }

    /// Lets the command also write to this file or directory. A missing one is left out, and mentioned in the containment's notes. Has
    /// no effect in a read-only sandbox.
    #[must_use]
    pub fn with_writable(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }

    /// Protects this file or directory within a writable one from changes.
    ///
    /// If the path is missing, an empty directory that nobody can write to takes its place (or that of its first missing parent) until
    /// the job is gone, so that the command cannot create it. Directories between the writable one and this one cannot be renamed or
    /// removed, and files can be moved across their border only by copying (`mv` does, `rename` returns `EXDEV`).
    #[must_use]
    pub fn with_protected(mut self, path: impl Into<PathBuf>) -> Self {
        self.protected.push(path.into());
        self
    }

    /// Hides this file or directory from the command: keys, credential stores. One that does not exist when the command starts is not
    /// hidden if it is created later.
    #[must_use]
    pub fn with_hidden(mut self, path: impl Into<PathBuf>) -> Self {
        self.hidden.push(path.into());
        self
    }

    /// Keeps this path readable where a private `/tmp` or `/run` would cover it. The workspace, the directory that the command starts
    /// in and the writable paths always are.
    #[must_use]
    pub fn with_visible(mut self, path: impl Into<PathBuf>) -> Self {
        self.visible.push(path.into());
        self
    }

    /// Sets whether `/tmp`, `/var/tmp` and `/run` are private and empty, which they are by default, since they hold sockets of agents
    /// and daemons. Files written there are removed with the job; see [`with_tmp`](Self::with_tmp).
    #[must_use]
    pub fn with_private_tmp(mut self, private: bool) -> Self {
        self.private_tmp = private;
        self
    }

    /// Uses this directory as the private `/tmp` and `/var/tmp`, so that the next command finds the files that this one left there. It
    /// must exist, and should not be readable by others. If the system has no private mounts, the command can instead write to it at its
    /// own path; [`Containment::tmp`](crate::Containment::tmp) and, before the start, [`Strength::tmp`](crate::Strength::tmp) return the
    /// path.
    #[must_use]
    pub fn with_tmp(mut self, directory: impl Into<PathBuf>) -> Self {
        self.private_tmp = true;
        self.tmp = Some(directory.into());
        self
    }

    /// Sets whether a missing part of the sandbox prevents the command from starting. By default the command starts with the available
    /// parts, and the host checks [`Containment::missing`](crate::Containment::missing).
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Moves away the files that the command must not leave behind. Only has an effect in the mode
    /// [`WorkspaceWrite`](Mode::WorkspaceWrite).
    #[must_use]
    pub fn with_quarantine(mut self, quarantine: Quarantine) -> Self {
        self.quarantine = Some(quarantine);
        self
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The workspace.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The directory for temporary files, by the path that the command has for it.
    pub(crate) fn tmp_for(&self, mounts: bool) -> Option<PathBuf> {
        match (self.private_tmp, mounts && self.reading.is_none()) {
            (false, _) => None,
            (true, true) => Some(PathBuf::from("/tmp")),
            (true, false) => self.tmp.as_ref().and_then(|path| path.canonicalize().ok()),
        }
    }

    /// Returns true if the sandbox restricts nothing.
    pub(crate) fn is_open(&self) -> bool {
        self.mode == Mode::Full
            && self.network
            && !self.private_tmp
            && self.protected.is_empty()
            && self.hidden.is_empty()
    }
}

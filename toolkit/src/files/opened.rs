//! What was opened, and what was not.

use super::Workspace;
use super::handle::{Dir, DirectoryEntry, FileKind};
use super::version::FileVersion;
use crate::error::ToolError;
use crate::escape::escape_line;
use crate::shown_path::shown_path;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// What a path led to.
#[derive(Debug)]
#[non_exhaustive]
pub enum Opened {
    /// A regular file.
    File(OpenedFile),
    /// A directory.
    Directory(OpenedDirectory),
}

impl Opened {
    /// How the path was repaired, where it was.
    pub fn repaired(&self) -> Option<&Repaired> {
        match self {
            Self::File(file) => file.repaired(),
            Self::Directory(directory) => directory.repaired(),
        }
    }
}

/// A regular file, opened for reading.
#[derive(Debug)]
pub struct OpenedFile {
    pub(super) file: File,
    pub(super) metadata: Metadata,
    pub(super) place: OpenedPlace,
}

/// Where something was opened.
#[derive(Debug, Clone)]
pub(super) struct OpenedPlace {
    pub(super) real: PathBuf,
    pub(super) shown: String,
    pub(super) repaired: Option<Repaired>,
}

impl OpenedFile {
    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// The file, without what is known of it.
    pub fn into_file(self) -> File {
        self.file
    }

    /// What the system says of the file, as it was when it was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Its path without any link.
    pub fn path(&self) -> &Path {
        &self.place.real
    }

    /// Its path for texts: relative to the workspace within it, else absolute; in one line.
    pub fn shown(&self) -> &str {
        &self.place.shown
    }

    /// How the path was repaired, where it was.
    pub fn repaired(&self) -> Option<&Repaired> {
        self.place.repaired.as_ref()
    }

    /// Which version of the file it is, as far as that can be told without its content.
    pub fn version(&self) -> FileVersion {
        FileVersion::without_content(&self.metadata)
    }
}

/// A directory, opened for listing.
#[derive(Debug)]
pub struct OpenedDirectory {
    pub(super) workspace: Workspace,
    pub(super) dir: Dir,
    pub(super) place: OpenedPlace,
}

impl OpenedDirectory {
    /// Up to `most` of its entries, in no order, and whether there are more. Blocks; every now and then it is asked whether
    /// it goes on.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn entries(
        &self,
        most: usize,
        goes_on: impl FnMut() -> bool,
    ) -> io::Result<(Vec<DirectoryEntry>, bool)> {
        self.dir.entries(most, goes_on)
    }

    /// Whether a name in it is one that must not be read, whatever anybody says.
    pub fn is_denied(&self, name: &OsStr) -> bool {
        self.workspace.is_denied(&self.place.real.join(name))
    }

    /// Opens a file of this directory, if no person has to be asked for that. Blocks, for a moment.
    ///
    /// # Errors
    ///
    /// When it is not opened, and why.
    pub fn try_open(&self, name: &OsStr) -> Result<OpenedFile, Refused> {
        self.workspace.try_open_in(&self.dir, &self.place.real, name)
    }

    /// Its path without any link.
    pub fn path(&self) -> &Path {
        &self.place.real
    }

    /// Its path for texts: relative to the workspace within it, else absolute; in one line.
    pub fn shown(&self) -> &str {
        &self.place.shown
    }

    /// How the path was repaired, where it was.
    pub fn repaired(&self) -> Option<&Repaired> {
        self.place.repaired.as_ref()
    }
}

/// Why something was not opened without a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// A person would have to be asked, or it is denied. It says nothing of whether anything is there.
    #[error("it needs to be asked for")]
    NeedsLeave,
    /// Nothing is there.
    #[error("it does not exist")]
    Absent,
    /// It is no regular file.
    #[error("it is not a regular file but {}", .0.words())]
    Kind(FileKind),
    /// The system refuses, or something else keeps changing it.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// There is no workspace, or the path can be none.
    #[error("{0}")]
    Unusable(ToolError),
}

impl FileKind {
    /// What it is, with its article.
    pub fn words(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Special => "a pipe, a socket or a device",
        }
    }
}

/// How a path that led nowhere was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The path that was given.
    pub given: PathBuf,
    /// The one that was used.
    pub used: PathBuf,
}

impl Repaired {
    /// What to tell the model, as a sentence without its stop: ``there is no `@src/lib.rs`; this is `src/lib.rs` ``.
    pub fn note(&self) -> String {
        format!("there is no `{}`; this is `{}`", shown(&self.given), shown(&self.used))
    }
}

/// A path in one line of text.
pub(crate) fn shown(path: &Path) -> String {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    escape_line(&shown_path(path)).into_owned()
}

//! Opened files, and the reasons why a file was not opened.

use super::Workspace;
use super::handle::{Dir, DirectoryEntry, FileKind};
use super::version::FileVersion;
use crate::shown_path::shown_path;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use toolkit_core::error::ToolError;
use toolkit_core::escape::escape_line;

/// A file or directory that was opened by its path.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenedPath {
    /// A regular file.
    File(OpenedFile),
    /// A directory.
    Directory(OpenedDirectory),
}

impl OpenedPath {
    /// Returns how the path was repaired, if it was.
    pub fn repaired(&self) -> Option<&PathRepair> {
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

/// The place of an opened file.
#[derive(Debug, Clone)]
pub(super) struct OpenedPlace {
    pub(super) real: PathBuf,
    pub(super) shown: String,
    pub(super) repaired: Option<PathRepair>,
}

impl OpenedFile {
    /// Returns the file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the file, without its metadata.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Returns the metadata of the file, from when it was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns its real path.
    pub fn path(&self) -> &Path {
        &self.place.real
    }

    /// Returns its displayed path: relative to the workspace if it is within it, otherwise absolute; in one line.
    pub fn shown(&self) -> &str {
        &self.place.shown
    }

    /// Returns how the path was repaired, if it was.
    pub fn repaired(&self) -> Option<&PathRepair> {
        self.place.repaired.as_ref()
    }

    /// Returns the version of the file, as far as it can be determined without the content.
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
    /// Returns up to `most` of its entries, in unspecified order, and true if there are more. Blocks; it regularly calls
    /// the function that returns false to stop.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn entries(
        &self,
        most: usize,
        goes_on: impl FnMut() -> bool,
    ) -> io::Result<(Vec<DirectoryEntry>, bool)> {
        self.dir.entries(most, goes_on)
    }

    /// Returns true if the rules deny reading a name in this directory.
    pub fn is_denied(&self, name: &OsStr) -> bool {
        self.workspace.is_denied(&self.place.real.join(name))
    }

    /// Opens a file of this directory, if no person has to be asked. Blocks briefly.
    ///
    /// # Errors
    ///
    /// When the file is not opened, with the reason.
    pub fn try_open(&self, name: &OsStr) -> Result<OpenedFile, OpenError> {
        self.workspace.try_open_in(&self.dir, &self.place.real, name)
    }

    /// Returns its real path.
    pub fn path(&self) -> &Path {
        &self.place.real
    }

    /// Returns its displayed path: relative to the workspace if it is within it, otherwise absolute; in one line.
    pub fn shown(&self) -> &str {
        &self.place.shown
    }

    /// Returns how the path was repaired, if it was.
    pub fn repaired(&self) -> Option<&PathRepair> {
        self.place.repaired.as_ref()
    }
}

/// The reason why a file was not opened without a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A person would have to be asked, or it is denied. This does not reveal if the file exists.
    #[error("it needs approval")]
    NeedsLeave,
    /// There is no such file.
    #[error("it does not exist")]
    Absent,
    /// It is not a regular file.
    #[error("it is not a regular file but {}", .0.words())]
    Kind(FileKind),
    /// The system refuses, or the file keeps changing.
    #[error("{0}")]
    Unreadable(#[from] io::Error),
    /// There is no workspace, or the text cannot be a path.
    #[error("{0}")]
    Unusable(ToolError),
}

impl FileKind {
    /// Returns the kind in words, with its article.
    pub fn words(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Directory => "a directory",
            Self::Link => "a symbolic link",
            Self::Special => "a pipe, a socket or a device",
        }
    }
}

/// A repaired path: the given one did not exist, and another one was used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathRepair {
    /// The path that was given.
    pub given: PathBuf,
    /// The one that was used.
    pub used: PathBuf,
}

impl PathRepair {
    /// Returns a note for the model, as a sentence without its full stop: ``there is no `@src/lib.rs`; this is `src/lib.rs`
    /// ``.
    pub fn note(&self) -> String {
        format!("there is no `{}`; this is `{}`", shown(&self.given), shown(&self.used))
    }
}

/// Returns a path as one line of text.
pub(crate) fn shown(path: &Path) -> String {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    escape_line(&shown_path(path)).into_owned()
}

//! What may be opened and named without asking.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Opens what may be read without a question; a walk asks nobody.
pub(in crate::fs) struct Doors {
    workspace: PathBuf,
}

/// Why something was not opened.
#[derive(Debug)]
pub(in crate::fs) enum Refused {
    /// A person would have to be asked, or it is denied.
    NotAllowed,
    /// It cannot be read.
    Unreadable,
    /// It is gone, or is no regular file any more.
    Gone,
}

impl Doors {
    pub(in crate::fs) fn new(workspace: PathBuf) -> Self {
        Self { workspace }
    }

    /// The real path of the workspace.
    pub(in crate::fs) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(in crate::fs) fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(&self.workspace)
    }

    /// Opens a regular file.
    pub(in crate::fs) fn open(&self, path: &Path) -> Result<File, Refused> {
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Refused::Gone,
            _ => Refused::Unreadable,
        };
        let file = OpenOptions::new().read(true).open(path).map_err(refused)?;
        if file.metadata().map_err(refused)?.is_file() { Ok(file) } else { Err(Refused::Gone) }
    }

    /// Whether what is in a directory may be named.
    pub(in crate::fs) fn may_enter(&self, _path: &Path) -> bool {
        true
    }

    /// Whether a file may be named.
    pub(in crate::fs) fn may_name(&self, _path: &Path) -> bool {
        true
    }
}

//! The directory on systems on which it cannot be opened without following links.

use std::io;
use std::path::Path;

use super::{Upload, UploadError};

/// The directory, which is never opened.
#[derive(Debug)]
pub(crate) enum Uploads {}

impl Uploads {
    /// Refuses it.
    pub(crate) fn open(_workspace: &Path) -> Result<Self, UploadError> {
        let text = "this system has no handles of directories; uploads need Unix";
        Err(io::Error::new(io::ErrorKind::Unsupported, text).into())
    }

    pub(crate) fn list(&self) -> Result<Vec<Upload>, UploadError> {
        match *self {}
    }

    pub(crate) fn save(&self, _name: &str, _content: &[u8]) -> Result<(Upload, String), UploadError> {
        match *self {}
    }

    pub(crate) fn remove(&self, _name: &str) -> Result<bool, UploadError> {
        match *self {}
    }
}

//! The token that clients share, in a file.

use crate::tokens::{Known, digest};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::PathBuf;

/// Maximum number of bytes of the file.
const MAX_BYTES: u64 = 4 << 10;
/// Minimum length of a token.
const MIN_LENGTH: usize = 16;

/// A file that holds the token that clients share. It is read for each request, so that it counts as it is: without the file, no token
/// does.
#[derive(Debug)]
pub(crate) struct SharedToken {
    path: PathBuf,
}

impl SharedToken {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the token, or none if there is no file, or one that holds no token.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub(crate) fn known(&self) -> io::Result<Vec<Known>> {
        let mut text = String::new();
        match File::open(&self.path) {
            Ok(file) => file.take(MAX_BYTES).read_to_string(&mut text).map(drop)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let token = text.trim();
        if token.len() < MIN_LENGTH {
            return Ok(Vec::new());
        }
        Ok(vec![Known { digest: digest(token), principal: String::new() }])
    }

    /// Returns the token if it is the given one. Digests are compared, so that the time it takes discloses nothing about the token.
    pub(crate) fn find(&self, token: &str) -> Option<Known> {
        let known = self
            .known()
            .inspect_err(|error| tracing::warn!(%error, "the token of clients cannot be read"))
            .unwrap_or_default();
        let given = digest(token);
        known.into_iter().find(|known| known.digest == given)
    }
}

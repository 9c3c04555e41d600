//! The directories above a file that is to be written.

use super::fault;
use super::handle::Dir;
use super::target::Target;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The directories that a file needs and that are not there, and which of them were made for it.
#[derive(Debug)]
pub(super) struct Missing {
    /// The outermost first.
    names: Vec<OsString>,
    made: Mutex<Vec<Made>>,
}

/// A directory that was made.
#[derive(Debug, Clone, Copy)]
struct Made {
    /// Its place in the list.
    place: usize,
    identity: Option<(u64, u64)>,
}

impl Missing {
    pub(super) fn new(names: Vec<OsString>) -> Self {
        Self { names, made: Mutex::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The innermost, if it is there by now.
    pub(super) fn open(&self, dir: &Dir) -> io::Result<Option<Dir>> {
        match open(dir, &self.names) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The innermost; each that is not there is made.
    pub(super) fn make(&self, dir: &Dir) -> io::Result<Dir> {
        let mut dir = dir.try_clone()?;
        for (place, name) in self.names.iter().enumerate() {
            fault::point("make a directory");
            let is_made = match dir.make_dir(name) {
                Ok(()) => true,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
                Err(error) => return Err(error),
            };
            let inner = dir.open_dir(Path::new(name))?;
            if is_made {
                self.made
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(Made { place, identity: inner.identity() });
                dir.sync()?;
            }
            dir = inner;
        }
        Ok(dir)
    }

    /// Removes those that were made here, the innermost first, as long as they are empty.
    fn remove(&self, dir: &Dir) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Made { place, identity }) = made.last().copied() {
            let Ok(above) = open(dir, &self.names[..place]) else { return };
            let name = &self.names[place];
            let is_ours = above.stat(name).is_ok_and(|stat| stat.identity == identity);
            // One in which something stands by now stays.
            if !is_ours || above.remove_dir(name).is_err() {
                return;
            }
            made.pop();
            // Should it not survive a power cut that it is gone, an empty directory is left.
            let _ = above.sync();
        }
    }
}

fn open(dir: &Dir, names: &[OsString]) -> io::Result<Dir> {
    let mut dir = dir.try_clone()?;
    for name in names {
        dir = dir.open_dir(Path::new(name))?;
    }
    Ok(dir)
}

impl Target {
    /// The directory that it is in, if that is there.
    pub(super) fn parent(&self) -> io::Result<Option<Dir>> {
        self.missing.open(&self.dir)
    }

    /// The directory that it is in, made where it is not there, with those above it.
    pub(super) fn made_parent(&self) -> io::Result<Dir> {
        self.missing.make(&self.dir)
    }

    /// How many of the directories above the file did not exist when the target was bound: writing the file makes them.
    pub fn missing_directories(&self) -> usize {
        self.missing.len()
    }

    /// Removes the directories that were made for this file, as far as nothing is in them: for a change that is taken back.
    /// Blocks.
    pub fn remove_made_directories(&self) {
        self.missing.remove(&self.dir);
    }
}

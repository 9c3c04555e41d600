//! Creates the directories above a file that is to be written.

use super::fault;
use super::handle::Dir;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The missing directories of a file, and those of them that were created for it.
#[derive(Debug)]
pub(super) struct Missing {
    /// The names, the outermost directory first.
    names: Vec<OsString>,
    made: Mutex<Vec<Made>>,
}

/// A directory that was created.
#[derive(Debug, Clone, Copy)]
struct Made {
    /// The index in `names`.
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

    /// Opens the innermost directory, if it exists by now.
    pub(super) fn open(&self, dir: &Dir) -> io::Result<Option<Dir>> {
        match open(dir, &self.names) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the innermost directory; creates each one that is missing.
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

    /// Removes the directories that were created here, the innermost first, as long as they are empty.
    pub(super) fn remove(&self, dir: &Dir) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Made { place, identity }) = made.last().copied() {
            let Ok(above) = open(dir, &self.names[..place]) else { return };
            let name = &self.names[place];
            let is_ours = above.stat(name).is_ok_and(|stat| stat.identity == identity);
            // A directory that is no longer empty stays.
            if !is_ours || above.remove_dir(name).is_err() {
                return;
            }
            made.pop();
            // If the removal does not survive a power cut, an empty directory remains.
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

//! Placeholder for a protected path that does not exist, so that a command cannot create it.
//!
//! It is a directory that nobody can write to, recognised by its mode. Jobs that need the same one share it, each with a lock on it;
//! the last one removes it. If a supervisor is killed, it stays, and the next job that needs it reuses it.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// Unlike any that someone makes: it can be read and entered by all, and has the sticky bit.
const MODE: Mode = Mode::from_bits_retain(0o1555);

/// A directory in the place of something that is missing.
pub(super) struct Placeholder {
    path: PathBuf,
    directory: OwnedFd,
}

/// Returns the first component of a path that does not exist or is a placeholder, with its parents resolved. `None` if the whole
/// path exists.
fn first_missing(path: &Path) -> Option<PathBuf> {
    // A placeholder is empty, so nothing is missing on the way to something that exists. Only a fast path for thousands of paths.
    if rustix::fs::lstat(path).is_ok_and(|stat| !is_placeholder(&stat)) {
        return None;
    }
    for at in path.ancestors().collect::<Vec<_>>().into_iter().rev() {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { continue };
        let there = std::fs::canonicalize(parent).ok()?.join(name);
        match rustix::fs::lstat(&there) {
            Ok(stat) if is_placeholder(&stat) => return Some(there),
            Ok(_) => {}
            Err(Errno::NOENT) => return Some(there),
            Err(_) => return None,
        }
    }
    None
}

pub(crate) fn is_placeholder(stat: &rustix::fs::Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
        && Mode::from_raw_mode(stat.st_mode) & Mode::from_bits_retain(0o7777) == MODE
}

impl Placeholder {
    /// Creates or shares a placeholder at the first component of `path` that does not exist, if that is `within` a directory that
    /// the command can write to.
    pub(super) fn for_missing(path: &Path, within: &dyn Fn(&Path) -> bool) -> Result<Option<Self>, Errno> {
        let mut result = Ok(None);
        // Another job may have taken its own away in between, with which the first part that is missing is another.
        for _ in 0..10 {
            let Some(missing) = first_missing(path).filter(|missing| within(missing)) else {
                return Ok(None);
            };
            result = Self::make(&missing).map(Some);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Returns the path of the placeholder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the placeholder, or shares an existing one.
    fn make(path: &Path) -> Result<Self, Errno> {
        // It may be taken away by another job between any two of these steps; not often.
        for _ in 0..100 {
            // The mode is set from the beginning, since another job may check it before the second step.
            match rustix::fs::mkdir(path, MODE) {
                Ok(()) => rustix::fs::chmod(path, MODE)?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let directory = match rustix::fs::open(path, flags, Mode::empty()) {
                Ok(directory) => directory,
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error),
            };
            rustix::fs::flock(&directory, FlockOperation::LockShared)?;
            let placeholder = Self { path: path.to_owned(), directory };
            if placeholder.is_there() {
                return Ok(placeholder);
            }
        }
        Err(Errno::BUSY)
    }

    /// Returns true if the file at the path is the one locked here, rather than one that another job has created after its removal.
    fn is_there(&self) -> bool {
        let held = rustix::fs::fstat(&self.directory);
        let there = rustix::fs::lstat(&self.path);
        held.is_ok_and(|held| {
            is_placeholder(&held)
                && there.is_ok_and(|there| (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino))
        })
    }

    /// Removes the placeholder, unless another job uses it or it has been replaced.
    pub(super) fn remove(&self) {
        let alone = rustix::fs::flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_ok();
        if alone && self.is_there() {
            let _ = rustix::fs::rmdir(&self.path);
        }
        let _ = rustix::fs::flock(&self.directory, FlockOperation::Unlock);
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        self.remove();
    }
}

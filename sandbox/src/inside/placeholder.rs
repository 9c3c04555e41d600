//! Stands in for a protected path that does not exist, so that a command cannot make it.
//!
//! It is a directory that nobody can write to, recognised by its mode. Jobs that need the same one share it, each with a lock on it;
//! the last one takes it away. Where a supervisor is killed it stays, and the next job that needs it takes it over.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// Unlike any that someone makes: it can be read and entered by all, and has the sticky bit.
const MODE: Mode = Mode::from_bits_retain(0o1555);

/// A directory in the place of something that is missing.
pub(super) struct Placeholder {
    path: PathBuf,
    directory: OwnedFd,
}

/// The first part of a path that does not exist, its parents without symbolic links. `None` where that can't be said.
pub(super) fn first_missing(path: &Path) -> Option<PathBuf> {
    let mut at = path;
    loop {
        let parent = at.parent()?;
        match std::fs::canonicalize(parent) {
            Ok(parent) => return Some(parent.join(at.file_name()?)),
            Err(_) => at = parent,
        }
    }
}

impl Placeholder {
    /// Makes it, or shares it with those who have made it.
    pub(super) fn make(path: &Path) -> Result<Self, Errno> {
        // It may be taken away by another job between any two of these steps; not often.
        for _ in 0..100 {
            match rustix::fs::mkdir(path, Mode::from_bits_retain(0o700)) {
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
            let (held, there) = (rustix::fs::fstat(&directory)?, rustix::fs::lstat(path));
            if there.is_ok_and(|there| (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)) {
                return Ok(Self { path: path.to_owned(), directory });
            }
        }
        Err(Errno::BUSY)
    }

    /// Takes it away, unless another job has it or it is no placeholder.
    pub(super) fn remove(&self) {
        let ours = rustix::fs::fstat(&self.directory)
            .is_ok_and(|stat| Mode::from_raw_mode(stat.st_mode) & Mode::from_bits_retain(0o7777) == MODE);
        if ours && rustix::fs::flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = rustix::fs::rmdir(&self.path);
        }
        let _ = rustix::fs::flock(&self.directory, FlockOperation::Unlock);
    }
}

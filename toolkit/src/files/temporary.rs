//! Files under a temporary name, and the exchange that puts one at its place.

use super::handle::{self, Dir, Stat};
use super::target::Target;
use super::version::{ContentHash, FileVersion};
use super::{fault, held};
use crate::temporary_names::{self, NotedName};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write as _};

/// The most attempts if a name is taken, or a file appears and disappears.
pub(super) const TRIES: usize = 16;
/// How many bytes are written at once, while they are still in the processor's cache after hashing.
const WRITE_BYTES: usize = 4 * ContentHash::BLOCK;

/// Owner and group of a file, by their ids, before and after it was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnerChange {
    /// Before.
    pub before: (u32, u32),
    /// After.
    pub after: (u32, u32),
}

/// A file whose mode and attributes are copied: its directory, its metadata, and its name.
pub(super) type Like<'a> = (&'a Dir, &'a Stat, &'a OsStr);

/// A file under a temporary name, which is removed unless it is kept.
pub(super) struct Temporary<'a> {
    pub(super) dir: &'a Dir,
    pub(super) name: OsString,
    identity: Option<(u64, u64)>,
    /// Open while the file is written, and locked, which shows that it is still needed.
    file: Option<File>,
    pub(super) is_there: bool,
    /// Dropped after the file is removed.
    pub(super) noted: Option<NotedName>,
}

/// How a file was put at its place.
pub(super) enum Put {
    Done,
    /// The file has changed.
    Changed,
}

/// Returns true if the file under a name is still in the earlier state.
fn is_there(dir: &Dir, name: &OsStr, before: &Stat) -> io::Result<bool> {
    match dir.stat(name) {
        Ok(now) => Ok(is_same_file(&now, before)),
        // No test has another error here: the directory is open, and the name was looked at before.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns true if it is the same file in the same state.
pub(super) fn is_same_file(now: &Stat, before: &Stat) -> bool {
    now.kind == before.kind
        && now.identity == before.identity
        && now.size == before.size
        && now.modified == before.modified
}

impl Target {
    /// Puts a complete file at its place.
    pub(super) fn put(&self, new: &mut Temporary<'_>, existing: Option<&Stat>) -> io::Result<Put> {
        let dir = new.dir;
        // From the check to the change, other processes of this toolkit are locked out.
        let _until_put = held::lock(dir);
        let Some(existing) = existing else {
            fault::point("give it its name");
            return match dir.rename_new(&new.name, dir, &self.name) {
                Ok(()) => {
                    new.is_there = false;
                    Ok(Put::Done)
                }
                // No test has another error here: its directory had no objection to the temporary name.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Put::Changed),
                Err(error) => Err(error),
            };
        };
        if !is_there(dir, &self.name, existing)? {
            return Ok(Put::Changed);
        }
        fault::point("exchange");
        match dir.exchange(&new.name, &self.name) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Put::Changed),
            // No test has another error here that the rename would not have too.
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                // The closest to an atomic change on file systems that cannot exchange files.
                dir.rename(&new.name, dir, &self.name)?;
                new.is_there = false;
                return Ok(Put::Done);
            }
            Err(error) => return Err(error),
        }
        fault::point("look at what was replaced");
        let put = new.keep_or_give_back(&self.name, existing)?;
        fault::point("remove what was replaced");
        Ok(put)
    }
}

impl<'a> Temporary<'a> {
    /// Creates the file; `note` notes its name.
    pub(super) fn create(
        dir: &'a Dir,
        is_shared: bool,
        note: impl Fn(&OsStr) -> Option<NotedName>,
    ) -> io::Result<Self> {
        for _ in 0..TRIES {
            let name = temporary_name()?;
            let noted = note(&name);
            fault::point("create");
            match dir.create(&name, is_shared) {
                Ok(file) => {
                    // The lock shows that the file is still needed.
                    handle::try_lock(&file);
                    let identity = handle::identity(&file.metadata()?);
                    return Ok(Self { dir, name, identity, file: Some(file), is_there: true, noted });
                }
                // No test: two random names of 64 bits would have to be equal.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Returns the temporary for a file that is already complete.
    pub(super) fn of(dir: &'a Dir, name: OsString, stat: &Stat) -> Self {
        Self { dir, name, identity: stat.identity, file: None, is_there: true, noted: None }
    }

    pub(super) fn fill(
        &mut self,
        content: &[&[u8]],
        like: Option<Like<'_>>,
        executable: Option<bool>,
    ) -> io::Result<(FileVersion, Option<OwnerChange>)> {
        let Some(file) = &mut self.file else { return Err(ErrorKind::InvalidInput.into()) };
        fault::point("write");
        let mut hash = ContentHash::new();
        let mut out = BufWriter::with_capacity(WRITE_BYTES, &mut *file);
        for block in content.iter().flat_map(|part| part.chunks(WRITE_BYTES)) {
            hash.update(block);
            out.write_all(block)?;
        }
        out.flush()?;
        drop(out);
        let mut owner = None;
        if let Some((dir, stat, name)) = like {
            let other = handle::owner_and_mode(file, stat)?;
            owner = stat.owner.zip(other).map(|(before, after)| OwnerChange { before, after });
            dir.give_attributes(name, file);
        }
        if let Some(executable) = executable {
            handle::set_executable(file, executable)?;
        }
        fault::point("sync");
        file.sync_all()?;
        Ok((FileVersion::of_hashed(hash, &file.metadata()?), owner))
    }
}

impl Temporary<'_> {
    /// Called after this file and the one under `name` were exchanged: if the old file matches `expected`, it is removed with
    /// the temporary name; otherwise it gets its name back.
    ///
    /// Any other file that appears was put there by another process a moment ago, and is never removed.
    fn keep_or_give_back(&mut self, name: &OsStr, expected: &Stat) -> io::Result<Put> {
        let own = self.identity;
        self.is_there = false;
        if is_there(self.dir, &self.name, expected)? {
            self.is_there = true;
            return Ok(Put::Done);
        }
        for _ in 0..TRIES {
            let held = self.dir.stat(&self.name)?;
            match self.dir.exchange(&self.name, name) {
                Ok(()) => {}
                // The file there was removed meanwhile, and the name is free. No test has another error: the
                // same exchange was possible before.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return match self.dir.rename_new(&self.name, self.dir, name) {
                        // No test: the name would have to be taken between two system calls.
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                        done => done.map(|()| Put::Changed),
                    };
                }
                Err(error) => return Err(error),
            }
            if self.dir.stat(&self.name)?.identity == own {
                self.is_there = true;
                return Ok(Put::Changed);
            }
            // Another process put a newer file there than the one that was given back: the newer file stays, and the file that
            // it replaced is the one that came back.
            self.dir.exchange(&self.name, name)?;
            if self.dir.stat(&self.name)?.identity == held.identity {
                self.is_there = true;
                return Ok(Put::Changed);
            }
        }
        Err(io::Error::other(format!(
            "something else keeps changing it; a version of it is in {}",
            self.name.display()
        )))
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.is_there {
            // A file that cannot be removed now is removed later, when it is old.
            let _ = self.dir.remove(&self.name);
        }
    }
}

pub(super) fn temporary_name() -> io::Result<OsString> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(temporary_names::name(u64::from_be_bytes(random)).into())
}

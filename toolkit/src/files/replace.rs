//! Atomic changes of files.

use super::handle::{self, Dir, FileKind, Stat};
use super::open::cannot;
use super::options::WriteOptions;
use super::taken::DisplacedFile;
use super::target::{Expected, Target, no_file};
use super::version::{ContentHash, FileVersion};
use super::{fault, held, in_place, stale};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::PathBuf;
use toolkit_core::error::ToolError;

/// The most attempts if a name is taken, or a file appears and disappears.
const TRIES: usize = 16;
/// How many bytes are written at once, while they are still in the processor's cache after hashing.
const WRITE_BYTES: usize = 4 * ContentHash::BLOCK;

/// A file that was written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOutcome {
    /// Its real path.
    pub path: PathBuf,
    /// True if a file existed before.
    pub replaced: bool,
    /// The version of the written file.
    pub version: FileVersion,
    /// The number of other names of the replaced file: hard links, which keep the old content.
    pub other_names: u64,
    /// True if the existing file was written in place, because it could not be replaced: concurrent readers can see a part of
    /// the new content.
    pub in_place: bool,
    /// The owner and group of the file, if those of the replaced file could not be kept.
    pub owner: Option<OwnerChange>,
}

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
type Like<'a> = (&'a Dir, &'a Stat, &'a OsStr);

/// A file under a temporary name, which is removed unless it is kept.
pub(super) struct Temporary<'a> {
    dir: &'a Dir,
    name: OsString,
    identity: Option<(u64, u64)>,
    /// Open while the file is written, and locked, which shows that it is still needed.
    file: Option<File>,
    is_there: bool,
}

impl Target {
    /// Writes the whole file atomically: a reader sees the old content or the new one, even if the process or the system dies
    /// meanwhile. Missing directories are created. Blocks.
    ///
    /// Mode, owner, group, access control list and user attributes of a replaced file are kept, all but the mode as far as the
    /// process may; set-user-id is removed if the owner cannot be kept. The other names of a file with several names keep the
    /// old content, because only a new file can replace one atomically; [`WriteOutcome::other_names`] is their number. The written
    /// content counts as seen by the session.
    ///
    /// A file that cannot be replaced, because it is a mount point or its directory is not writable, is written in place after
    /// a copy of it is safely stored: see [`WriteOutcome::in_place`].
    ///
    /// A limit on the size of files results in an error only in a process that is not ended by `SIGXFSZ`; the command is not.
    ///
    /// # Errors
    ///
    /// `Failed` when the present file does not match `expected`, and then nothing is changed; and when the system refuses.
    pub fn write(&self, content: &[u8], expected: &Expected) -> Result<WriteOutcome, ToolError> {
        self.write_keeping(content, expected, WriteOptions::default()).map(|(written, _)| written)
    }

    /// Writes as [`write`](Self::write) does, and also returns the replaced file, if there was one and the file system can
    /// exchange two files. Blocks.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); also when there is no file at the target whose mode is to be copied.
    pub fn write_keeping(
        &self,
        content: &[u8],
        expected: &Expected,
        options: WriteOptions<'_>,
    ) -> Result<(WriteOutcome, Option<DisplacedFile>), ToolError> {
        self.write_parts(&[content], expected, options)
    }

    /// Writes as [`write_keeping`](Self::write_keeping) does, with the content in consecutive parts: a large file that changes
    /// in a few places need not be put together in memory. Blocks.
    ///
    /// # Errors
    ///
    /// As [`write_keeping`](Self::write_keeping).
    pub fn write_parts(
        &self,
        content: &[&[u8]],
        expected: &Expected,
        options: WriteOptions<'_>,
    ) -> Result<(WriteOutcome, Option<DisplacedFile>), ToolError> {
        self.tell_change(Some(content))?;
        let WriteOptions { like, executable, is_edit } = options;
        let like = like.map(|like| like.found().map(|(dir, stat)| (dir, stat, &*like.name))).transpose()?;
        let like = like.as_ref().map(|(dir, stat, name)| (dir, stat, *name));
        // Directories created before a failure are removed.
        let (written, taken) = self
            .write_once(content, expected, like, executable)
            .inspect_err(|_| self.remove_made_directories())?;
        let version = written.version.clone();
        if is_edit && written.replaced {
            self.workspace.edited(&self.real, version);
        } else {
            self.workspace.saw(&self.real, version);
        }
        Ok((written, taken))
    }

    /// Returns the file's directory and the file's metadata.
    fn found(&self) -> Result<(Dir, Stat), ToolError> {
        let Some(dir) = self.parent().map_err(|error| self.refused(&error))? else {
            return Err(self.absent());
        };
        let Some(stat) = self.stat_in(&dir)? else { return Err(self.absent()) };
        Ok((dir, stat))
    }

    /// Writes the file; mode and attributes are copied from `like`, or otherwise from the replaced file.
    fn write_once(
        &self,
        content: &[&[u8]],
        expected: &Expected,
        like: Option<Like<'_>>,
        executable: Option<bool>,
    ) -> Result<(WriteOutcome, Option<DisplacedFile>), ToolError> {
        let refused = |error: &io::Error| self.refused(error);
        let dir = self.made_parent().map_err(|error| refused(&error))?;
        stale::remove_old(&dir);
        for _ in 0..TRIES {
            let existing = self.check(&dir, expected)?;
            let of = like.or_else(|| existing.as_ref().map(|stat| (&dir, stat, &*self.name)));
            let written = |version: FileVersion, in_place: bool, owner: Option<OwnerChange>| WriteOutcome {
                path: self.real.clone(),
                replaced: existing.is_some(),
                version,
                // A file written in place changes under all its names.
                other_names: match &existing {
                    Some(existing) if !in_place => existing.names.saturating_sub(1),
                    _ => 0,
                },
                in_place,
                owner,
            };
            let in_place = |error: io::Error| match existing.as_ref().filter(|_| in_place::may_help(&error)) {
                Some(existing) => {
                    let version = self.write_in_place(&dir, content, existing, expected, executable)?;
                    Ok((written(version, true, None), None))
                }
                None => Err(refused(&error)),
            };
            let mut new = match Temporary::create(&dir, of.is_none()) {
                Ok(new) => new,
                Err(error) => return in_place(error),
            };
            let filled = new.fill(content, of, executable).map_err(|error| refused(&error))?;
            let (version, owner) = filled;
            match self.put(&mut new, existing.as_ref()) {
                Ok(Put::Done) => {}
                Ok(Put::Changed) if matches!(expected, Expected::Any) => continue,
                Ok(Put::Changed) => return Err(self.changed()),
                Err(error) => return in_place(error),
            }
            fault::point("sync the directory");
            dir.sync().map_err(|error| refused(&error))?;
            let written = written(version, false, owner);
            let taken = match existing {
                Some(existing) if new.is_there => {
                    let dir = new.dir.try_clone().map_err(|error| refused(&error))?;
                    new.is_there = false;
                    Some(DisplacedFile::new(self, dir, new.name.clone(), existing, expected))
                }
                _ => None,
            };
            return Ok((written, taken));
        }
        Err(self.changed())
    }

    /// Removes the file. Blocks.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); also when there is no file.
    pub fn remove(&self, expected: &Expected) -> Result<(), ToolError> {
        self.take_away(expected)?.remove().map_err(|error| self.refused(&error))
    }

    /// Moves the file to another target, where no file may exist yet. Blocks.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); also when the two places are on different file systems.
    pub fn rename_to(&self, to: &Self, expected: &Expected) -> Result<(), ToolError> {
        self.tell_move(to)?;
        let refused = |error: &io::Error| self.refused(error);
        let Some(dir) = self.parent().map_err(|error| refused(&error))? else { return Err(self.absent()) };
        let to_dir = to.made_parent().map_err(|error| to.refused(&error))?;
        let _until_renamed = held::lock(&dir);
        let Some(existing) = self.check(&dir, expected)? else { return Err(self.absent()) };
        fault::point("rename");
        dir.rename_new(&self.name, &to_dir, &to.name).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => to.changed(),
            _ => refused(&error),
        })?;
        let moved = to_dir.stat(&to.name).map_err(|error| refused(&error))?;
        if !is_same_file(&moved, &existing) {
            to_dir.rename_new(&to.name, &dir, &self.name).map_err(|error| self.left_at(&to.name, &error))?;
            return Err(self.changed());
        }
        to_dir.sync().and_then(|()| dir.sync()).map_err(|error| refused(&error))?;
        self.workspace.moved(&self.real, &to.real);
        Ok(())
    }

    /// Returns the metadata of the present file, if it matches `expected` and may be written.
    pub(super) fn check(&self, dir: &Dir, expected: &Expected) -> Result<Option<Stat>, ToolError> {
        let existing = self.stat_in(dir)?;
        if let Some(stat) = &existing {
            if stat.kind != FileKind::File {
                return Err(no_file(&self.shown, stat.kind));
            }
            if !dir.is_writable(&self.name) {
                return Err(ToolError::failed(format!(
                    "{} is read-only; ask the person to make it writable, or leave it as it is",
                    self.shown
                )));
            }
        }
        match (expected, &existing) {
            (Expected::Any, _) | (Expected::Absent, None) => Ok(existing),
            (Expected::Absent, Some(_)) => Err(ToolError::failed(format!(
                "{} exists now: something else created it. Read it, then decide again",
                self.shown
            ))),
            (Expected::Version(_), None) => Err(ToolError::not_found(format!(
                "{} no longer exists: something else removed it",
                self.shown
            ))),
            (Expected::Version(version), Some(stat)) => {
                // A changed time need not mean changed content.
                let is_same_content = || {
                    let content = self.read(version.size()).ok().flatten();
                    content.is_some_and(|content| version.is_same(&content.version))
                };
                let is_same = version.looks_like(stat) || version.size() == stat.size && is_same_content();
                if is_same { Ok(existing) } else { Err(self.changed()) }
            }
        }
    }

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

    pub(super) fn refused(&self, error: &io::Error) -> ToolError {
        if handle::is_raced(error) { self.changed() } else { cannot("write", &self.shown, error) }
    }

    pub(super) fn changed(&self) -> ToolError {
        ToolError::failed(format!(
            "{} was changed by something else meanwhile, and is left as it is now; read it again, then repeat the change",
            self.shown
        ))
    }

    pub(super) fn absent(&self) -> ToolError {
        ToolError::not_found(format!("{} does not exist", self.shown))
    }

    /// Returns the error for a file that could not be put back.
    pub(super) fn left_at(&self, name: &OsStr, error: &io::Error) -> ToolError {
        ToolError::failed(format!(
            "{} was changed by something else meanwhile, and could not be put back from {} in the same directory: {error}",
            self.shown,
            name.display()
        ))
    }
}

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

impl<'a> Temporary<'a> {
    fn create(dir: &'a Dir, is_shared: bool) -> io::Result<Self> {
        for _ in 0..TRIES {
            let name = temporary_name()?;
            fault::point("create");
            match dir.create(&name, is_shared) {
                Ok(file) => {
                    // The lock shows that the file is still needed.
                    handle::try_lock(&file);
                    let identity = handle::identity(&file.metadata()?);
                    return Ok(Self { dir, name, identity, file: Some(file), is_there: true });
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
        Self { dir, name, identity: stat.identity, file: None, is_there: true }
    }

    fn fill(
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
    Ok(stale::name(u64::from_be_bytes(random)).into())
}

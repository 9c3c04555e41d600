//! Atomic changes of files.

use super::handle::{self, Dir, FileKind, Stat};
use super::open::cannot;
use super::options::WriteOptions;
use super::taken::DisplacedFile;
use super::target::{Expected, Target, no_file};
use super::temporary::{Like, OwnerChange, Put, TRIES, Temporary, is_same_file};
use super::version::FileVersion;
use super::{fault, held, in_place, stale};
use crate::temporary_names::NotedName;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use toolkit_core::error::ToolError;

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
            let mut new = match Temporary::create(&dir, of.is_none(), |name| self.noted(name)) {
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
                    let noted = new.noted.take();
                    Some(DisplacedFile::new(self, (dir, new.name.clone()), existing, expected, noted))
                }
                _ => None,
            };
            return Ok((written, taken));
        }
        Err(self.changed())
    }

    /// Notes a temporary name in the file's directory.
    pub(super) fn noted(&self, name: &OsStr) -> Option<NotedName> {
        let data = self.workspace.ctx.scope().toolkit.settings.outputs.data_dir();
        NotedName::note(data, &self.real.with_file_name(name))
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

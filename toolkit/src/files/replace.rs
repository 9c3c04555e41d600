//! Changes of files that happen at once or not at all.

use super::handle::{self, Dir, FileKind, Stat};
use super::open::cannot;
use super::target::{Expected, Target, no_file};
use super::version::FileVersion;
use super::{fault, stale};
use crate::error::ToolError;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;
use std::time::Duration;

/// How often a name that is taken, or a file that comes and goes, is met with a further try.
const TRIES: usize = 16;
/// How long it is waited for another process that puts a file in the same directory. It takes microseconds; after this,
/// whoever holds the lock is no such process.
const LOCK_TIME: Duration = Duration::from_secs(2);

/// A file that was written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Written {
    /// Its path without any link.
    pub path: PathBuf,
    /// Whether a file was there before.
    pub replaced: bool,
    /// What it is now.
    pub version: FileVersion,
}

/// A file under a name of its own, which goes unless it is kept.
struct Temporary<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
    is_there: bool,
}

impl Target {
    /// Writes the whole file: whoever opens it sees the old content or the new one, also where the process or the system
    /// dies meanwhile. Directories that are missing are made. Blocks.
    ///
    /// Mode, owner and group of a file that is replaced are kept, the latter two as far as the process may; set-user-id
    /// goes where the owner cannot be kept. A file with several names keeps its old content under the others. The
    /// session has seen what is written here.
    ///
    /// # Errors
    ///
    /// `Failed` when what is there is not what was expected, and nothing is changed then; and for whatever the system
    /// refuses.
    pub fn write(&self, content: &[u8], expected: &Expected) -> Result<Written, ToolError> {
        let refused = |error: &io::Error| self.refused(error);
        let dir = self.made_parent().map_err(|error| refused(&error))?;
        stale::remove_old(&dir);
        for _ in 0..TRIES {
            let existing = self.check(&dir, expected)?;
            let mut new = Temporary::create(&dir, existing.is_none()).map_err(|error| refused(&error))?;
            let filled = new.fill(content, existing.as_ref());
            match filled.and_then(|()| self.put(&mut new, existing.as_ref())) {
                Ok(Put::Done) => {}
                Ok(Put::Changed) if matches!(expected, Expected::Any) => continue,
                Ok(Put::Changed) => return Err(self.changed()),
                Err(error) => return Err(refused(&error)),
            }
            let metadata = new.file.metadata().map_err(|error| refused(&error))?;
            fault::point("sync the directory");
            dir.sync().map_err(|error| refused(&error))?;
            let version = FileVersion::of(content, &metadata);
            self.workspace.saw(&self.real, version.clone());
            return Ok(Written { path: self.real.clone(), replaced: existing.is_some(), version });
        }
        Err(self.changed())
    }

    /// Removes the file. Blocks.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); where nothing is there, too.
    pub fn remove(&self, expected: &Expected) -> Result<(), ToolError> {
        let refused = |error: &io::Error| self.refused(error);
        let Some(dir) = self.parent().map_err(|error| refused(&error))? else { return Err(self.absent()) };
        let _until_removed = dir.lock(LOCK_TIME);
        let Some(existing) = self.check(&dir, expected)? else { return Err(self.absent()) };
        let name = temporary_name().map_err(|error| refused(&error))?;
        // Under a name of its own it can be seen whether it is the one that was meant.
        fault::point("take the name away");
        dir.rename_new(&self.name, &dir, &name).map_err(|error| refused(&error))?;
        let taken = dir.stat(&name).map_err(|error| refused(&error))?;
        if !is_same_file(&taken, &existing) {
            dir.rename_new(&name, &dir, &self.name).map_err(|error| self.left_at(&name, &error))?;
            return Err(self.changed());
        }
        fault::point("remove");
        dir.remove(&name).map_err(|error| refused(&error))?;
        dir.sync().map_err(|error| refused(&error))?;
        self.workspace.forget(&self.real);
        Ok(())
    }

    /// Gives the file the place of another target, where nothing may be yet. Blocks.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write); also where the two places are on different file systems.
    pub fn rename_to(&self, to: &Self, expected: &Expected) -> Result<(), ToolError> {
        let refused = |error: &io::Error| self.refused(error);
        let Some(dir) = self.parent().map_err(|error| refused(&error))? else { return Err(self.absent()) };
        let to_dir = to.made_parent().map_err(|error| to.refused(&error))?;
        let _until_renamed = dir.lock(LOCK_TIME);
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
        self.workspace.forget(&self.real);
        Ok(())
    }

    /// What is there, if that is what was expected and may be written.
    fn check(&self, dir: &Dir, expected: &Expected) -> Result<Option<Stat>, ToolError> {
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
                "{} exists by now: something else made it. Read it, and decide anew",
                self.shown
            ))),
            (Expected::Version(_), None) => {
                Err(ToolError::not_found(format!("{} is gone by now: something else removed it", self.shown)))
            }
            (Expected::Version(version), Some(stat)) => {
                // A time that changed need not mean another content.
                let is_same_content = || {
                    let content = self.read(u64::MAX).ok().flatten();
                    content.is_some_and(|content| version.is_same(&content.version))
                };
                let is_same = version.looks_like(stat) || version.size() == stat.size && is_same_content();
                if is_same { Ok(existing) } else { Err(self.changed()) }
            }
        }
    }

    /// Puts a file that is complete in its place.
    fn put(&self, new: &mut Temporary<'_>, existing: Option<&Stat>) -> io::Result<Put> {
        let dir = new.dir;
        // Between the look and the change, no other process of this toolkit has its own.
        let _until_put = dir.lock(LOCK_TIME);
        let Some(existing) = existing else {
            fault::point("give it its name");
            return match dir.rename_new(&new.name, dir, &self.name) {
                Ok(()) => {
                    new.is_there = false;
                    Ok(Put::Done)
                }
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
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                // As close as it gets where the two cannot change places.
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

    fn refused(&self, error: &io::Error) -> ToolError {
        if handle::is_raced(error) { self.changed() } else { cannot("write", &self.shown, error) }
    }

    fn changed(&self) -> ToolError {
        ToolError::failed(format!(
            "{} was changed by something else meanwhile, and is left as it is now; read it again, then repeat the change",
            self.shown
        ))
    }

    fn absent(&self) -> ToolError {
        ToolError::not_found(format!("{} does not exist", self.shown))
    }

    /// What could not go back.
    fn left_at(&self, name: &OsStr, error: &io::Error) -> ToolError {
        ToolError::failed(format!(
            "{} was changed by something else meanwhile, and could not be put back from {} in the same directory: {error}",
            self.shown,
            name.display()
        ))
    }
}

enum Put {
    Done,
    /// It is not what it was.
    Changed,
}

/// Whether a file stands under a name in the state that it was in.
fn is_there(dir: &Dir, name: &OsStr, before: &Stat) -> io::Result<bool> {
    match dir.stat(name) {
        Ok(now) => Ok(is_same_file(&now, before)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether it is the same file in the same state.
fn is_same_file(now: &Stat, before: &Stat) -> bool {
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
                    // Says that somebody still needs it.
                    handle::try_lock(&file);
                    return Ok(Self { dir, name, file, is_there: true });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    fn fill(&mut self, content: &[u8], replaces: Option<&Stat>) -> io::Result<()> {
        fault::point("write");
        self.file.write_all(content)?;
        if let Some(replaces) = replaces {
            handle::owner_and_mode(&self.file, replaces)?;
        }
        fault::point("sync");
        self.file.sync_all()
    }
}

impl Temporary<'_> {
    /// After this file and the one under `name` changed places: what was there is gone with the temporary name if it is
    /// what was expected; else it gets its name back.
    ///
    /// Whatever else comes out is another's, of a moment ago, and never removed.
    fn keep_or_give_back(&mut self, name: &OsStr, expected: &Stat) -> io::Result<Put> {
        let own = handle::identity(&self.file.metadata()?);
        self.is_there = false;
        if is_there(self.dir, &self.name, expected)? {
            self.is_there = true;
            return Ok(Put::Done);
        }
        for _ in 0..TRIES {
            let held = self.dir.stat(&self.name)?;
            match self.dir.exchange(&self.name, name) {
                Ok(()) => {}
                // What was put there was removed meanwhile, and the name is free.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return match self.dir.rename_new(&self.name, self.dir, name) {
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
            // Somebody put a newer one there than the one that was given back: that one stays, and what it was put in
            // the place of is what came back.
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
            // What cannot be removed now is when it is old.
            let _ = self.dir.remove(&self.name);
        }
    }
}

fn temporary_name() -> io::Result<OsString> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(stale::name(u64::from_be_bytes(random)).into())
}

//! A file that a change took away, until the change is final.

use super::Workspace;
use super::handle::{Dir, Stat};
use super::target::{Expected, Target};
use super::temporary::{Put, Temporary, is_same_file, temporary_name};
use super::version::FileVersion;
use super::{fault, held};
use crate::temporary_names::NotedName;
use std::ffi::OsString;
use std::io;
use toolkit_core::error::ToolError;

/// A file that was removed or replaced, under a temporary name in the same directory. Dropping this removes the file;
/// until then it can be put back unchanged, with its mode, times and attributes.
#[derive(Debug)]
#[must_use = "what is dropped is removed"]
pub struct DisplacedFile {
    workspace: Workspace,
    dir: Dir,
    /// The temporary name.
    name: OsString,
    is_there: bool,
    what: Stat,
    /// The version that the session knew.
    version: Option<FileVersion>,
    /// Dropped after the file is removed.
    _noted: Option<NotedName>,
}

impl DisplacedFile {
    pub(super) fn new(
        target: &Target,
        (dir, name): (Dir, OsString),
        what: Stat,
        expected: &Expected,
        noted: Option<NotedName>,
    ) -> Self {
        let version = match expected {
            Expected::Version(version) => Some(version.clone()),
            _ => None,
        };
        let workspace = target.workspace.clone();
        Self { workspace, dir, name, is_there: true, what, version, _noted: noted }
    }

    /// Puts the file back to the place of `target`, from which it was taken and where the present file has to match
    /// `now`. Blocks.
    ///
    /// # Errors
    ///
    /// As [`Target::write`].
    pub fn give_back(mut self, target: &Target, now: &Expected) -> Result<(), ToolError> {
        let refused = |error: &io::Error| target.refused(error);
        let existing = target.check(&self.dir, now)?;
        if existing.is_some() {
            let dir = self.dir.try_clone().map_err(|error| refused(&error))?;
            self.is_there = false;
            let mut back = Temporary::of(&dir, self.name.clone(), &self.what);
            match target.put(&mut back, existing.as_ref()) {
                // The file that was there is removed together with the temporary name.
                Ok(Put::Done) => {}
                Ok(Put::Changed) => return Err(target.changed()),
                Err(error) => return Err(refused(&error)),
            }
        } else {
            let _until_put = held::lock(&self.dir);
            fault::point("give it its name back");
            self.dir.rename_new(&self.name, &self.dir, &target.name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => target.changed(),
                _ => refused(&error),
            })?;
            self.is_there = false;
        }
        self.dir.sync().map_err(|error| refused(&error))?;
        match &self.version {
            Some(version) => self.workspace.edited(&target.real, version.clone()),
            None => self.workspace.forget(&target.real),
        }
        Ok(())
    }

    /// Removes the file permanently.
    pub(super) fn remove(mut self) -> io::Result<()> {
        self.is_there = false;
        fault::point("remove");
        self.dir.remove(&self.name)?;
        self.dir.sync()
    }
}

impl Drop for DisplacedFile {
    fn drop(&mut self) {
        if self.is_there {
            fault::point("remove");
            // A file that cannot be removed now is removed later, when it is old.
            let _ = self.dir.remove(&self.name);
        }
    }
}

impl Target {
    /// Takes the file away; dropping the result removes the file. Blocks.
    ///
    /// # Errors
    ///
    /// As [`remove`](Self::remove).
    pub fn take_away(&self, expected: &Expected) -> Result<DisplacedFile, ToolError> {
        self.tell_change(None)?;
        let refused = |error: &io::Error| self.refused(error);
        let Some(dir) = self.parent().map_err(|error| refused(&error))? else { return Err(self.absent()) };
        let until_taken = held::lock(&dir);
        let Some(existing) = self.check(&dir, expected)? else { return Err(self.absent()) };
        let name = temporary_name().map_err(|error| refused(&error))?;
        let noted = self.noted(&name);
        // Under a temporary name, it can be checked that it is the expected file.
        fault::point("take the name away");
        dir.rename_new(&self.name, &dir, &name).map_err(|error| refused(&error))?;
        let taken = dir.stat(&name).map_err(|error| refused(&error))?;
        if !is_same_file(&taken, &existing) {
            dir.rename_new(&name, &dir, &self.name).map_err(|error| self.left_at(&name, &error))?;
            return Err(self.changed());
        }
        drop(until_taken);
        self.workspace.forget(&self.real);
        Ok(DisplacedFile::new(self, (dir, name), taken, expected, noted))
    }
}

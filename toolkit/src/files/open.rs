//! Opens files for reading.

use super::handle::{self, Any, Dir, FileKind};
use super::opened::{OpenError, OpenedDirectory, OpenedFile, OpenedPath, OpenedPlace, PathRepair};
use super::{Workspace, repair};
use crate::file_access::leave::{Asked, Granted, MAX_LOOKS, Weighed, restless};
use crate::permission::PathDecision;
use crate::workspace::{Look, Obstacle, Place};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;
use toolkit_core::ask::Access;
use toolkit_core::error::{ToolError, ToolErrorKind};

/// The result of one attempt to open a path.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is taken apart at once")]
enum Step {
    Opened(OpenedPath),
    /// A person has to be asked first.
    Asks(Box<Asked>),
    /// The path does not exist, but another path was probably meant.
    Repaired(PathRepair),
    /// Another process changed the file meanwhile.
    Again,
}

/// The result of one attempt, together with the work for the opened file.
enum Next<T, F> {
    Done(T),
    Asks(Box<Asked>, F),
    Repaired(PathRepair, F),
    Again(F),
}

impl Workspace {
    /// Opens a file or directory for reading, once it may be read; asks a person if necessary.
    ///
    /// If the path does not exist and exactly one existing path was probably meant, that one is opened: without a leading `@`, with `~`
    /// or `file://` resolved, or with a name that differs only in kinds of spaces, quotes or accents. [`OpenedPath::repaired`] then tells
    /// both paths.
    ///
    /// # Errors
    ///
    /// As [`ToolContext::check_file_access`](crate::ToolContext::check_file_access). `NotFound` lists up to three similar names, of files
    /// that may be read without a question. Pipes, sockets and devices are refused.
    pub async fn open(&self, path: impl AsRef<Path>) -> Result<OpenedPath, ToolError> {
        self.open_with(path, |opened, _| Ok(opened)).await
    }

    /// Opens as [`open`](Self::open) does, and runs `work` with the opened file, on the same blocking thread of tokio. For small files
    /// this takes half as long as [`open`](Self::open) and [`ToolContext::blocking`](crate::ToolContext::blocking), which each wait for a
    /// thread.
    ///
    /// `work` should check the token regularly, like the work of [`ToolContext::blocking`](crate::ToolContext::blocking).
    ///
    /// ```
    /// use std::io::Read as _;
    /// use toolkit::prelude::*;
    /// use toolkit::files::OpenedPath;
    ///
    /// /// Counts the lines of a file.
    /// #[tool(read_only)]
    /// async fn lines(ctx: &ToolContext, /** The file. */ path: &Path) -> Result<usize, ToolError> {
    ///     let count = |opened, _: &_| {
    ///         let OpenedPath::File(file) = opened else { return Err(ToolError::failed("name a file")) };
    ///         let mut text = String::new();
    ///         file.into_file().take(1 << 20).read_to_string(&mut text)?;
    ///         Ok(text.lines().count())
    ///     };
    ///     ctx.workspace().open_with(path, count).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and the errors of `work`.
    pub async fn open_with<T: Send + 'static>(
        &self,
        path: impl AsRef<Path>,
        work: impl FnOnce(OpenedPath, &CancellationToken) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        Ok(self.open_asking(path.as_ref(), work).await?.0)
    }

    /// Opens as [`open_with`](Self::open_with) does; also returns true if a person was asked.
    pub(super) async fn open_asking<T: Send + 'static>(
        &self,
        given: &Path,
        work: impl FnOnce(OpenedPath, &CancellationToken) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<(T, bool), ToolError> {
        let mut path = repair::literal(given);
        let mut repaired: Option<PathRepair> = None;
        let mut granted = Vec::new();
        let mut work = Some(work);
        // No test counts how often it looks again: links would have to change all the time.
        for _ in 0..2 * MAX_LOOKS {
            let Some(waits) = work.take() else { break };
            let (workspace, to) = (self.clone(), given.to_owned());
            let (at, repaired_now, granted_now) = (path.clone(), repaired.clone(), granted.clone());
            let step = move |token: &CancellationToken| {
                Ok(match workspace.look_and_open(&to, &at, repaired_now, &granted_now)? {
                    Step::Opened(opened) => Next::Done(waits(opened, token)?),
                    Step::Asks(asked) => Next::Asks(asked, waits),
                    Step::Repaired(found) => Next::Repaired(found, waits),
                    Step::Again => Next::Again(waits),
                })
            };
            match self.ctx.blocking(step).await? {
                Next::Done(done) => return Ok((done, !granted.is_empty())),
                Next::Asks(asked, waits) => {
                    self.ctx.ask_person(asked.ask, "tool").await?;
                    granted.push(asked.granted);
                    work = Some(waits);
                }
                Next::Repaired(found, waits) => {
                    path.clone_from(&found.used);
                    repaired = Some(found);
                    work = Some(waits);
                }
                Next::Again(waits) => work = Some(waits),
            }
        }
        Err(restless(given))
    }

    /// Resolves a path, decides, and opens the file. Blocks.
    fn look_and_open(
        &self,
        given: &Path,
        path: &Path,
        repaired: Option<PathRepair>,
        granted: &[Granted],
    ) -> Result<Step, ToolError> {
        let weighed = self.ctx.weigh_path_now(path, Access::Read, granted, || self.surroundings())?;
        let place = match weighed {
            Weighed::Asks(asked) => return Ok(Step::Asks(asked)),
            Weighed::OwnOutput(path) => return self.open_own_output(&path).map(Step::Opened),
            Weighed::Allowed(seen) => seen.1,
        };
        let absent = match place.obstacle.clone() {
            None => {
                let opened = self.open_place(&place, repaired)?;
                return Ok(opened.map_or(Step::Again, Step::Opened));
            }
            Some(Obstacle::Absent(error)) if repaired.is_none() => error,
            Some(Obstacle::Absent(error) | Obstacle::Unusable(error)) => return Err(error),
        };
        self.repair(given, &place, absent).map(Step::Repaired)
    }

    /// Opens a regular file for reading if no person has to be asked, for example when walking over many files. Blocks briefly.
    ///
    /// # Errors
    ///
    /// When the file is not opened, with the reason. The error does not reveal if a file that has to be asked about exists.
    pub fn try_open(&self, path: impl AsRef<Path>) -> Result<OpenedFile, OpenError> {
        let path = path.as_ref();
        let roots = self.roots().map_err(OpenError::Unusable)?;
        // Most files of a walk are at the place that their path names. The path itself is decided first; if it contains a symlink, the
        // file is not opened, and the path is resolved.
        if let Some((root, within)) = roots.named(path) {
            let real: PathBuf = root.real.join(within).components().collect();
            if !self.needs_no_leave(&real) {
                return Err(OpenError::NeedsLeave);
            }
            // No test puts a link there between the decision and this, here or below; `swapped` does by luck.
            match root.dir.open_file(within) {
                Err(error) if handle::is_raced(&error) => {}
                opened => return self.regular(opened, real),
            }
        }
        for _ in 0..MAX_LOOKS {
            let place = self.place_without_leave(path)?;
            let Some((root, within)) = roots.holding(&place.real) else { return Err(OpenError::NeedsLeave) };
            match place.obstacle {
                None => {}
                Some(Obstacle::Absent(_)) => return Err(OpenError::Absent),
                Some(Obstacle::Unusable(error)) => return Err(OpenError::Unusable(error)),
            }
            match root.dir.open_file(within) {
                Err(error) if handle::is_raced(&error) => {}
                opened => return self.regular(opened, place.real.clone()),
            }
        }
        Err(OpenError::Unreadable(io::Error::other("something else keeps changing it")))
    }

    /// Opens a file of a directory, if no person has to be asked.
    pub(super) fn try_open_in(&self, dir: &Dir, of: &Path, name: &OsStr) -> Result<OpenedFile, OpenError> {
        let real = of.join(name);
        if Path::new(name).components().count() != 1 || !self.needs_no_leave(&real) {
            return Err(OpenError::NeedsLeave);
        }
        match dir.open_file(Path::new(name)) {
            // Any other error would come again in `try_open`, so no test can tell what is tried again.
            Err(error) if handle::is_raced(&error) => self.try_open(&real),
            opened => self.regular(opened, real),
        }
    }

    fn regular(&self, opened: io::Result<Any>, real: PathBuf) -> Result<OpenedFile, OpenError> {
        let opened = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => OpenError::Absent,
            _ => OpenError::Unreadable(error),
        })?;
        match opened {
            Any::File(file, metadata) => {
                let shown = self.shown(&real);
                Ok(OpenedFile { file, metadata, place: OpenedPlace { real, shown, repaired: None } })
            }
            Any::Directory(_) => Err(OpenError::Kind(FileKind::Directory)),
            Any::Special => Err(OpenError::Kind(FileKind::Special)),
        }
    }

    /// Returns true if a real path within the workspace may be read without a question.
    pub(super) fn needs_no_leave(&self, real: &Path) -> bool {
        let Ok(roots) = self.roots() else { return false };
        // Without rules about reading, only the path's name can require a question.
        if roots.is_plain(real) {
            return true;
        }
        let place = roots.place(real);
        place.is_inside() && self.ctx.decide_reading(&place, roots.own()) == PathDecision::Allow
    }

    /// Returns true if the rules deny reading a real path.
    pub(super) fn is_denied(&self, real: &Path) -> bool {
        let Ok(roots) = self.roots() else { return true };
        matches!(self.ctx.decide_reading(&roots.place(real), roots.own()), PathDecision::Deny { .. })
    }

    /// Resolves a path, if it is within the workspace and may be read without a question.
    pub(super) fn place_without_leave(&self, path: &Path) -> Result<Place, OpenError> {
        let (decided, place) =
            self.ctx.look_at(path, Access::Read, Look::Inside).map_err(OpenError::Unusable)?;
        match decided.decision {
            PathDecision::Allow if place.is_inside() => Ok(place),
            _ => Err(OpenError::NeedsLeave),
        }
    }

    /// Opens the file that was decided about; returns `None` if there is a symlink by now.
    fn open_place(
        &self,
        place: &Place,
        repaired: Option<PathRepair>,
    ) -> Result<Option<OpenedPath>, ToolError> {
        let real = place.real.clone();
        let shown = self.shown(&real);
        let cannot = |error: &io::Error| cannot("open", &shown, error);
        let roots = self.roots()?;
        let opened = match roots.holding(&real) {
            Some((root, within)) => root.dir.open_any(within),
            None => roots.reaching(&real).and_then(|(dir, within)| dir.open_any(&within)),
        };
        let opened = match opened {
            // No test puts a link there between the decision and this, or has an error only here.
            Err(error) if handle::is_raced(&error) => return Ok(None),
            opened => opened.map_err(|error| cannot(&error))?,
        };
        let place = OpenedPlace { real, shown, repaired };
        Ok(Some(match opened {
            Any::File(file, metadata) => OpenedPath::File(OpenedFile { file, metadata, place }),
            Any::Directory(dir) => {
                OpenedPath::Directory(OpenedDirectory { workspace: self.clone(), dir, place })
            }
            Any::Special => {
                let kind = FileKind::Special.words();
                return Err(ToolError::failed(format!("{} is not a regular file but {kind}", place.shown)));
            }
        }))
    }

    /// Opens a whole output of this session. Its directory may be reached through symlinks, which the user running the program made.
    fn open_own_output(&self, path: &Path) -> Result<OpenedPath, ToolError> {
        let shown = self.shown(path);
        let open = || {
            let name = path.file_name().ok_or(ErrorKind::NotFound)?;
            let directory = path.parent().ok_or(ErrorKind::NotFound)?.canonicalize()?;
            let any = Dir::open_root(&directory)?.open_any(Path::new(name))?;
            Ok::<_, io::Error>((any, directory.join(name)))
        };
        match open().map_err(|error| cannot("open", &shown, &error))? {
            (Any::File(file, metadata), real) => {
                let place = OpenedPlace { real, shown, repaired: None };
                Ok(OpenedPath::File(OpenedFile { file, metadata, place }))
            }
            _ => Err(ToolError::not_found(format!("{shown} does not exist"))),
        }
    }
}

/// Returns the error for an operation that the system refused.
pub(super) fn cannot(what: &str, shown: &str, error: &io::Error) -> ToolError {
    match error.kind() {
        ErrorKind::NotFound => ToolError::not_found(format!("{shown} does not exist")),
        ErrorKind::NotADirectory => ToolError::not_found(format!(
            "{shown} cannot exist: a part of its path is a file, not a directory"
        )),
        ErrorKind::PermissionDenied => {
            // A file is replaced by a new one, for which its directory must be writable.
            let whose = if what == "write" {
                "its permissions, or those of its directory"
            } else {
                "its permissions"
            };
            ToolError::new(
                ToolErrorKind::Unavailable,
                format!(
                    "cannot {what} {shown}: the current user has no permission; ask the person to change {whose}"
                ),
            )
        }
        _ => ToolError::failed(format!("cannot {what} {shown}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_of_the_system_has_its_words() {
        for (kind, expected, text) in [
            (ErrorKind::NotFound, ToolErrorKind::NotFound, "f does not exist"),
            (
                ErrorKind::NotADirectory,
                ToolErrorKind::NotFound,
                "f cannot exist: a part of its path is a file",
            ),
            (
                ErrorKind::PermissionDenied,
                ToolErrorKind::Unavailable,
                "cannot write f: the current user has no permission; ask the person to change its permissions, or those of its \
                 directory",
            ),
            (ErrorKind::StorageFull, ToolErrorKind::Failed, "cannot write f: "),
        ] {
            let error = cannot("write", "f", &kind.into());
            assert!(error.kind() == expected && error.message().starts_with(text), "{error}");
        }
    }
}

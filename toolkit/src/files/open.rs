//! Opening for reading.

use super::handle::{self, Any, Dir, FileKind};
use super::opened::{Opened, OpenedDirectory, OpenedFile, OpenedPlace, Refused, Repaired};
use super::{Workspace, repair};
use crate::ask::Access;
use crate::context::leave::{MOST_LOOKS, Weighed, restless};
use crate::error::{ToolError, ToolErrorKind};
use crate::permission::PathDecision;
use crate::workspace::{Look, Obstacle, Place};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

impl Workspace {
    /// Opens a file or directory for reading, once it may be read; asks a person where that is needed.
    ///
    /// Where nothing is at the path, and exactly one thing is where it may have been meant (without a leading `@`, with
    /// `~` or `file://` understood, or under a name that differs in kinds of spaces, quotes or accents alone), that is
    /// opened and says so: see [`Opened::repaired`].
    ///
    /// # Errors
    ///
    /// As [`ToolContext::check_file_access`](crate::ToolContext::check_file_access). `NotFound` names up to three similar
    /// names, of those that need no leave. Pipes, sockets and devices are refused.
    pub async fn open(&self, path: impl AsRef<Path>) -> Result<Opened, ToolError> {
        Ok(self.open_asking(path.as_ref()).await?.0)
    }

    /// The same, and whether leave had to be asked for.
    pub(super) async fn open_asking(&self, given: &Path) -> Result<(Opened, bool), ToolError> {
        let mut path = repair::literal(given);
        let mut repaired: Option<Repaired> = None;
        let mut granted = Vec::new();
        for _ in 0..2 * MOST_LOOKS {
            match self.ctx.weigh_path(&path, Access::Read, &granted).await? {
                Weighed::Asks(asked) => {
                    self.ctx.ask_person(asked.ask, "tool").await?;
                    granted.push(asked.granted);
                }
                Weighed::OwnOutput(path) => {
                    let workspace = self.clone();
                    let opened = self.ctx.blocking(move |_| workspace.open_own_output(&path)).await?;
                    return Ok((opened, false));
                }
                Weighed::Allowed(seen) => {
                    let place = seen.1;
                    let absent = match place.obstacle.clone() {
                        None => {
                            let (workspace, repaired) = (self.clone(), repaired.clone());
                            let open = move |_: &_| workspace.open_place(&place, repaired);
                            match self.ctx.blocking(open).await? {
                                Some(opened) => return Ok((opened, !granted.is_empty())),
                                None => continue,
                            }
                        }
                        Some(Obstacle::Absent(error)) if repaired.is_none() => error,
                        Some(Obstacle::Absent(error) | Obstacle::Unusable(error)) => return Err(error),
                    };
                    let (workspace, given) = (self.clone(), given.to_owned());
                    let find = move |_: &_| Ok(workspace.repair(&given, &place, absent));
                    let found = self.ctx.blocking(find).await??;
                    path.clone_from(&found.used);
                    repaired = Some(found);
                }
            }
        }
        Err(restless(given))
    }

    /// Opens a regular file for reading if no person has to be asked for that, as when walking over many. Blocks, for a
    /// moment.
    ///
    /// # Errors
    ///
    /// When it is not opened, and why. Whether something is there that needs to be asked for is not told.
    pub fn try_open(&self, path: impl AsRef<Path>) -> Result<OpenedFile, Refused> {
        let path = path.as_ref();
        let roots = self.roots().map_err(Refused::Unusable)?;
        // Most files of a walk stand where their name says. What the name says is decided first; if a link is on the
        // way, nothing is opened, and it is looked where it leads.
        if let Some((root, within)) = roots.named(path) {
            let real: PathBuf = root.real.join(within).components().collect();
            if !self.needs_no_leave(&real) {
                return Err(Refused::NeedsLeave);
            }
            match root.dir.open_file(within) {
                Err(error) if handle::is_raced(&error) => {}
                opened => return self.regular(opened, real),
            }
        }
        for _ in 0..MOST_LOOKS {
            let place = self.place_without_leave(path)?;
            let Some((root, within)) = roots.holding(&place.real) else { return Err(Refused::NeedsLeave) };
            match place.obstacle {
                None => {}
                Some(Obstacle::Absent(_)) => return Err(Refused::Absent),
                Some(Obstacle::Unusable(error)) => return Err(Refused::Unusable(error)),
            }
            match root.dir.open_file(within) {
                Err(error) if handle::is_raced(&error) => {}
                opened => return self.regular(opened, place.real.clone()),
            }
        }
        Err(Refused::Unreadable(io::Error::other("something else keeps changing it")))
    }

    /// Opens a file of a directory, if that needs no leave.
    pub(super) fn try_open_in(&self, dir: &Dir, of: &Path, name: &OsStr) -> Result<OpenedFile, Refused> {
        let real = of.join(name);
        if Path::new(name).components().count() != 1 || !self.needs_no_leave(&real) {
            return Err(Refused::NeedsLeave);
        }
        match dir.open_file(Path::new(name)) {
            Err(error) if handle::is_raced(&error) => self.try_open(&real),
            opened => self.regular(opened, real),
        }
    }

    fn regular(&self, opened: io::Result<Any>, real: PathBuf) -> Result<OpenedFile, Refused> {
        let opened = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Refused::Absent,
            _ => Refused::Unreadable(error),
        })?;
        match opened {
            Any::File(file, metadata) => {
                let shown = self.shown(&real);
                Ok(OpenedFile { file, metadata, place: OpenedPlace { real, shown, repaired: None } })
            }
            Any::Directory(_) => Err(Refused::Kind(FileKind::Directory)),
            Any::Special => Err(Refused::Kind(FileKind::Special)),
        }
    }

    /// Whether a real path within the workspace may be read without a question.
    pub(super) fn needs_no_leave(&self, real: &Path) -> bool {
        let Ok(roots) = self.roots() else { return false };
        // Where no rule speaks of reading, only what a path is called can make it ask.
        if roots.is_plain(real) {
            return true;
        }
        let place = roots.place(real);
        place.is_inside() && self.ctx.decide_reading(&place, roots.own()) == PathDecision::Allow
    }

    /// Whether the rules deny that what is at a real path is read.
    pub(super) fn is_denied(&self, real: &Path) -> bool {
        let Ok(roots) = self.roots() else { return true };
        matches!(self.ctx.decide_reading(&roots.place(real), roots.own()), PathDecision::Deny { .. })
    }

    /// Where a path leads, if that is within the workspace and may be read without a question.
    pub(super) fn place_without_leave(&self, path: &Path) -> Result<Place, Refused> {
        let (decided, place) =
            self.ctx.look_at(path, Access::Read, Look::Inside).map_err(Refused::Unusable)?;
        match decided.decision {
            PathDecision::Allow if place.is_inside() => Ok(place),
            _ => Err(Refused::NeedsLeave),
        }
    }

    /// Opens what was decided about; `None` where a link stands there by now.
    fn open_place(&self, place: &Place, repaired: Option<Repaired>) -> Result<Option<Opened>, ToolError> {
        let real = place.real.clone();
        let shown = self.shown(&real);
        let cannot = |error: &io::Error| cannot("open", &shown, error);
        let (dir, within) = self.roots()?.reaching(&real).map_err(|error| cannot(&error))?;
        let opened = match dir.open_any(&within) {
            Err(error) if handle::is_raced(&error) => return Ok(None),
            opened => opened.map_err(|error| cannot(&error))?,
        };
        let place = OpenedPlace { real, shown, repaired };
        Ok(Some(match opened {
            Any::File(file, metadata) => Opened::File(OpenedFile { file, metadata, place }),
            Any::Directory(dir) => Opened::Directory(OpenedDirectory { workspace: self.clone(), dir, place }),
            Any::Special => {
                let kind = FileKind::Special.words();
                return Err(ToolError::failed(format!("{} is not a regular file but {kind}", place.shown)));
            }
        }))
    }

    /// A whole output of this session. Its directory may stand behind links, which whoever runs the program made.
    fn open_own_output(&self, path: &Path) -> Result<Opened, ToolError> {
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
                Ok(Opened::File(OpenedFile { file, metadata, place }))
            }
            _ => Err(ToolError::not_found(format!("{shown} does not exist"))),
        }
    }
}

/// What the system refused, in words.
pub(super) fn cannot(what: &str, shown: &str, error: &io::Error) -> ToolError {
    match error.kind() {
        ErrorKind::NotFound => ToolError::not_found(format!("{shown} does not exist")),
        ErrorKind::NotADirectory => ToolError::not_found(format!(
            "{shown} cannot be there: a part of its path is a file, not a directory"
        )),
        ErrorKind::PermissionDenied => {
            // A file is replaced by a new one, which its directory has to let in.
            let whose = if what == "write" {
                "its permissions, or those of its directory"
            } else {
                "its permissions"
            };
            ToolError::new(
                ToolErrorKind::Unavailable,
                format!(
                    "cannot {what} {shown}: the user who runs this may not; ask the person to change {whose}"
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
                "f cannot be there: a part of its path is a file",
            ),
            (
                ErrorKind::PermissionDenied,
                ToolErrorKind::Unavailable,
                "cannot write f: the user who runs this may not; ask the person to change its permissions, or those of its \
                 directory",
            ),
            (ErrorKind::StorageFull, ToolErrorKind::Failed, "cannot write f: "),
        ] {
            let error = cannot("write", "f", &kind.into());
            assert!(error.kind() == expected && error.message().starts_with(text), "{error}");
        }
    }
}

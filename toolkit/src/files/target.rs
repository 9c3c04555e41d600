//! A file that is to be written: what is proposed, what a person allows, and where it then goes.

use super::handle::{self, Any, Dir, FileKind};
use super::made::Missing;
use super::open::cannot;
use super::opened::{Refused, Repaired};
use super::version::{ContentHash, FileVersion};
use super::{Workspace, repair};
use crate::ask::{Access, Ask};
use crate::error::{ToolError, ToolErrorKind};
use crate::file_access::leave::{Granted, MAX_LOOKS, Weighed, denied, restless};
use crate::workspace::{Obstacle, Place};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// A file that is to be written, before anybody was asked.
#[derive(Debug)]
#[must_use]
pub struct Proposal {
    pub(super) workspace: Workspace,
    /// The path that was given, or what it was repaired to.
    pub(super) path: PathBuf,
    pub(super) repaired: Option<Repaired>,
    pub(super) granted: Vec<Granted>,
    pub(super) weighed: Weighed,
}

/// What stands where a file is to be written, as far as that may be known before a person is asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Before {
    /// Nothing.
    Absent,
    /// A file.
    File(FileContent),
    /// It may not be known before the question: it is outside the workspace, or reading it needs to be asked for.
    Unknown,
}

/// The whole content of a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FileContent {
    /// The content.
    pub bytes: Vec<u8>,
    /// Which version it is.
    pub version: FileVersion,
    /// How many names it has beside this one: hard links. They keep what they have when this one is written.
    pub other_names: u64,
    /// Whether its owner may execute it; `None` where the system has no bit for that.
    pub executable: Option<bool>,
}

/// What has to be there still when a file is written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Expected {
    /// Nothing.
    Absent,
    /// This version.
    Version(FileVersion),
    /// Whatever is there.
    Any,
}

impl Before {
    /// What has to be there still when it is written; `None` where that is not known yet.
    pub fn expected(&self) -> Option<Expected> {
        match self {
            Self::Absent => Some(Expected::Absent),
            Self::File(content) => Some(Expected::Version(content.version.clone())),
            Self::Unknown => None,
        }
    }
}

impl Workspace {
    /// Looks at where a file is to be written, which need not exist. It asks nothing.
    ///
    /// A path with `~` or `file://` at its beginning is understood, unless something stands under just that name; and where
    /// exactly one file is there that such a path can mean, under a name that only looks alike, it is that file.
    ///
    /// # Errors
    ///
    /// As [`ToolContext::check_file_access`](crate::ToolContext::check_file_access), where it is denied without a
    /// question.
    pub async fn propose(&self, path: impl AsRef<Path>) -> Result<Proposal, ToolError> {
        let given = path.as_ref();
        let proposal = self.propose_at(repair::literal(given), None).await?;
        if !proposal.is_absent() {
            return Ok(proposal);
        }
        if given.as_os_str().as_encoded_bytes().ends_with(b"/") {
            let given = super::opened::shown(given);
            let message = format!("{given} names a directory, by the `/` at its end; name a file");
            return Err(ToolError::new(ToolErrorKind::InvalidArguments, message));
        }
        if !repair::is_elsewhere(given) {
            let (Some(place), path) = (proposal.place().cloned(), given.to_owned()) else {
                return Ok(proposal);
            };
            let workspace = self.clone();
            let found = self.ctx.blocking(move |_| Ok(workspace.already_there(&path, &place))).await?;
            return match found {
                Some(found) => self.propose_at(found.used.clone(), Some(found)).await,
                None => Ok(proposal),
            };
        }
        let Some(used) = repair::translated(given).filter(|used| used != given) else {
            return Ok(proposal);
        };
        let repaired = Repaired { given: given.to_owned(), used: used.clone() };
        self.propose_at(used, Some(repaired)).await
    }

    /// The same for a file that has to exist: as [`open`](Self::open) it repairs what was probably meant.
    ///
    /// # Errors
    ///
    /// Also `NotFound`, where it is known that nothing is there.
    pub async fn propose_existing(&self, path: impl AsRef<Path>) -> Result<Proposal, ToolError> {
        let given = path.as_ref();
        let proposal = self.propose_at(repair::literal(given), None).await?;
        let place = match &proposal.weighed {
            Weighed::Allowed(seen) => &seen.1,
            Weighed::Asks(asked) if asked.place.is_inside() => &asked.place,
            _ => return Ok(proposal),
        };
        let Some(Obstacle::Absent(absent)) = place.obstacle.clone() else { return Ok(proposal) };
        // Whether it is there may be told only where it may be read.
        let (workspace, path, place) = (self.clone(), given.to_owned(), place.clone());
        let find = move |_: &_| {
            let is_known = workspace.needs_no_leave(&place.real);
            is_known.then(|| workspace.repair(&path, &place, absent)).transpose()
        };
        match self.ctx.blocking(find).await? {
            Some(found) => self.propose_at(found.used.clone(), Some(found)).await,
            None => Ok(proposal),
        }
    }

    /// Looks where a file is to be written, and has it allowed: `show` completes the question with the change.
    ///
    /// # Errors
    ///
    /// As [`propose`](Self::propose) and [`Proposal::ask`].
    pub async fn target(
        &self,
        path: impl AsRef<Path>,
        show: impl Fn(Ask) -> Ask + Send + Sync,
    ) -> Result<Target, ToolError> {
        self.propose(path).await?.ask(show).await
    }

    async fn propose_at(&self, path: PathBuf, repaired: Option<Repaired>) -> Result<Proposal, ToolError> {
        let weighed = self.ctx.weigh_path(&path, Access::Write, &[]).await?;
        Ok(Proposal { workspace: self.clone(), path, repaired, granted: Vec::new(), weighed })
    }
}

impl Proposal {
    /// How the path was repaired, where it was.
    pub fn repaired(&self) -> Option<&Repaired> {
        self.repaired.as_ref()
    }

    /// Where it leads, as far as that may be known: without any link within the workspace; outside it as it was given,
    /// absolute.
    pub fn path(&self) -> &Path {
        self.place().map_or(&self.path, |place| &place.real)
    }

    /// Its path for texts: relative to the workspace within it, else absolute; in one line.
    pub fn shown(&self) -> String {
        match self.place() {
            Some(place) => super::opened::shown(place.relative(&place.real)),
            None => super::opened::shown(&self.path),
        }
    }

    /// Whether the path names a symbolic link, as far as that may be known: what is written is what it leads to.
    pub fn is_link(&self) -> bool {
        self.place().is_some_and(|place| place.is_link)
    }

    /// Whether a person has to be asked.
    pub fn is_asked(&self) -> bool {
        matches!(self.weighed, Weighed::Asks(_))
    }

    /// What is there now, if that may be known before a person is asked; of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// When no file can be written there, as where a directory is, or the file has more bytes.
    pub async fn before(&self, most: u64) -> Result<Before, ToolError> {
        let Some(place) = self.place().cloned() else { return Ok(Before::Unknown) };
        let workspace = self.workspace.clone();
        let read = move |_: &_| match workspace.try_open(&place.real) {
            Ok(file) => {
                let shown = file.shown().to_owned();
                read_whole(&file.file, file.metadata, most, &shown).map(Before::File)
            }
            Err(Refused::NeedsLeave) => Ok(Before::Unknown),
            Err(Refused::Absent) => Ok(Before::Absent),
            Err(Refused::Kind(kind)) => Err(no_file(&workspace.shown(&place.real), kind)),
            Err(Refused::Unreadable(error)) => Err(cannot("read", &workspace.shown(&place.real), &error)),
            Err(Refused::Unusable(error)) => Err(error),
        };
        self.workspace.ctx.blocking(read).await
    }

    /// Has it allowed, asking a person where that is needed; `show` completes the question with the change. What is
    /// returned holds the directory in which the file stands or is to stand.
    ///
    /// # Errors
    ///
    /// As [`ToolContext::check_file_access`](crate::ToolContext::check_file_access), and where no file can be written.
    pub async fn ask(mut self, show: impl Fn(Ask) -> Ask + Send + Sync) -> Result<Target, ToolError> {
        for _ in 0..2 * MAX_LOOKS {
            match self.weighed {
                Weighed::OwnOutput(path) => {
                    return Err(denied(
                        &path,
                        Access::Write,
                        "it is a whole output, which no tool may change",
                    ));
                }
                Weighed::Asks(asked) => {
                    self.workspace.ctx.ask_person(show(asked.ask), "tool").await?;
                    // Somebody may have taken their time over it: what was there may be elsewhere now.
                    self.granted.push(asked.granted);
                }
                Weighed::Allowed(seen) => {
                    let (workspace, repaired) = (self.workspace.clone(), self.repaired.clone());
                    let bind = move |_: &_| Target::bind(workspace, seen.1, repaired);
                    if let Some(target) = self.workspace.ctx.blocking(bind).await? {
                        return Ok(target);
                    }
                }
            }
            self.weighed = self.workspace.ctx.weigh_path(&self.path, Access::Write, &self.granted).await?;
        }
        Err(restless(&self.path))
    }

    fn place(&self) -> Option<&Place> {
        match &self.weighed {
            Weighed::OwnOutput(_) => None,
            Weighed::Allowed(seen) => Some(&seen.1),
            Weighed::Asks(asked) => Some(&asked.place),
        }
    }

    /// Whether it is known that nothing is there.
    fn is_absent(&self) -> bool {
        self.place().is_some_and(|place| matches!(place.obstacle, Some(Obstacle::Absent(_))))
    }
}

/// A file that may be written, by the handle of the directory that it is in. What blocks here does so for as long as
/// the disk takes.
#[derive(Debug)]
pub struct Target {
    pub(super) workspace: Workspace,
    /// The directory it is in, or the nearest one above that is there.
    pub(super) dir: Dir,
    pub(super) missing: Missing,
    pub(super) name: OsString,
    pub(super) real: PathBuf,
    pub(super) shown: String,
    repaired: Option<Repaired>,
    is_link: bool,
}

impl Target {
    /// Holds the place that was decided about; `None` where a link stands by now.
    pub(super) fn bind(
        workspace: Workspace,
        place: Place,
        repaired: Option<Repaired>,
    ) -> Result<Option<Self>, ToolError> {
        if let Some(Obstacle::Unusable(error)) = place.obstacle {
            return Err(error);
        }
        let (real, is_link) = (place.real, place.is_link);
        let shown = workspace.shown(&real);
        let (Some(name), Some(_)) = (real.file_name().map(OsStr::to_owned), real.parent()) else {
            return Err(no_file(&shown, FileKind::Directory));
        };
        let (root, within) =
            workspace.roots()?.reaching(&real).map_err(|error| cannot("write", &shown, &error))?;
        let mut above = within.parent().unwrap_or(Path::new("")).to_owned();
        if within.as_os_str().is_empty() {
            return Err(no_file(&shown, FileKind::Directory));
        }
        let mut missing = Vec::new();
        let dir = loop {
            match root.open_dir(&above) {
                Ok(dir) => break dir,
                Err(error) if handle::is_raced(&error) => return Ok(None),
                Err(error) if error.kind() == ErrorKind::NotFound => match above.file_name() {
                    Some(name) => {
                        missing.insert(0, name.to_owned());
                        above.pop();
                    }
                    None => return Err(cannot("write", &shown, &error)),
                },
                Err(error) => return Err(cannot("write", &shown, &error)),
            }
        };
        let missing = Missing::new(missing);
        let target = Self { workspace, dir, missing, name, real, shown, repaired, is_link };
        if target.missing.is_empty()
            && let Some(stat) = target.stat_in(&target.dir)?
        {
            match stat.kind {
                FileKind::File => {}
                FileKind::Link => return Ok(None),
                kind => return Err(no_file(&target.shown, kind)),
            }
        }
        Ok(Some(target))
    }

    /// Its path without any link.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// Its path for texts: relative to the workspace within it, else absolute; in one line.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// How the path was repaired, where it was.
    pub fn repaired(&self) -> Option<&Repaired> {
        self.repaired.as_ref()
    }

    /// Whether the path named a symbolic link, which leads here.
    pub fn is_link(&self) -> bool {
        self.is_link
    }

    /// What is there now, of at most `most` bytes; `None` where nothing is. Blocks.
    ///
    /// # Errors
    ///
    /// When it is no file, has more bytes, or cannot be read.
    pub fn read(&self, most: u64) -> Result<Option<FileContent>, ToolError> {
        let cannot = |error: &io::Error| cannot("read", &self.shown, error);
        let Some(dir) = self.parent().map_err(|error| cannot(&error))? else { return Ok(None) };
        match dir.open_any(Path::new(&self.name)) {
            Ok(Any::File(file, metadata)) => read_whole(&file, metadata, most, &self.shown).map(Some),
            Ok(Any::Directory(_)) => Err(no_file(&self.shown, FileKind::Directory)),
            Ok(Any::Special) => Err(no_file(&self.shown, FileKind::Special)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) if handle::is_raced(&error) => Err(no_file(&self.shown, FileKind::Link)),
            Err(error) => Err(cannot(&error)),
        }
    }

    /// What is under its name.
    pub(super) fn stat_in(&self, dir: &Dir) -> Result<Option<handle::Stat>, ToolError> {
        match dir.stat(&self.name) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot("look at", &self.shown, &error)),
        }
    }
}

/// Where no file can be written.
pub(super) fn no_file(shown: &str, kind: FileKind) -> ToolError {
    match kind {
        FileKind::Directory => ToolError::failed(format!("{shown} is a directory; name a file in it")),
        kind => ToolError::failed(format!("{shown} is not a regular file but {}", kind.words())),
    }
}

/// The whole content, of which it is not known how much it is until it is read.
fn read_whole(file: &File, metadata: Metadata, most: u64, shown: &str) -> Result<FileContent, ToolError> {
    let too_long = |bytes: u64| {
        ToolError::failed(format!(
            "{shown} has {bytes} bytes, and a file can have at most {most} here; a command may do what this tool cannot"
        ))
    };
    if metadata.len() > most {
        return Err(too_long(metadata.len()));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).saturating_add(1));
    let mut hash = ContentHash::new();
    loop {
        let part = (most - bytes.len() as u64).saturating_add(1).min(ContentHash::BLOCK as u64);
        let from = bytes.len();
        let mut part = file.take(part);
        let read = part.read_to_end(&mut bytes);
        if read.map_err(|error| cannot("read", shown, &error))? == 0 {
            break;
        }
        hash.update(&bytes[from..]);
        if bytes.len() as u64 > most {
            return Err(too_long(bytes.len() as u64));
        }
    }
    // As it is after it was read: what changes it meanwhile has changed the time.
    let metadata = file.metadata().unwrap_or(metadata);
    let version = FileVersion::of_hashed(hash, &metadata);
    let other_names = handle::names(&metadata).saturating_sub(1);
    let executable = handle::is_executable(&metadata);
    Ok(FileContent { bytes, version, other_names, executable })
}

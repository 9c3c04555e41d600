//! Writing a file in steps: the proposal, the permission, and the target.

use super::handle::{self, Any, Dir, FileKind};
use super::made::Missing;
use super::open::cannot;
use super::opened::{OpenError, PathRepair};
use super::version::{ContentHash, FileVersion};
use super::{Workspace, repair};
use crate::file_access::leave::{Granted, MAX_LOOKS, Weighed, denied, restless};
use crate::memory::{self, ReservedMemory};
use crate::workspace::{Obstacle, Place};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use toolkit_core::ask::{Access, Ask};
use toolkit_core::error::{ToolError, ToolErrorKind};

/// A file that is to be written, before a person was asked.
#[derive(Debug)]
#[must_use]
pub struct Proposal {
    pub(super) workspace: Workspace,
    /// The given path, or its repaired form.
    pub(super) path: PathBuf,
    pub(super) repaired: Option<PathRepair>,
    pub(super) granted: Vec<Granted>,
    pub(super) weighed: Weighed,
}

/// The present state at the place where a file is to be written, as far as it may be known before a person is asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum PriorContent {
    /// There is no file.
    Absent,
    /// A file.
    File(FileContent),
    /// The state may not be known before the question: the path is outside the workspace, or reading it has to be asked
    /// about.
    Unknown,
}

/// The whole content of a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FileContent {
    /// The content.
    pub bytes: Vec<u8>,
    /// The version.
    pub version: FileVersion,
    /// The number of other names of the file: hard links, which keep the old content when this one is written.
    pub other_names: u64,
    /// True if the owner may execute it; `None` if the system has no such bit.
    pub executable: Option<bool>,
    /// The memory for working on it.
    _memory: ReservedMemory,
}

/// Memory for working on a whole file, as a multiple of its size: the content, a changed content, and tables of its lines.
const WORK: u64 = 3;

/// The state that is required when a file is written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Expected {
    /// No file.
    Absent,
    /// This version.
    Version(FileVersion),
    /// Any state.
    Any,
}

impl PriorContent {
    /// Returns the state that is required when the file is written; `None` if it is not known yet.
    pub fn expected(&self) -> Option<Expected> {
        match self {
            Self::Absent => Some(Expected::Absent),
            Self::File(content) => Some(Expected::Version(content.version.clone())),
            Self::Unknown => None,
        }
    }
}

impl Workspace {
    /// Examines the place where a file is to be written, which need not exist. Asks nothing.
    ///
    /// A path that begins with `~` or `file://` is resolved, unless a file with just that name exists; and if exactly one
    /// existing file has a name that only looks like the path, that file is used.
    ///
    /// # Errors
    ///
    /// As [`ToolContext::check_file_access`](crate::ToolContext::check_file_access), if it is denied without a question.
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
        let repaired = PathRepair { given: given.to_owned(), used: used.clone() };
        self.propose_at(used, Some(repaired)).await
    }

    /// Examines as [`propose`](Self::propose) does a file that has to exist; the path is repaired as by
    /// [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// Also `NotFound`, if the file is known not to exist.
    pub async fn propose_existing(&self, path: impl AsRef<Path>) -> Result<Proposal, ToolError> {
        let given = path.as_ref();
        let proposal = self.propose_at(repair::literal(given), None).await?;
        let place = match &proposal.weighed {
            Weighed::Allowed(seen) => &seen.1,
            // The condition only saves the steps below: `needs_no_leave` is false outside. No test can tell.
            Weighed::Asks(asked) if asked.place.is_inside() => &asked.place,
            _ => return Ok(proposal),
        };
        let Some(Obstacle::Absent(absent)) = place.obstacle.clone() else { return Ok(proposal) };
        // Its existence may be revealed only if it may be read.
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

    /// Examines the place where a file is to be written, and gets permission: `show` completes the question with the
    /// change.
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

    async fn propose_at(&self, path: PathBuf, repaired: Option<PathRepair>) -> Result<Proposal, ToolError> {
        let weighed = self.ctx.weigh_path(&path, Access::Write, &[]).await?;
        Ok(Proposal { workspace: self.clone(), path, repaired, granted: Vec::new(), weighed })
    }
}

impl Proposal {
    /// Returns how the path was repaired, if it was.
    pub fn repaired(&self) -> Option<&PathRepair> {
        self.repaired.as_ref()
    }

    /// Returns the target of the path, as far as it may be known: the real path within the workspace; outside it the given
    /// path, absolute.
    pub fn path(&self) -> &Path {
        self.place().map_or(&self.path, |place| &place.real)
    }

    /// Returns its displayed path: relative to the workspace if it is within it, otherwise absolute; in one line.
    pub fn shown(&self) -> String {
        match self.place() {
            Some(place) => super::opened::shown(place.relative(&place.real)),
            None => super::opened::shown(&self.path),
        }
    }

    /// Returns true if the path names a symlink, as far as that may be known: then the symlink's target is written.
    pub fn is_link(&self) -> bool {
        self.place().is_some_and(|place| place.is_link)
    }

    /// Returns true if a person has to be asked.
    pub fn is_asked(&self) -> bool {
        matches!(self.weighed, Weighed::Asks(_))
    }

    /// Returns the present state, if it may be known before a person is asked; a file with at most `most` bytes.
    ///
    /// # Errors
    ///
    /// When no file can be written there, for example at a directory, or the file has more bytes.
    pub async fn before(&self, most: u64) -> Result<PriorContent, ToolError> {
        let Some(place) = self.place().cloned() else { return Ok(PriorContent::Unknown) };
        let workspace = self.workspace.clone();
        let read = move |_: &_| match workspace.try_open(&place.real) {
            Ok(file) => {
                let shown = file.shown().to_owned();
                read_whole(&file.file, file.metadata, most, &shown).map(PriorContent::File)
            }
            Err(OpenError::NeedsLeave) => Ok(PriorContent::Unknown),
            Err(OpenError::Absent) => Ok(PriorContent::Absent),
            Err(OpenError::Kind(kind)) => Err(no_file(&workspace.shown(&place.real), kind)),
            Err(OpenError::Unreadable(error)) => Err(cannot("read", &workspace.shown(&place.real), &error)),
            Err(OpenError::Unusable(error)) => Err(error),
        };
        self.workspace.ctx.blocking(read).await
    }

    /// Gets permission, and asks a person if necessary; `show` completes the question with the change. The returned target
    /// holds the directory of the file.
    ///
    /// # Errors
    ///
    /// As [`ToolContext::check_file_access`](crate::ToolContext::check_file_access), and when no file can be written there.
    pub async fn ask(mut self, show: impl Fn(Ask) -> Ask + Send + Sync) -> Result<Target, ToolError> {
        // No test counts how often it looks again: links would have to change all the time.
        for _ in 0..2 * MAX_LOOKS {
            match self.weighed {
                Weighed::OwnOutput(path) => {
                    return Err(denied(
                        &path,
                        Access::Write,
                        "it is a stored output, which tools cannot change",
                    ));
                }
                Weighed::Asks(asked) => {
                    self.workspace.ctx.ask_person(show(asked.ask), "tool").await?;
                    // The answer may have taken long, and the path may lead elsewhere by now, so it is checked again.
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

    /// Returns true if the file is known not to exist.
    fn is_absent(&self) -> bool {
        self.place().is_some_and(|place| matches!(place.obstacle, Some(Obstacle::Absent(_))))
    }
}

/// A file that may be written, with a handle of its directory. Blocking functions here take as long as the disk does.
#[derive(Debug)]
pub struct Target {
    pub(super) workspace: Workspace,
    /// The file's directory, or the nearest existing one above it.
    pub(super) dir: Dir,
    pub(super) missing: Missing,
    pub(super) name: OsString,
    pub(super) real: PathBuf,
    pub(super) shown: String,
    repaired: Option<PathRepair>,
    is_link: bool,
}

impl Target {
    /// Opens the file's directory, if it exists.
    pub(super) fn parent(&self) -> io::Result<Option<Dir>> {
        self.missing.open(&self.dir)
    }

    /// Opens the file's directory, and creates it and those above it if they are missing.
    pub(super) fn made_parent(&self) -> io::Result<Dir> {
        self.missing.make(&self.dir)
    }

    /// Returns how many of the directories above the file did not exist when the target was bound: writing the file creates
    /// them.
    pub fn missing_directories(&self) -> usize {
        self.missing.len()
    }

    /// Removes the directories that were created for this file, unless they contain something: for a change that is undone.
    /// Blocks.
    pub fn remove_made_directories(&self) {
        self.missing.remove(&self.dir);
    }

    /// Opens the place that was decided about; returns `None` if there is a symlink by now.
    pub(super) fn bind(
        workspace: Workspace,
        place: Place,
        repaired: Option<PathRepair>,
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
                // No test puts a link there after the decision, or has an error other than `NotFound` here.
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

    /// Returns its real path.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// Returns its displayed path: relative to the workspace if it is within it, otherwise absolute; in one line.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns how the path was repaired, if it was.
    pub fn repaired(&self) -> Option<&PathRepair> {
        self.repaired.as_ref()
    }

    /// Returns true if the path named a symlink to this file.
    pub fn is_link(&self) -> bool {
        self.is_link
    }

    /// Reads the present content, of at most `most` bytes; returns `None` if there is no file. Blocks.
    ///
    /// # Errors
    ///
    /// When it is not a regular file, has more bytes, or cannot be read.
    pub fn read(&self, most: u64) -> Result<Option<FileContent>, ToolError> {
        let cannot = |error: &io::Error| cannot("read", &self.shown, error);
        let Some(dir) = self.parent().map_err(|error| cannot(&error))? else { return Ok(None) };
        match dir.open_any(Path::new(&self.name)) {
            Ok(Any::File(file, metadata)) => read_whole(&file, metadata, most, &self.shown).map(Some),
            Ok(Any::Directory(_)) => Err(no_file(&self.shown, FileKind::Directory)),
            Ok(Any::Special) => Err(no_file(&self.shown, FileKind::Special)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // No test has another error here: it would need a file that not even root may read.
            Err(error) if handle::is_raced(&error) => Err(no_file(&self.shown, FileKind::Link)),
            Err(error) => Err(cannot(&error)),
        }
    }

    /// Returns the metadata of the file under its name.
    pub(super) fn stat_in(&self, dir: &Dir) -> Result<Option<handle::Stat>, ToolError> {
        match dir.stat(&self.name) {
            Ok(stat) => Ok(Some(stat)),
            // No test has another error: the directory is open, and the name was looked at before.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot("look at", &self.shown, &error)),
        }
    }
}

/// Returns the error for a place where no file can be written.
pub(super) fn no_file(shown: &str, kind: FileKind) -> ToolError {
    match kind {
        FileKind::Directory => ToolError::failed(format!("{shown} is a directory; name a file in it")),
        kind => ToolError::failed(format!("{shown} is not a regular file but {}", kind.words())),
    }
}

/// Reads the whole content; its size is unknown until it is read.
fn read_whole(file: &File, metadata: Metadata, most: u64, shown: &str) -> Result<FileContent, ToolError> {
    let too_long = |bytes: u64| {
        ToolError::failed(format!(
            "{shown} has {bytes} bytes, and a file can have at most {most} here; a command may do what this tool cannot"
        ))
    };
    if metadata.len() > most {
        return Err(too_long(metadata.len()));
    }
    let memory = memory::reserve(metadata.len().saturating_mul(WORK)).map_err(|error| error.of(shown))?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0).saturating_add(1));
    let mut hash = ContentHash::new();
    loop {
        // A greater part only reads up to a block more before the file is too long: no test can tell.
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
    // The metadata from after reading: a change during the read has changed the time.
    let metadata = file.metadata().unwrap_or(metadata);
    let version = FileVersion::of_hashed(hash, &metadata);
    let other_names = handle::names(&metadata).saturating_sub(1);
    let executable = handle::is_executable(&metadata);
    Ok(FileContent { bytes, version, other_names, executable, _memory: memory })
}

//! Walks over many files below one place, without a question for each.

use super::Workspace;
use super::handle::{Any, Dir, DirectoryEntry, FileKind, Named};
use super::opened::{OpenError, OpenedPath, PathRepair};
use crate::permission::{OwnDirs, PathDecision, is_suspect};
use crate::workspace::{Look, Place};
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use toolkit_core::ask::Access;
use toolkit_core::error::ToolError;

impl Workspace {
    /// Opens a file or directory for a walk over everything below it, once it may be read; asks a person if necessary, for the
    /// whole tree. Files below it are opened through the tree, without further questions.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_tree(&self, path: impl AsRef<Path>) -> Result<OpenedTree, ToolError> {
        let (opened, was_asked) = self.open_asking(path.as_ref(), |opened, _| Ok(opened)).await?;
        let workspace = self.clone();
        self.ctx.blocking(move |_| workspace.tree(opened, was_asked)).await
    }

    fn tree(&self, opened: OpenedPath, was_asked: bool) -> Result<OpenedTree, ToolError> {
        let roots = self.roots()?;
        let repaired = opened.repaired().cloned();
        let (real, root) = match opened {
            OpenedPath::Directory(directory) => (directory.place.real, Start::Directory(directory.dir)),
            OpenedPath::File(file) => (file.place.real, Start::File(file.file)),
        };
        let rules = &self.ctx.scope().rules;
        let mut further: Vec<PathBuf> = roots.further().map(|root| root.real.clone()).collect();
        let mut within = roots.within().cloned();
        let is_inside = roots.is_within(&real);
        // A person who was asked about a place outside was asked about everything below it.
        if !is_inside && was_asked {
            further.push(real.clone());
            if let Some(within) = &mut within {
                within.push(real.clone());
            }
        }
        let inner = Inner {
            own: rules.own_dirs.folded(),
            has_rules: rules.permissions.says_of_reading(self.ctx.tool()),
            // False without need only costs time, as each path is then decided whole. No test can tell.
            is_allowed: is_inside || was_asked,
            workspace: self.clone(),
            boundary: roots.workspace().real.clone(),
            further,
            within,
            real,
            root,
            repaired,
        };
        Ok(OpenedTree { inner: Arc::new(inner), parent: None })
    }
}

/// The files below a file or directory that may be read. Files that would have to be asked about, or are denied, are neither
/// opened nor listed, and no symlink is followed.
///
/// Cloning is cheap; each thread of a walk uses a clone, which caches the last decision.
#[derive(Clone)]
pub struct OpenedTree {
    inner: Arc<Inner>,
    /// The directory that was decided about last.
    parent: Option<Parent>,
}

/// A directory that was decided about.
#[derive(Clone)]
struct Parent {
    path: PathBuf,
    /// True if each name in the directory has to be examined individually.
    is_close: bool,
    handle: Handle,
}

/// The handle of a directory whose files are opened. For a single file, opening it would cost more than it saves.
#[derive(Clone)]
enum Handle {
    /// No file in it was opened.
    Unused,
    /// One file in it was opened by its path.
    Used,
    Open(Arc<Dir>),
}

struct Inner {
    workspace: Workspace,
    boundary: PathBuf,
    /// Directories that are treated as part of the workspace.
    further: Vec<PathBuf>,
    /// The directories that alone are within the boundary, if it is narrowed.
    within: Option<Vec<PathBuf>>,
    own: OwnDirs,
    /// True if there are rules, so that each path has to be decided by them.
    has_rules: bool,
    /// True if the files below may be read unless something else forbids it.
    is_allowed: bool,
    real: PathBuf,
    root: Start,
    repaired: Option<PathRepair>,
}

enum Start {
    File(File),
    Directory(Dir),
}

impl fmt::Debug for OpenedTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedTree").field("path", &self.inner.real).finish_non_exhaustive()
    }
}

impl OpenedTree {
    /// Returns the real path at which the tree begins.
    pub fn path(&self) -> &Path {
        &self.inner.real
    }

    /// Returns the file, if the tree is not a directory.
    ///
    /// # Errors
    ///
    /// When the system has no more handles.
    pub fn file(&self) -> io::Result<Option<File>> {
        match &self.inner.root {
            Start::File(file) => file.try_clone().map(Some),
            Start::Directory(_) => Ok(None),
        }
    }

    /// Returns true if it is a directory.
    pub fn is_dir(&self) -> bool {
        matches!(self.inner.root, Start::Directory(_))
    }

    /// Returns how the path was repaired, if it was.
    pub fn repaired(&self) -> Option<&PathRepair> {
        self.inner.repaired.as_ref()
    }

    /// Returns the real path of the workspace.
    pub fn workspace_dir(&self) -> &Path {
        &self.inner.boundary
    }

    /// Returns a real path in its displayed form, as [`Workspace::shown`] does.
    pub fn shown(&self, real: &Path) -> String {
        self.inner.workspace.shown(real)
    }

    /// Returns true if a real path, at or below the beginning of the tree, may be read and named without a question. The file
    /// system is not accessed, so the file need not exist, and may be a symlink.
    pub fn may_read(&mut self, real: &Path) -> bool {
        let Some(name) = real.file_name() else { return self.is_allowed_by_rules(real) };
        self.may_read_in(real.parent().unwrap_or(real), name)
    }

    /// Returns true if a name in a directory may be read without a question.
    fn may_read_in(&mut self, directory: &Path, name: &OsStr) -> bool {
        // The complete decision is always right; the rest of this function only saves time. No test can
        // tell which of the two decides.
        if self.inner.has_rules || !self.inner.is_allowed {
            return self.is_allowed_by_rules(&directory.join(name));
        }
        let is_close = known(&self.inner, &mut self.parent, directory).is_close;
        !(is_close || is_suspect(name)) || self.is_allowed_by_rules(&directory.join(name))
    }

    /// Returns true if a path is allowed after the complete decision.
    fn is_allowed_by_rules(&self, real: &Path) -> bool {
        let inner = &self.inner;
        let place = Place {
            real: real.to_owned(),
            given: real.to_owned(),
            links: Vec::new(),
            is_link: false,
            workspace: inner.boundary.clone(),
            further: inner.further.clone(),
            within: inner.within.clone(),
            obstacle: None,
        };
        let scope = inner.workspace.ctx.scope();
        let permissions = &scope.rules.permissions;
        let whose = (&*scope.caller, inner.workspace.ctx.tool());
        let decided = permissions.decide_path(whose, &inner.own, &place, Access::Read, Look::Inside);
        // A real path contains no `..`.
        let is_real = !real.components().any(|part| part == Component::ParentDir);
        is_real && real.starts_with(&inner.real) && decided.decision == PathDecision::Allow
    }

    /// Opens a regular file at a real path below the beginning. Blocks briefly.
    ///
    /// # Errors
    ///
    /// When the file is not opened, with the reason. The error does not reveal if a file that has to be asked about exists. A
    /// symlink counts as absent.
    pub fn try_open(&mut self, real: &Path) -> Result<File, OpenError> {
        if !self.may_read(real) {
            return Err(OpenError::NeedsLeave);
        }
        let (dir, within) = self.inner.way(real).map_err(OpenError::Unreadable)?;
        match dir.open_file(within) {
            Ok(Any::File(file, _)) => Ok(file),
            Ok(Any::Directory(_)) => Err(OpenError::Kind(FileKind::Directory)),
            Ok(Any::Special) => Err(OpenError::Kind(FileKind::Special)),
            Err(error) => Err(not_opened(error)),
        }
    }

    /// Opens a regular file by its name in a directory, of which the real path is given, and returns its size in bytes. For
    /// consecutive files of the same directory, it costs less than [`try_open`](Self::try_open).
    ///
    /// # Errors
    ///
    /// As [`try_open`](Self::try_open).
    pub fn try_open_in(&mut self, directory: &Path, name: &OsStr) -> Result<(File, u64), OpenError> {
        // A path with several parts would leave the directory.
        if Path::new(name).file_name() != Some(name) || !self.may_read_in(directory, name) {
            return Err(OpenError::NeedsLeave);
        }
        let parent = known(&self.inner, &mut self.parent, directory);
        let (root, within) = self.inner.way(directory).map_err(OpenError::Unreadable)?;
        let named = match &parent.handle {
            Handle::Unused => {
                parent.handle = Handle::Used;
                return match root.open_file(&within.join(name)) {
                    Ok(Any::File(file, metadata)) => Ok((file, metadata.len())),
                    Ok(Any::Directory(_)) => Err(OpenError::Kind(FileKind::Directory)),
                    Ok(Any::Special) => Err(OpenError::Kind(FileKind::Special)),
                    Err(error) => Err(not_opened(error)),
                };
            }
            Handle::Used => {
                let dir = Arc::new(root.open_dir(within).map_err(not_opened)?);
                let named = dir.open_named(name);
                parent.handle = Handle::Open(dir);
                named
            }
            Handle::Open(dir) => dir.open_named(name),
        };
        match named {
            Ok(Named::File(file, size)) => Ok((file, size)),
            Ok(Named::Other(kind)) => Err(OpenError::Kind(kind)),
            Err(error) => Err(not_opened(error)),
        }
    }

    /// Returns up to `most` entries of the directory at a real path, in unspecified order, and true if there are more. It does
    /// not check which of them may be read. Blocks; it regularly calls the function that returns false to stop.
    ///
    /// # Errors
    ///
    /// The error of the system; also `PermissionDenied` if the directory has to be asked about.
    pub fn entries(
        &mut self,
        real: &Path,
        most: usize,
        goes_on: impl FnMut() -> bool,
    ) -> io::Result<(Vec<DirectoryEntry>, bool)> {
        if real != self.inner.real && !self.may_read(real) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let (dir, within) = self.inner.way(real)?;
        dir.open_dir(within)?.entries(most, goes_on)
    }
}

impl Inner {
    /// Returns the handle at which the tree begins, and the relative path from there to a real path.
    fn way<'a>(&self, real: &'a Path) -> io::Result<(&Dir, &'a Path)> {
        match (&self.root, real.strip_prefix(&self.real)) {
            (Start::Directory(dir), Ok(within)) => Ok((dir, within)),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }
}

/// Returns the directory at a real path, and decides about it unless it was the last one.
fn known<'p>(inner: &Inner, last: &'p mut Option<Parent>, directory: &Path) -> &'p mut Parent {
    // No test can tell if this decides anew each time, or finds a directory close that is not: each path
    // is then decided whole, or opened by its path, with the same result.
    if last.as_ref().is_none_or(|last| last.path.as_os_str() != directory.as_os_str()) {
        let is_suspect = |part: Component<'_>| part == Component::ParentDir || is_suspect(part.as_os_str());
        let is_close = !directory.starts_with(&inner.real)
            || inner.own.may_hold(directory)
            || directory.components().any(is_suspect);
        *last = Some(Parent { path: directory.to_owned(), is_close, handle: Handle::Unused });
    }
    last.as_mut().expect("it was just set")
}

/// Returns the reason why a file was not opened, by the error of the system.
fn not_opened(error: io::Error) -> OpenError {
    if super::handle::is_raced(&error) {
        return OpenError::Absent;
    }
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => OpenError::Absent,
        _ => OpenError::Unreadable(error),
    }
}

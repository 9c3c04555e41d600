//! Many files below one place, none of which is asked about.

use super::Workspace;
use super::handle::{Any, Dir, DirectoryEntry, FileKind};
use super::opened::{Opened, Refused, Repaired};
use crate::ask::Access;
use crate::error::ToolError;
use crate::permission::{OwnDirs, PathDecision, is_suspect};
use crate::workspace::{Look, Place};
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

impl Workspace {
    /// Opens a file or directory for a walk through all that is below it, once it may be read; asks a person where that is
    /// needed, for the whole of it. What is below is opened through the tree, without further questions.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_tree(&self, path: impl AsRef<Path>) -> Result<OpenedTree, ToolError> {
        let (opened, was_asked) = self.open_asking(path.as_ref(), |opened, _| Ok(opened)).await?;
        let workspace = self.clone();
        self.ctx.blocking(move |_| workspace.tree(opened, was_asked)).await
    }

    fn tree(&self, opened: Opened, was_asked: bool) -> Result<OpenedTree, ToolError> {
        let roots = self.roots()?;
        let repaired = opened.repaired().cloned();
        let (real, root) = match opened {
            Opened::Directory(directory) => (directory.place.real, Start::Directory(directory.dir)),
            Opened::File(file) => (file.place.real, Start::File(file.file)),
        };
        let settings = &self.ctx.scope().toolkit.settings;
        let mut further: Vec<PathBuf> = roots.further().map(|root| root.real.clone()).collect();
        let mut within = roots.within().cloned();
        let is_inside = roots.is_within(&real);
        // Who was asked about a place outside was asked about all that is below it.
        if !is_inside && was_asked {
            further.push(real.clone());
            if let Some(within) = &mut within {
                within.push(real.clone());
            }
        }
        let inner = Inner {
            own: settings.own_dirs.folded(),
            has_rules: settings.permissions.says_of_reading(self.ctx.tool()),
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

/// What is below a file or directory that may be read. What would have to be asked for, or is denied, is neither opened nor
/// listed, and no link is followed.
///
/// Cloning is cheap; each thread of a walk takes a clone, which remembers what was decided last.
#[derive(Clone)]
pub struct OpenedTree {
    inner: Arc<Inner>,
    /// The directory that was decided about last, and whether what is in it has to be looked at closely.
    parent: Option<(PathBuf, bool)>,
}

struct Inner {
    workspace: Workspace,
    boundary: PathBuf,
    /// Directories that count as within the boundary.
    further: Vec<PathBuf>,
    /// Of all that, the directories that alone are within it, where it is narrower.
    within: Option<Vec<PathBuf>>,
    own: OwnDirs,
    /// Whether rules say anything, so that each path has to be decided by them.
    has_rules: bool,
    /// Whether what is below may be read unless something else speaks against it.
    is_allowed: bool,
    real: PathBuf,
    root: Start,
    repaired: Option<Repaired>,
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
    /// The real path at which it begins.
    pub fn path(&self) -> &Path {
        &self.inner.real
    }

    /// The file that it is, if it is no directory.
    ///
    /// # Errors
    ///
    /// When the system has no further handle.
    pub fn file(&self) -> io::Result<Option<File>> {
        match &self.inner.root {
            Start::File(file) => file.try_clone().map(Some),
            Start::Directory(_) => Ok(None),
        }
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        matches!(self.inner.root, Start::Directory(_))
    }

    /// How the path was repaired, where it was.
    pub fn repaired(&self) -> Option<&Repaired> {
        self.inner.repaired.as_ref()
    }

    /// The real path of the workspace.
    pub fn workspace_dir(&self) -> &Path {
        &self.inner.boundary
    }

    /// A real path as it is shown, as by [`Workspace::shown`].
    pub fn shown(&self, real: &Path) -> String {
        self.inner.workspace.shown(real)
    }

    /// Whether what is at a real path, at or below the beginning, may be read and named without a question. Nothing is
    /// looked at, so it need not be there, nor be no link.
    pub fn may_read(&mut self, real: &Path) -> bool {
        let Some(name) = real.file_name() else { return self.is_allowed_by_rules(real) };
        let parent = real.parent().unwrap_or(real);
        let inner = &self.inner;
        if inner.has_rules || !inner.is_allowed {
            return self.is_allowed_by_rules(real);
        }
        let is_close = match &self.parent {
            Some((path, is_close)) if path.as_os_str() == parent.as_os_str() => *is_close,
            _ => {
                let is_close = !real.starts_with(&inner.real)
                    || inner.own.may_hold(parent)
                    || parent
                        .components()
                        .any(|part| part == Component::ParentDir || is_suspect(part.as_os_str()));
                self.parent = Some((parent.to_owned(), is_close));
                is_close
            }
        };
        !(is_close || is_suspect(name)) || self.is_allowed_by_rules(real)
    }

    /// The whole decision.
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
        let permissions = &scope.toolkit.settings.permissions;
        let whose = (&*scope.caller, inner.workspace.ctx.tool());
        let decided = permissions.decide_path(whose, &inner.own, &place, Access::Read, Look::Inside);
        // A real path goes down only.
        let is_real = !real.components().any(|part| part == Component::ParentDir);
        is_real && real.starts_with(&inner.real) && decided.decision == PathDecision::Allow
    }

    /// Opens a regular file at a real path below the beginning. Blocks, for a moment.
    ///
    /// # Errors
    ///
    /// When it is not opened, and why. Whether something is there that needs to be asked for is not told. A link is absent.
    pub fn try_open(&mut self, real: &Path) -> Result<File, Refused> {
        self.try_open_with_metadata(real).map(|(file, _)| file)
    }

    /// The same, with what the system says of the file, which was asked for to open it.
    ///
    /// # Errors
    ///
    /// As [`try_open`](Self::try_open).
    pub fn try_open_with_metadata(&mut self, real: &Path) -> Result<(File, Metadata), Refused> {
        if !self.may_read(real) {
            return Err(Refused::NeedsLeave);
        }
        let (dir, within) = self.way(real).map_err(Refused::Unreadable)?;
        match dir.open_file(within) {
            Ok(Any::File(file, metadata)) => Ok((file, metadata)),
            Ok(Any::Directory(_)) => Err(Refused::Kind(FileKind::Directory)),
            Ok(Any::Special) => Err(Refused::Kind(FileKind::Special)),
            Err(error) if super::handle::is_raced(&error) => Err(Refused::Absent),
            Err(error) => Err(match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Refused::Absent,
                _ => Refused::Unreadable(error),
            }),
        }
    }

    /// Up to `most` entries of the directory at a real path, in no order, and whether there are more. Which of them may be
    /// read is not looked at. Blocks; every now and then it is asked whether it goes on.
    ///
    /// # Errors
    ///
    /// What the system says; `PermissionDenied` also where the directory needs to be asked for.
    pub fn entries(
        &mut self,
        real: &Path,
        most: usize,
        goes_on: impl FnMut() -> bool,
    ) -> io::Result<(Vec<DirectoryEntry>, bool)> {
        if real != self.inner.real && !self.may_read(real) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let (dir, within) = self.way(real)?;
        dir.open_dir(within)?.entries(most, goes_on)
    }

    fn way<'a>(&self, real: &'a Path) -> io::Result<(&Dir, &'a Path)> {
        match (&self.inner.root, real.strip_prefix(&self.inner.real)) {
            (Start::Directory(dir), Ok(within)) => Ok((dir, within)),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }
}

//! Access to the files and directories that may be opened and named without asking.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit::{
    CancellationToken,
    files::{DirectoryEntry, OpenError as NotOpened, OpenedTree, Workspace},
};

/// Opens files that may be read without approval; a walk requests none. Each thread uses a clone.
#[derive(Clone)]
pub(in crate::fs) struct Doors {
    tree: OpenedTree,
    workspace: Workspace,
    /// True if some ignore rules were left out, since there were too many; shared by all clones.
    is_short_of_rules: Arc<AtomicBool>,
}

/// The reason for which something was not opened.
#[derive(Debug)]
pub(in crate::fs) enum Refused {
    /// The file needs approval, or is denied.
    NotAllowed,
    /// The file cannot be read.
    Unreadable,
    /// The file is gone, or no longer a regular file.
    Gone,
}

impl Doors {
    pub(in crate::fs) fn new(tree: OpenedTree, workspace: Workspace) -> Self {
        Self { tree, workspace, is_short_of_rules: Arc::default() }
    }

    /// Notes that rules of ignore files were left out.
    pub(super) fn leave_out_rules(&self) {
        self.is_short_of_rules.store(true, Ordering::Relaxed);
    }

    /// Returns true if rules of ignore files were left out, since there were too many.
    pub(in crate::fs) fn is_short_of_rules(&self) -> bool {
        self.is_short_of_rules.load(Ordering::Relaxed)
    }

    /// The real path of the workspace.
    pub(in crate::fs) fn workspace(&self) -> &Path {
        self.tree.workspace_dir()
    }

    /// Returns true if a directory's content may be untrusted: it is in the workspace, or in the tree.
    pub(in crate::fs) fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(self.workspace()) || path.starts_with(self.tree.path())
    }

    /// Opens the file that is the root of the tree, at its beginning; `None` if it is a directory.
    pub(in crate::fs) fn open_root(&self) -> Result<Option<File>, Refused> {
        let refused = |_: io::Error| Refused::Unreadable;
        let Some(mut file) = self.tree.file().map_err(refused)? else { return Ok(None) };
        // Its handles share their place in it.
        file.rewind().map_err(refused)?;
        Ok(Some(file))
    }

    /// Opens a regular file of the tree by its name in a directory, and returns its size in bytes.
    pub(in crate::fs) fn open(&mut self, directory: &Path, name: &OsStr) -> Result<(File, u64), Refused> {
        self.tree.try_open_in(directory, name).map_err(|error| match error {
            NotOpened::NeedsLeave => Refused::NotAllowed,
            NotOpened::Absent | NotOpened::Kind(_) => Refused::Gone,
            _ => Refused::Unreadable,
        })
    }

    /// Opens an ignore file, in the tree or above it within the workspace. It may be a link within the workspace.
    pub(super) fn open_rules(&mut self, path: &Path) -> Option<File> {
        let of_tree = self.tree.is_dir().then(|| self.tree.try_open(path).ok()).flatten();
        of_tree.or_else(|| self.workspace.try_open(path).ok().map(toolkit::files::OpenedFile::into_file))
    }

    /// Returns the entries of a directory, and whether there are more: than `most`, or than was read until it was cancelled.
    pub(super) fn entries(
        &mut self,
        path: &Path,
        most: usize,
        cancel: &CancellationToken,
    ) -> io::Result<(Vec<DirectoryEntry>, bool)> {
        self.tree.entries(path, most, || !cancel.is_cancelled())
    }

    /// Returns true if a path may be named, and a directory entered.
    pub(in crate::fs) fn may_name(&mut self, path: &Path) -> bool {
        self.tree.may_read(path)
    }

    /// Returns a path in the shown form.
    pub(in crate::fs) fn shown(&self, path: &Path) -> String {
        self.tree.shown(path)
    }
}

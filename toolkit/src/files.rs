//! File access by handle: the file that was decided about is the file that is opened, even if its path changes meanwhile.

mod decide;
mod fault;
mod handle;
mod held;
mod in_place;
mod locks;
mod made;
mod open;
mod opened;
mod options;
mod repair;
mod replace;
mod roots;
mod seen;
mod stale;
mod taken;
mod target;
mod tell_change;
mod temporary;
mod together;
mod tree;
mod unfinished;
mod version;

pub use crate::change_hook::{FileBefore, FileChange};
pub use crate::workspace::{is_path_contained, sandbox_boundary};
pub use handle::{DirectoryEntry, FileKind};
pub use locks::FileLock;
pub use opened::{OpenError, OpenedDirectory, OpenedFile, OpenedPath, PathRepair};
pub use options::WriteOptions;
pub use replace::WriteOutcome;
pub use seen::{Extent, ReadState};
pub use taken::DisplacedFile;
pub use target::{Expected, FileContent, PriorContent, Proposal, Target};
pub use temporary::OwnerChange;
pub use toolkit_core::SharedReads;
pub use tree::OpenedTree;
pub use unfinished::{FileState, InterruptedChange, PendingChange};
pub use version::FileVersion;

#[cfg(feature = "testing")]
#[doc(hidden)]
pub use fault::{FileSystems, at_fault_points, take_file_systems_for};

use crate::file_access::Surroundings;
use crate::tool::context::ToolContext;
use roots::Roots;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use toolkit_core::error::ToolError;

impl ToolContext {
    /// Returns access to the files that this call may use, opened and written by handle.
    ///
    /// [`check_file_access`](Self::check_file_access) returns the target of a path, but a symlink may be there by the time it is
    /// opened. A file opened through here is the one that was decided about, or opening fails.
    ///
    /// ```
    /// use std::io::Read as _;
    /// use toolkit::prelude::*;
    /// use toolkit::files::OpenedPath;
    ///
    /// /// Counts the bytes of a file.
    /// #[tool(read_only)]
    /// async fn size(ctx: &ToolContext, /** The file. */ path: &Path) -> Result<String, ToolError> {
    ///     match ctx.workspace().open(path).await? {
    ///         OpenedPath::File(file) => Ok(format!("{} bytes", file.metadata().len())),
    ///         _ => Err(ToolError::failed("that is a directory; name a file")),
    ///     }
    /// }
    /// ```
    pub fn workspace(&self) -> Workspace {
        Workspace { ctx: self.clone(), roots: Arc::default() }
    }
}

/// Access to the files that a call may use. Cheap to clone.
///
/// Paths are relative to the workspace. The decision about a path, and the questions to a person, are described at
/// [`ToolContext::check_file_access`]. On Linux, no change by another process between the decision and the use can lead
/// elsewhere; on other Unix systems the same holds, one directory at a time; on other systems, symlinks are checked right before
/// each use.
#[derive(Clone)]
pub struct Workspace {
    ctx: ToolContext,
    /// Opened at the first use.
    roots: Arc<OnceLock<Result<Roots, ToolError>>>,
}

impl Workspace {
    /// Returns the directories of the workspace, by handle. Blocks the first time.
    fn roots(&self) -> Result<&Roots, ToolError> {
        let open = || {
            let scope = self.ctx.scope();
            let rules = &scope.rules;
            Roots::open(
                scope.caller.workspace_dir(),
                &rules.further_dirs,
                scope.caller.within.clone(),
                rules.own_dirs.folded(),
                rules.permissions.says_of_reading(self.ctx.tool()),
            )
        };
        self.roots.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// Resolves the directories that a decision about a path depends on, as they are now. Blocks briefly.
    fn surroundings(&self) -> Result<Surroundings, ToolError> {
        if self.roots.get().is_some() {
            // A symlink may lead elsewhere since these were opened.
            return self.ctx.scope().surroundings();
        }
        let roots = self.roots()?;
        Ok(Surroundings { boundary: roots.boundary(), own: roots.own().clone() })
    }

    /// Returns the real path of the workspace's directory. Blocks while it examines a few directories.
    ///
    /// # Errors
    ///
    /// `Unavailable` when it does not exist.
    pub fn root(&self) -> Result<PathBuf, ToolError> {
        Ok(self.roots()?.workspace().real.clone())
    }

    /// Returns a real path in its displayed form: relative to the workspace if it is within it, otherwise absolute; in one line,
    /// with invisible characters escaped.
    pub fn shown(&self, real: &Path) -> String {
        let within = self.roots().ok().and_then(|roots| real.strip_prefix(&roots.workspace().real).ok());
        opened::shown(within.unwrap_or(real))
    }
}

/// Returns a name in its displayed form: in one line, with invisible characters escaped, and with bytes that are not UTF-8 as
/// `\x{ff}`. A path given in this form is resolved to the file of that name.
pub fn shown_name(name: &OsStr) -> String {
    opened::shown(Path::new(name))
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("directory", &self.ctx.workspace_dir()).finish_non_exhaustive()
    }
}

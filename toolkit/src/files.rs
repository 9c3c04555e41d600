//! Files of a workspace, by handle: what was decided about a path is what is opened, whatever happens to the path.

mod change_hook;
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
mod together;
mod tree;
mod unfinished;
mod version;

pub use change_hook::FileChange;
pub(crate) use change_hook::{ChangeHook, ChangeHooks};
pub use handle::{DirectoryEntry, FileKind};
pub use locks::FileLock;
pub use opened::{Opened, OpenedDirectory, OpenedFile, Refused, Repaired};
pub use options::WriteOptions;
pub use replace::{OwnerChange, Written};
pub use seen::{Extent, Seen};
pub use taken::Taken;
pub use target::{Before, Expected, FileContent, Proposal, Target};
pub use tree::OpenedTree;
pub use unfinished::{Interrupted, Left, Unfinished};
pub use version::FileVersion;

#[cfg(feature = "testing")]
pub use fault::{FileSystems, at_fault_points, take_file_systems_for};

use crate::context::ToolContext;
use crate::context::files::Surroundings;
use crate::error::ToolError;
use roots::Roots;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

impl ToolContext {
    /// The files that this call may use, opened and written by handle.
    ///
    /// [`check_file_access`](Self::check_file_access) says where a path leads, and by the time it is opened a link may
    /// stand there. What is opened through here is what was decided about, or nothing.
    ///
    /// ```
    /// use std::io::Read as _;
    /// use toolkit::prelude::*;
    /// use toolkit::Opened;
    ///
    /// /// Counts the bytes of a file.
    /// #[tool(read_only)]
    /// async fn size(ctx: &ToolContext, /** The file. */ path: &Path) -> Result<String, ToolError> {
    ///     match ctx.workspace().open(path).await? {
    ///         Opened::File(file) => Ok(format!("{} bytes", file.metadata().len())),
    ///         _ => Err(ToolError::failed("that is a directory; name a file")),
    ///     }
    /// }
    /// ```
    pub fn workspace(&self) -> Workspace {
        Workspace { ctx: self.clone(), roots: Arc::default() }
    }
}

/// The files that a call may use. Cheap to clone.
///
/// Relative paths belong to the workspace. What is decided about a path, and when a person is asked, is described at
/// [`ToolContext::check_file_access`]. On Linux nothing that another process does between the decision and the use leads
/// elsewhere; on other Unix systems the same holds, one directory at a time; on the rest, links are looked for right
/// before each use.
#[derive(Clone)]
pub struct Workspace {
    ctx: ToolContext,
    /// Opened when they are first needed.
    roots: Arc<OnceLock<Result<Roots, ToolError>>>,
}

impl Workspace {
    /// The directories that count as within, by handle. Blocks the first time.
    fn roots(&self) -> Result<&Roots, ToolError> {
        let open = || {
            let scope = self.ctx.scope();
            let settings = &scope.toolkit.settings;
            Roots::open(
                scope.caller.workspace_dir(),
                &settings.further_dirs,
                scope.caller.within.clone(),
                settings.own_dirs.folded(),
                settings.permissions.says_of_reading(self.ctx.tool()),
            )
        };
        self.roots.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// Where the directories are now that a decision about a path depends on. Blocks, for a moment.
    fn surroundings(&self) -> Result<Surroundings, ToolError> {
        if self.roots.get().is_some() {
            // A link may lead elsewhere since these were opened.
            return self.ctx.scope().surroundings();
        }
        let roots = self.roots()?;
        Ok(Surroundings { boundary: roots.boundary(), own: roots.own().clone() })
    }

    /// The real path of the workspace's directory. Blocks for as long as looking at a few directories takes.
    ///
    /// # Errors
    ///
    /// `Unavailable` where it is not there.
    pub fn root(&self) -> Result<PathBuf, ToolError> {
        Ok(self.roots()?.workspace().real.clone())
    }

    /// A real path as it is shown: relative to the workspace within it, else absolute; in one line, with whatever a
    /// person could not see escaped.
    pub fn shown(&self, real: &Path) -> String {
        let within = self.roots().ok().and_then(|roots| real.strip_prefix(&roots.workspace().real).ok());
        opened::shown(within.unwrap_or(real))
    }
}

/// A name as tools show it: in one line, with whatever a person could not see escaped, and bytes that are no UTF-8 as `\x{ff}`. A
/// path that is given so leads to the file of that name.
pub fn shown_name(name: &OsStr) -> String {
    opened::shown(Path::new(name))
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace").field("directory", &self.ctx.workspace_dir()).finish_non_exhaustive()
    }
}

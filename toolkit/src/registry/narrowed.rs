//! Callers with narrower bounds for file access.

use super::Toolkit;
use crate::workspace::common_directories;
use std::path::{Path, PathBuf};
use toolkit_core::caller::Caller;

impl Toolkit {
    /// Returns the workspace of a caller: its own, or else that of the [builder](crate::Builder::default_workspace), or
    /// else the process's working directory.
    pub fn workspace_of(&self, caller: &Caller) -> PathBuf {
        let workspace = caller.workspace.as_deref().or(self.0.settings.workspace.as_deref());
        workspace.unwrap_or(Path::new(".")).to_owned()
    }

    /// Returns the caller with file access limited to `roots` too: only the intersection of the roots with the caller's
    /// current boundary (the workspace and the directories that count as part of it) is within the new boundary. It may
    /// be empty. Relative paths and rules still refer to the workspace.
    ///
    /// Links are resolved first, and a root that does not exist contributes nothing. Blocks while a few directories are
    /// read.
    ///
    /// ```
    /// use toolkit::{Caller, Toolkit};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let directory = std::env::temp_dir().canonicalize()?;
    /// let toolkit = Toolkit::empty().build()?;
    /// let caller = Caller::new().with_workspace(&directory);
    /// assert_eq!(toolkit.narrowed(&caller, ["/"]).within, Some(vec![directory]));
    /// assert_eq!(toolkit.narrowed(&caller, ["/etc"]).within, Some(vec![]));
    /// # Ok(()) }
    /// ```
    pub fn narrowed(&self, caller: &Caller, roots: impl IntoIterator<Item = impl AsRef<Path>>) -> Caller {
        let rules = self.0.rules.get();
        let bounds: Vec<PathBuf> = match &caller.within {
            Some(within) => within.clone(),
            None => {
                let workspace = self.workspace_of(caller);
                let all = std::iter::once(&workspace).chain(&rules.further_dirs);
                all.filter_map(|path| path.canonicalize().ok()).collect()
            }
        };
        let roots: Vec<PathBuf> =
            roots.into_iter().filter_map(|root| root.as_ref().canonicalize().ok()).collect();
        let mut narrowed = caller.clone();
        narrowed.within = Some(common_directories(&roots, &bounds));
        narrowed
    }
}

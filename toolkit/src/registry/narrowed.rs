//! A caller whose file access is bounded more narrowly.

use super::Toolkit;
use crate::caller::Caller;
use std::path::{Path, PathBuf};

impl Toolkit {
    /// The workspace of a caller: what it names, else what the [builder](crate::Builder::default_workspace) does, else the process's
    /// working directory.
    pub fn workspace_of(&self, caller: &Caller) -> PathBuf {
        let workspace = caller.workspace.as_deref().or(self.0.settings.workspace.as_deref());
        workspace.unwrap_or(Path::new(".")).to_owned()
    }

    /// The caller with file access bounded by `roots` too: only what they have in common with the caller's boundary so far, the workspace
    /// and the directories that count as within it, is within. That may be nothing. Relative paths and rules belong to the
    /// workspace as before.
    ///
    /// Links are followed first, and a root that is not there has nothing in common with anything. It blocks for as long as looking at a
    /// few directories takes.
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
        let settings = &self.0.settings;
        let bounds: Vec<PathBuf> = match &caller.within {
            Some(within) => within.clone(),
            None => {
                let workspace = self.workspace_of(caller);
                let all = std::iter::once(&workspace).chain(&settings.further_dirs);
                all.filter_map(|path| path.canonicalize().ok()).collect()
            }
        };
        let mut common: Vec<PathBuf> = Vec::new();
        for root in roots.into_iter().filter_map(|root| root.as_ref().canonicalize().ok()) {
            for bound in &bounds {
                let both = match (root.starts_with(bound), bound.starts_with(&root)) {
                    (true, _) => &root,
                    (false, true) => bound,
                    (false, false) => continue,
                };
                if !common.iter().any(|known| both.starts_with(known)) {
                    common.push(both.clone());
                }
            }
        }
        Caller { within: Some(common), ..caller.clone() }
    }
}

//! A caller whose file access is bounded more narrowly.

use super::Toolkit;
use crate::caller::Caller;
use std::path::{Path, PathBuf};

impl Toolkit {
    /// The caller with file access bounded by `roots` too: by what they have in common with the caller's workspace and the directories
    /// that count as within it. The first of that is the workspace, all else counts as within; `None` where nothing is in common.
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
    /// let narrowed = toolkit.narrowed(&caller, ["/"]).ok_or("nothing in common")?;
    /// assert_eq!(narrowed.workspace_dir(), directory);
    /// assert!(toolkit.narrowed(&caller, ["/etc"]).is_none());
    /// # Ok(()) }
    /// ```
    pub fn narrowed(
        &self,
        caller: &Caller,
        roots: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Option<Caller> {
        let settings = &self.0.settings;
        let workspace =
            caller.workspace.as_deref().or(settings.workspace.as_deref()).unwrap_or(Path::new("."));
        let further = settings.further_dirs(caller).iter().map(PathBuf::as_path);
        let bounds: Vec<PathBuf> =
            std::iter::once(workspace).chain(further).filter_map(|path| path.canonicalize().ok()).collect();
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
        let mut common = common.into_iter();
        let workspace = Some(common.next()?);
        Some(Caller { workspace, further: Some(common.collect()), ..caller.clone() })
    }
}

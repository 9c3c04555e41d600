//! The bounds of a caller that others delegated to.

use crate::workspace::common_directories;
use std::path::{Path, PathBuf};
use toolkit_core::caller::Caller;

/// Returns the caller with the default workspace, unless it has one, and with no wider bounds than the callers above it: their sandbox,
/// the workspace of the outermost, and the directories common to all. Another workspace of its own only narrows the directories.
pub(super) fn bounded(mut caller: Caller, default: Option<&Path>) -> Caller {
    let Some(above) = caller.delegated_by.take() else {
        caller.workspace = caller.workspace.or_else(|| default.map(Path::to_owned));
        return caller;
    };
    let above = bounded(*above, default);
    let own = caller.workspace.take().filter(|own| above.workspace.as_ref() != Some(own));
    let own = own.map(|own| own.canonicalize().into_iter().collect::<Vec<PathBuf>>());
    let lists = [above.within.clone(), caller.within.take(), own].into_iter().flatten();
    caller.within = lists.reduce(|some, others| common_directories(&some, &others));
    caller.workspace.clone_from(&above.workspace);
    caller.sandboxed |= above.sandboxed;
    caller.depth = caller.depth.max(above.depth);
    caller.delegated_by = Some(Box::new(above));
    caller
}

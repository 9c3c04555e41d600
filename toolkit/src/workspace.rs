//! The boundary of file access.

use crate::caller::Caller;
use crate::error::ToolError;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The real place of an existing path, if it lies within the caller's workspace.
pub(crate) fn resolve(caller: &Caller, path: &Path) -> Result<PathBuf, ToolError> {
    let workspace = caller.workspace_dir().canonicalize().map_err(|error| {
        ToolError::unavailable(format!(
            "the workspace {} cannot be used: {error}",
            caller.workspace_dir().display()
        ))
    })?;
    let lexical = normalise(&workspace.join(path));
    let contained = |path: &Path| caller.outside_workspace || path.starts_with(&workspace);
    // Said without looking, so that the answer does not tell what exists outside.
    if !contained(&lexical) && !leads_inside(&workspace.join(path), &workspace) {
        return Err(outside(path, &workspace));
    }
    match workspace.join(path).canonicalize() {
        Ok(real) if contained(&real) => Ok(real),
        Ok(_) => Err(outside(path, &workspace)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ToolError::not_found(format!("{} does not exist", path.display())))
        }
        Err(error) => Err(ToolError::failed(format!("{}: {error}", path.display()))),
    }
}

/// An absolute path may name the workspace through a symbolic link.
fn leads_inside(path: &Path, workspace: &Path) -> bool {
    path.is_absolute() && path.canonicalize().is_ok_and(|real| real.starts_with(workspace))
}

fn outside(path: &Path, workspace: &Path) -> ToolError {
    ToolError::denied(format!(
        "{} is outside the workspace {}; use a path inside it, or let the host open a workspace that holds it",
        path.display(),
        workspace.display()
    ))
}

/// Takes `.` and `..` out of a path without looking at the file system.
fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

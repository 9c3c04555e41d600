//! The boundary of file access.

use crate::caller::Caller;
use crate::error::ToolError;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// As many symbolic links as Linux follows on one path.
const MAX_LINKS: u32 = 40;

/// The real place of an existing path, if it lies within the caller's workspace.
pub(crate) fn resolve(caller: &Caller, path: &Path) -> Result<PathBuf, ToolError> {
    let given = caller.workspace_dir();
    let workspace = given.canonicalize().map_err(|error| {
        ToolError::unavailable(format!("the workspace `{}` cannot be used: {error}", given.display()))
    })?;
    if caller.outside_workspace {
        return workspace.join(path).canonicalize().map_err(|error| cannot_use(path, &error));
    }
    // A path may name the workspace as the host does, or as it really is.
    let absolute_given = std::path::absolute(given).unwrap_or_else(|_| workspace.clone());
    let within = [&workspace, &absolute_given].into_iter().find_map(|root| path.strip_prefix(root).ok());
    walk(path, within.unwrap_or(path), &workspace)
}

/// Follows a path one component at a time. Where it is outside, nothing is looked at: the answer does not depend on
/// what is there.
fn walk(path: &Path, from: &Path, workspace: &Path) -> Result<PathBuf, ToolError> {
    let mut real = workspace.to_owned();
    let mut rest: VecDeque<Step> = steps(from).collect();
    let mut links = 0;
    while let Some(step) = rest.pop_front() {
        match step {
            Step::Root => real = PathBuf::from("/"),
            Step::Up => {
                real.pop();
            }
            Step::Down(name) => {
                real.push(name);
                if !real.starts_with(workspace) {
                    continue;
                }
                let kind = real.symlink_metadata().map_err(|error| cannot_use(path, &error))?;
                if kind.is_symlink() {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(ToolError::failed(format!(
                            "{} goes round in a circle of links",
                            path.display()
                        )));
                    }
                    let target = real.read_link().map_err(|error| cannot_use(path, &error))?;
                    real.pop();
                    for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
                        rest.push_front(step);
                    }
                }
            }
        }
    }
    if real.starts_with(workspace) { Ok(real) } else { Err(outside(path, workspace)) }
}

enum Step {
    Root,
    Up,
    Down(OsString),
}

fn steps(path: &Path) -> impl Iterator<Item = Step> {
    path.components().filter_map(|component| match component {
        Component::Prefix(_) | Component::CurDir => None,
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
    })
}

fn cannot_use(path: &Path, error: &io::Error) -> ToolError {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::not_found(format!("{path} does not exist")),
        io::ErrorKind::NotADirectory => {
            ToolError::not_found(format!("{path} does not exist: a part of it is a file, not a directory"))
        }
        _ => ToolError::failed(format!("{path} cannot be used: {error}")),
    }
}

fn outside(path: &Path, workspace: &Path) -> ToolError {
    ToolError::denied(format!(
        "{} is outside the workspace {}; use a path inside it, or let the host open a workspace that holds it",
        path.display(),
        workspace.display()
    ))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::error::ToolErrorKind;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// `outside/secret`, `inside/{file,folder/deep}` and links of every shape, under a directory of its own.
    fn places() -> PathBuf {
        let base = std::env::temp_dir().join(format!("toolkit-workspace-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        let inside = base.join("inside");
        fs::create_dir_all(inside.join("folder")).unwrap();
        fs::create_dir_all(base.join("outside")).unwrap();
        for file in ["outside/secret", "inside/file", "inside/folder/deep", "inside/..foo"] {
            fs::write(base.join(file), "").unwrap();
        }
        for (target, link) in [
            ("../outside", "to_folder"),
            ("../outside/secret", "to_secret"),
            ("../outside/absent", "dangling"),
            ("/", "to_root"),
            ("folder", "to_inside"),
            ("../inside/file", "out_and_in"),
            ("circle_b", "circle_a"),
            ("circle_a", "circle_b"),
        ] {
            symlink(target, inside.join(link)).unwrap();
        }
        symlink(&inside, base.join("named")).unwrap();
        base.canonicalize().unwrap()
    }

    #[test]
    fn the_boundary() {
        let base = places();
        let caller = Caller::new().with_workspace(base.join("named"));
        let absolute = |path: &str| format!("{}/{path}", base.display());
        let kind = |path: &str| resolve(&caller, Path::new(path)).map_err(|error| error.kind());
        for (path, expected) in [
            ("file", "file"),
            ("./folder/../file", "file"),
            ("to_inside/deep", "folder/deep"),
            ("out_and_in", "file"),
            ("..foo", "..foo"),
            ("../inside/file", "file"),
            ("../absent/../inside/file", "file"),
            (&absolute("inside/file"), "file"),
            (&absolute("named/file"), "file"),
            (".", ""),
        ] {
            assert_eq!(kind(path), Ok(base.join("inside").join(expected).components().collect()), "{path}");
        }
        for path in
            ["absent", "file/x", "to_inside/absent", &absolute("named/absent"), &absolute("inside/absent")]
        {
            assert_eq!(kind(path), Err(ToolErrorKind::NotFound), "{path}");
        }
        assert_eq!(kind("circle_a"), Err(ToolErrorKind::Failed));
        // Whether or not anything is there.
        for path in [
            "to_secret",
            "dangling",
            "to_folder/secret",
            "to_folder/absent",
            "to_root/etc/passwd",
            "to_root/etc/absent",
            "../outside/secret",
            "../outside/absent",
            "..",
            "/etc/passwd",
            "/etc/absent",
            &absolute("outside/secret"),
            &absolute("inside2"),
        ] {
            assert_eq!(kind(path), Err(ToolErrorKind::Denied), "{path}");
        }
        let free = Caller::new().with_workspace(base.join("inside")).allow_outside_workspace();
        assert!(resolve(&free, Path::new("to_secret")).is_ok());
        fs::remove_dir_all(base).unwrap();
    }
}

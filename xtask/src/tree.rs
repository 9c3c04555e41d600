//! A copy of the repository's files.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::{fs, os::unix::fs::symlink};

use crate::workspace::{Result, Workspace};

/// Copies the files that git tracks, or would track if they were added, to `to`. Removes first all that is there.
///
/// # Errors
///
/// If git does not run, or a file cannot be copied.
pub(crate) fn copy(workspace: &Workspace, to: &Path) -> Result {
    let list = workspace
        .command(&["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()?;
    if !list.status.success() {
        return Err(format!(
            "`git ls-files`: {}: {}",
            list.status,
            String::from_utf8_lossy(&list.stderr).trim()
        )
        .into());
    }
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    let names = list.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    for name in names.map(|name| Path::new(OsStr::from_bytes(name))) {
        copy_file(&workspace.root().join(name), &to.join(name))
            .map_err(|error| format!("cannot copy {}: {error}", name.display()))?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let kind = match from.symlink_metadata() {
        // A tracked file that was removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        kind => kind?,
    };
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracked_files_are_copied_and_nothing_that_is_ignored() {
        let workspace = Workspace::locate().unwrap();
        let to = std::env::temp_dir().join(format!("xtask-tree-{}", std::process::id()));
        fs::create_dir_all(&to).unwrap();
        fs::write(to.join("old"), "").unwrap();
        copy(&workspace, &to).unwrap();
        let copied = |name: &str| to.join(name).exists();
        let found = (copied("Cargo.toml"), copied("xtask/src/tree.rs"), copied("old"), copied("target"));
        fs::remove_dir_all(&to).unwrap();
        assert_eq!(found, (true, true, false, false));
    }
}

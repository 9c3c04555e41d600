//! Where a repository has its data, and the reading of its small files.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum size of a file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Returns the git directory of the work tree that begins in a directory, if one does. Symlinks in the path are not resolved.
pub(crate) fn git_dir(directory: &Path) -> Result<Option<PathBuf>, String> {
    let dot_git = directory.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&dot_git) else { return Ok(None) };
    if metadata.is_dir() {
        return Ok(Some(dot_git));
    }
    let text = read(&dot_git)?.unwrap_or_default();
    match text.strip_prefix("gitdir: ") {
        Some(path) => Ok(Some(directory.join(path.trim_end_matches(['\n', '\r'])))),
        None => Err(format!("{} is not understood", dot_git.display())),
    }
}

/// Returns the file with attributes in the data of the repository whose work tree begins in a directory.
pub(crate) fn attributes_of_git(directory: &Path) -> Option<PathBuf> {
    let common = common_dir(&git_dir(directory).ok()??).ok()?;
    Some(common.join("info/attributes"))
}

/// Returns the directory of a repository's data that its work trees share.
pub(super) fn common_dir(git_dir: &Path) -> Result<PathBuf, String> {
    let common = read(&git_dir.join("commondir"))?;
    Ok(common.map_or_else(|| git_dir.to_owned(), |text| git_dir.join(text.trim_end())))
}

/// Returns true if git takes the repository of a directory, and looks no further up.
pub(super) fn is_whole(directory: &Path) -> bool {
    let dot_git = directory.join(".git");
    let Ok(metadata) = fs::symlink_metadata(&dot_git) else { return false };
    // A file names the one that is taken, or git ends.
    if metadata.is_file() {
        return true;
    }
    // Git does not take one in whose directories this user may not look for files.
    let is_directory = |name: &str| {
        let place = dot_git.join(name);
        place.symlink_metadata().is_ok_and(|found| found.is_dir()) && place.join(".").metadata().is_ok()
    };
    let is_head = |text: &str| {
        let text = text.trim_end();
        text.strip_prefix("ref: refs/").is_some_and(|name| !name.is_empty())
            || matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    metadata.is_dir()
        && is_directory("objects")
        && is_directory("refs")
        && dot_git.join("commondir").symlink_metadata().is_err()
        && read(&dot_git.join("HEAD")).ok().flatten().is_some_and(|text| is_head(&text))
}

/// Returns the text of a file, if it is there.
pub(crate) fn read(file: &Path) -> Result<Option<String>, String> {
    let unreadable = || format!("{} cannot be read", file.display());
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if metadata.is_file() && metadata.len() <= LARGEST => {}
        _ => return Err(unreadable()),
    }
    fs::read_to_string(file).map(Some).map_err(|_| unreadable())
}

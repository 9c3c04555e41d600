//! The files that a repository tracks, by its index.

use super::index::{self, Entry};
use super::layout::git_dir;
use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

/// Maximum number of tracked files that are decided about. Of further ones only those whose names look like secrets.
const MAX_FILES: usize = 20_000;

/// The tracked files of a work tree.
#[derive(Debug)]
pub(crate) struct Tracked {
    /// Root of the work tree, without symlinks.
    pub(crate) root: PathBuf,
    index: PathBuf,
    /// The tracked files, or the reason for which they are unknown.
    pub(crate) files: Result<Vec<Entry>, String>,
    /// Indexes of the files that need a decision other than allow.
    asked: OnceCell<Vec<usize>>,
}

impl Tracked {
    /// Reads the index of the repository whose work tree begins in a directory, if one does.
    pub(crate) fn of(root: &Path, read: &Cell<u64>) -> Option<Self> {
        let git_dir = git_dir(root).transpose()?;
        let index = git_dir.as_ref().map(|git_dir| git_dir.join("index")).unwrap_or_default();
        let files = git_dir.and_then(|git_dir| index::files(&git_dir, read));
        Some(Self { root: root.to_owned(), index, files, asked: OnceCell::new() })
    }

    /// Returns the files for which `is_asked` is true, in order. It is called once for each.
    pub(crate) fn asked(&self, is_asked: impl Fn(&Entry) -> bool) -> impl Iterator<Item = &Entry> {
        let files = self.files.as_deref().unwrap_or_default();
        let find = || {
            let counts = |place: usize, file: &Entry| place < MAX_FILES || may_be_secret(&file.name);
            let asked =
                files.iter().enumerate().filter(|(place, file)| counts(*place, file) && is_asked(file));
            asked.map(|(place, _)| place).collect()
        };
        self.asked.get_or_init(find).iter().map(|place| &files[*place])
    }

    /// Returns true if git considers a file of the work tree equal to the one in the index without reading its content.
    #[cfg(unix)]
    pub(crate) fn is_unchanged(&self, entry: &Entry) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        let Ok(found) = self.root.join(&entry.name).symlink_metadata() else { return false };
        let Ok(index) = self.index.metadata() else { return false };
        let own = (u32::try_from(found.mtime()).ok(), u32::try_from(found.mtime_nsec()).ok());
        // A file written at the same time as the index is read.
        let is_settled = (found.mtime(), found.mtime_nsec()) < (index.mtime(), index.mtime_nsec());
        found.is_file()
            && is_settled
            && entry.is_plain
            && own == (Some(entry.modified.0), Some(entry.modified.1))
            && u32::try_from(found.len()) == Ok(entry.size)
    }

    #[cfg(not(unix))]
    pub(crate) fn is_unchanged(&self, _entry: &Entry) -> bool {
        false
    }
}

/// Returns true if a name looks like that of a secret. Only for repositories with too many files to decide about each.
fn may_be_secret(name: &Path) -> bool {
    const SIGNS: &[&str] = &[
        ".env",
        "env.",
        "id_",
        ".pem",
        ".key",
        ".p8",
        ".p12",
        ".pfx",
        ".ppk",
        ".jks",
        ".kdb",
        "keystore",
        "keytab",
        "keychain",
        ".ssh",
        "gnupg",
        "secret",
        "credential",
        "password",
        "passwd",
        "token",
        "rc",
        ".aws",
        ".azure",
        ".gcloud",
        ".kube",
        ".docker",
        ".tf",
        "_history",
        ".history",
        "account",
        "wallet",
        ".boto",
        ".s3cfg",
        ".cnf",
    ];
    let name = name.to_string_lossy().to_ascii_lowercase();
    SIGNS.iter().any(|sign| name.contains(sign))
}

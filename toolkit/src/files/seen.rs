//! What a session has read or written last.

use super::Workspace;
use super::version::FileVersion;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many files of a session are remembered; beyond, the one that was used longest ago is forgotten.
const MOST_FILES: usize = 1_000;

/// What a session knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seen {
    /// It has neither read nor written it, or forgot that.
    Never,
    /// It is as the session read or wrote it last.
    Same,
    /// Another hand changed it since.
    Changed,
}

#[derive(Debug, Default)]
pub(super) struct SeenFiles(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    files: HashMap<PathBuf, Known>,
    uses: u64,
}

/// What is known of a file.
#[derive(Debug)]
struct Known {
    version: FileVersion,
    /// The version that it seemed to be still when it was looked at last, of whose content more is known: where only the time
    /// changes, it is the same.
    by_content: Option<FileVersion>,
    used: u64,
}

impl Workspace {
    /// Remembers that this session has seen a version of the file at a real path: it read or wrote it.
    pub fn saw(&self, path: &Path, version: FileVersion) {
        self.ctx.session_state::<SeenFiles>().set(path, version);
    }

    /// Whether the file at a real path is as this session has seen it last.
    pub fn seen(&self, path: &Path, now: &FileVersion) -> Seen {
        self.ctx.session_state::<SeenFiles>().compare(path, now)
    }

    /// What the session knows of the file at one real path it knows from now on of the one at another: it was moved.
    pub(super) fn moved(&self, from: &Path, to: &Path) {
        self.ctx.session_state::<SeenFiles>().rename(from, to);
    }

    /// Forgets what was at a real path: it is gone.
    pub fn forget(&self, path: &Path) {
        self.ctx.session_state::<SeenFiles>().remove(path);
    }
}

impl SeenFiles {
    fn set(&self, path: &Path, version: FileVersion) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.uses += 1;
        let used = table.uses;
        let before = table.files.remove(path);
        let by_content = before
            .and_then(|known| known.by_content.or(Some(known.version)))
            .filter(|known| version.is_less_than(known));
        table.files.insert(path.to_owned(), Known { version, by_content, used });
        if table.files.len() > MOST_FILES {
            let oldest = table.files.iter().min_by_key(|(_, known)| known.used).map(|(path, _)| path.clone());
            oldest.and_then(|oldest| table.files.remove(&oldest));
        }
    }

    fn compare(&self, path: &Path, now: &FileVersion) -> Seen {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = table.files.get(path) else { return Seen::Never };
        let mut versions = std::iter::once(&known.version).chain(&known.by_content);
        if versions.any(|version| version.is_same(now)) { Seen::Same } else { Seen::Changed }
    }

    fn rename(&self, from: &Path, to: &Path) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match table.files.remove(from) {
            Some(known) => drop(table.files.insert(to.to_owned(), known)),
            None => drop(table.files.remove(to)),
        }
    }

    fn remove(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).files.remove(path);
    }
}

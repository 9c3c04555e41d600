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
    files: HashMap<PathBuf, (FileVersion, u64)>,
    uses: u64,
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
        table.files.insert(path.to_owned(), (version, used));
        if table.files.len() > MOST_FILES {
            let oldest = table.files.iter().min_by_key(|(_, (_, used))| *used).map(|(path, _)| path.clone());
            oldest.and_then(|oldest| table.files.remove(&oldest));
        }
    }

    fn compare(&self, path: &Path, now: &FileVersion) -> Seen {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match table.files.get(path) {
            None => Seen::Never,
            Some((version, _)) if version.is_same(now) => Seen::Same,
            Some(_) => Seen::Changed,
        }
    }

    fn remove(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).files.remove(path);
    }
}

//! Changes of several files that are one, and what is known of them where the process dies in between.
//!
//! Each file is old or new then, but some may be old and others new. A record in the toolkit's data directory says which files
//! belong together; whoever next changes files in the workspace can tell what became of them.

use super::Workspace;
use super::handle;
use super::opened::Refused;
use super::target::Target;
use super::version::hash;
use crate::output_store::make_directory;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The directory of the records, in the data directory.
const DIRECTORY: &str = "unfinished";
/// The most records that are looked at.
const MOST_RECORDS: usize = 1_000;
/// The most bytes of a record.
const MOST_BYTES: u64 = 4 << 20;
/// The largest file that is compared.
const MOST_COMPARED: u64 = 256 << 20;

/// That several files are being changed as one. Dropped, the change is complete, or taken back.
#[derive(Debug)]
#[must_use]
pub struct Unfinished {
    path: PathBuf,
    /// Locked for as long as the process lives.
    _file: File,
}

/// What a change left that was interrupted: each file by what it has now. Nobody else finds it while this lives; it is found
/// again unless it was [told](Self::told).
#[derive(Debug)]
#[non_exhaustive]
pub struct Interrupted {
    /// The files as texts show them, and what they have.
    pub files: Vec<(String, Left)>,
    /// Its record.
    path: PathBuf,
    /// Locked for as long as this lives.
    _file: File,
}

impl Interrupted {
    /// Says that somebody was told of it, so that nobody is told again. Blocks.
    pub fn told(self) {
        // What cannot be removed is told again, which is better than never.
        let _ = fs::remove_file(&self.path);
    }
}

/// What a file has after an interrupted change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Left {
    /// What it had before.
    Old,
    /// What it was to have.
    New,
    /// Something else, or it may not be looked at.
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct Record {
    workspace: PathBuf,
    files: Vec<Change>,
}

/// Contents as hashes; nothing where no file is.
#[derive(Serialize, Deserialize)]
struct Change {
    path: PathBuf,
    before: Option<u64>,
    after: Option<u64>,
}

impl Workspace {
    /// Notes that files are about to be changed as one: each with its content before and after. `None` where there is no
    /// place to note it, or only one file. Blocks.
    pub fn begin_together<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a Target, Option<&'a [u8]>, Option<&'a [u8]>)>,
    ) -> Option<Unfinished> {
        let change = |(target, before, after): (&Target, Option<&[u8]>, Option<&[u8]>)| Change {
            path: target.real.clone(),
            before: before.map(hash),
            after: after.map(hash),
        };
        let files: Vec<Change> = changes.into_iter().map(change).collect();
        if files.len() < 2 {
            return None;
        }
        let record = serde_json::to_vec(&Record { workspace: self.root().ok()?, files }).ok()?;
        let directory = self.records()?;
        make_directory(&directory).ok()?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).ok()?;
        let path = directory.join(format!("{:016x}.json", u64::from_be_bytes(random)));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
        let unfinished = |file| Unfinished { path: path.clone(), _file: file };
        handle::try_lock(&file);
        let written = file.write_all(&record).and_then(|()| file.sync_all());
        let unfinished = unfinished(file);
        written.ok().map(|()| unfinished)
    }

    /// What changes left in this workspace whose processes died. Blocks.
    pub fn interrupted(&self) -> Vec<Interrupted> {
        let (Some(directory), Ok(root)) = (self.records(), self.root()) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path()).take(MOST_RECORDS);
        paths.filter_map(|path| self.interrupted_at(&path, &root)).collect()
    }

    fn interrupted_at(&self, path: &Path, root: &Path) -> Option<Interrupted> {
        let file = File::open(path).ok()?;
        let mut bytes = Vec::new();
        (&file).take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        // Another's may be of another workspace, or not complete yet.
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        if record.workspace != root || !handle::try_lock(&file) {
            return None;
        }
        let files: Vec<(String, Left)> =
            record.files.iter().map(|change| (self.shown(&change.path), self.left(change))).collect();
        let is_mixed = files.iter().any(|(_, left)| *left != files[0].1);
        let interrupted = Interrupted { files, path: path.to_owned(), _file: file };
        if is_mixed {
            return Some(interrupted);
        }
        // All of it is done, or nothing: there is nothing to tell.
        interrupted.told();
        None
    }

    fn left(&self, change: &Change) -> Left {
        let now = match self.try_open(&change.path) {
            Err(Refused::Absent) => None,
            Ok(file) if file.metadata().len() <= MOST_COMPARED => {
                let mut bytes = Vec::new();
                match file.file().take(MOST_COMPARED).read_to_end(&mut bytes) {
                    Ok(_) => Some(hash(&bytes)),
                    Err(_) => return Left::Unknown,
                }
            }
            _ => return Left::Unknown,
        };
        match now {
            now if now == change.before => Left::Old,
            now if now == change.after => Left::New,
            _ => Left::Unknown,
        }
    }

    fn records(&self) -> Option<PathBuf> {
        Some(self.ctx.scope().toolkit.settings.outputs.data_dir()?.join(DIRECTORY))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // What cannot be removed tells of a change that is complete, and then says nothing.
        let _ = fs::remove_file(&self.path);
    }
}

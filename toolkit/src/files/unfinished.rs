//! Records of changes of several files that belong together, for the case that the process dies in between.
//!
//! Each file then has its old or its new content, but some may be old and others new. A record in the toolkit's data directory
//! lists the files that belong together; the next call of a tool that checks can report their state.

use super::Workspace;
use super::handle;
use super::opened::OpenError;
use super::target::Target;
use super::version::ContentHash;
use crate::output_store::make_directory;
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The directory of the records, within the data directory.
const DIRECTORY: &str = "unfinished";
/// The most records of a workspace that are examined.
const MAX_RECORDS: usize = 100;
/// The age at which any file among the records is removed: an unreported record, or another file.
const OLD: Duration = Duration::from_hours(30 * 24);
/// The most bytes of a record.
const MAX_BYTES: u64 = 4 << 20;
/// The largest file that is compared.
const MAX_COMPARED: u64 = 256 << 20;

/// A running change of several files. Dropping it means that the change is complete, or undone.
#[derive(Debug)]
#[must_use]
pub struct PendingChange {
    path: PathBuf,
    /// The record's file, locked for as long as the process lives.
    _file: File,
}

/// An interrupted change, with the present state of each file. No other call finds it while this lives; it is found again
/// unless it was [reported](Self::told).
#[derive(Debug)]
#[non_exhaustive]
pub struct InterruptedChange {
    /// The files in their displayed form, and their state.
    pub files: Vec<(String, FileState)>,
    /// The files that were being written in place and have neither the old nor the new content, each with the copy of the old
    /// content.
    pub copies: Vec<(String, PathBuf)>,
    /// The path of the record.
    path: PathBuf,
    /// The record's file, locked for as long as this lives.
    _file: File,
}

/// The reported records that could not be removed, because their directory is read-only.
static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl InterruptedChange {
    /// Marks the change as reported, so that it is not reported again. Blocks.
    pub fn told(self) {
        if fs::remove_file(&self.path).is_err() {
            TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(self.path);
        }
    }
}

/// The state of a file after an interrupted change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// The old content.
    Old,
    /// The new content.
    New,
    /// Other content, or it may not be read.
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct Record {
    workspace: PathBuf,
    files: Vec<Change>,
}

/// The content of a file before and after; `None` if there is no file.
#[derive(Serialize, Deserialize)]
struct Change {
    path: PathBuf,
    before: Option<Content>,
    after: Option<Content>,
    /// The copy of the old content, if the file is written in place.
    #[serde(default)]
    copy: Option<PathBuf>,
}

/// The size and hash of a content.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    size: u64,
    hash: u64,
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        let mut hash = ContentHash::new();
        hash.update(bytes);
        Self::of_hash(hash)
    }

    pub(super) fn of_hash(hash: ContentHash) -> Self {
        Self { size: hash.size(), hash: hash.finish() }
    }
}

impl Workspace {
    /// Records that files are about to be changed together: each with its content before and after. Returns `None` if there is
    /// no place for records, or only one file. Blocks.
    pub fn begin_together<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a Target, Option<&'a [u8]>, Option<&'a [u8]>)>,
    ) -> Option<PendingChange> {
        let change = |(target, before, after): (&Target, Option<&[u8]>, Option<&[u8]>)| Change {
            path: target.real.clone(),
            before: before.map(Content::of),
            after: after.map(Content::of),
            copy: None,
        };
        let files: Vec<Change> = changes.into_iter().map(change).collect();
        if files.len() < 2 {
            return None;
        }
        self.begin(files)
    }

    /// Records that a file is about to be written in place, with its content before and after, and the copy of the former.
    pub(super) fn begin_in_place(
        &self,
        target: &Target,
        (before, after): (Content, Content),
        copy: &Path,
    ) -> Option<PendingChange> {
        let (path, copy) = (target.real.clone(), Some(copy.to_owned()));
        self.begin(vec![Change { path, before: Some(before), after: Some(after), copy }])
    }

    fn begin(&self, files: Vec<Change>) -> Option<PendingChange> {
        let root = self.root().ok()?;
        let directory = self.records(&root)?;
        let record = serde_json::to_vec(&Record { workspace: root, files }).ok()?;
        make_directory(&directory).ok()?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).ok()?;
        let path = directory.join(format!("{:016x}.json", u64::from_be_bytes(random)));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
        let unfinished = |file| PendingChange { path: path.clone(), _file: file };
        handle::try_lock(&file);
        let written = file.write_all(&record).and_then(|()| file.sync_all());
        let unfinished = unfinished(file);
        written.ok().map(|()| unfinished)
    }

    /// Returns the changes in this workspace that were interrupted because their process died. Blocks; when `goes_on` returns
    /// false, the remaining records are left for the next call.
    pub fn interrupted(&self, goes_on: impl Fn() -> bool) -> Vec<InterruptedChange> {
        let Ok(root) = self.root() else { return Vec::new() };
        let Some(directory) = self.records(&root) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path()).take(MAX_RECORDS).take_while(|_| goes_on());
        paths.filter_map(|path| self.interrupted_at(&path, &root, &goes_on)).collect()
    }

    fn interrupted_at(
        &self,
        path: &Path,
        root: &Path,
        goes_on: &impl Fn() -> bool,
    ) -> Option<InterruptedChange> {
        if TOLD.lock().unwrap_or_else(PoisonError::into_inner).contains(path) {
            return None;
        }
        let file = File::open(path).ok()?;
        let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        // No test can tell `>` from `>=`: the age would have to be equal to the nanosecond.
        if age > OLD && handle::try_lock(&file) {
            let _ = fs::remove_file(path);
            return None;
        }
        let mut bytes = Vec::new();
        (&file).take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        // Another process's record may be of another workspace, or incomplete.
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        if record.workspace != root || !handle::try_lock(&file) {
            return None;
        }
        // The process that made the record may have finished since it was opened, and another call may have reported it.
        let there = fs::symlink_metadata(path).ok()?;
        if handle::identity(&there) != handle::identity(&file.metadata().ok()?) {
            return None;
        }
        let mut files = Vec::with_capacity(record.files.len());
        let mut copies = Vec::new();
        for change in &record.files {
            let (shown, left) = (self.shown(&change.path), self.left(change, goes_on)?);
            match &change.copy {
                Some(copy) if left == FileState::Unknown => copies.push((shown.clone(), copy.clone())),
                // The file has one complete content, and the copy is not needed.
                Some(copy) => drop(fs::remove_file(copy)),
                None => {}
            }
            files.push((shown, left));
        }
        let is_mixed = files.iter().any(|(_, left)| *left != files[0].1) || !copies.is_empty();
        let interrupted = InterruptedChange { files, copies, path: path.to_owned(), _file: file };
        if is_mixed {
            return Some(interrupted);
        }
        // The change is complete or has not begun: there is nothing to report.
        interrupted.told();
        None
    }

    /// Returns the state of a file; `None` after cancellation.
    fn left(&self, change: &Change, goes_on: &impl Fn() -> bool) -> Option<FileState> {
        let now = match self.try_open(&change.path) {
            Err(OpenError::Absent) => None,
            Ok(file) => {
                let size = file.metadata().len();
                let is_one_of =
                    [change.before, change.after].iter().flatten().any(|content| content.size == size);
                // Only saves reading: content of another size has another hash. No test can tell, and none
                // has a file as large as `MAX_COMPARED`.
                if size > MAX_COMPARED || !is_one_of {
                    return Some(FileState::Unknown);
                }
                let (mut hash, mut block) = (ContentHash::new(), vec![0; ContentHash::BLOCK]);
                let mut rest = file.file().take(MAX_COMPARED);
                loop {
                    if !goes_on() {
                        return None;
                    }
                    match rest.read(&mut block) {
                        Ok(0) => break,
                        Ok(count) => hash.update(&block[..count]),
                        // No test can interrupt a read.
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(_) => return Some(FileState::Unknown),
                    }
                }
                Some(Content { size: hash.size(), hash: hash.finish() })
            }
            _ => return Some(FileState::Unknown),
        };
        Some(match now {
            now if now == change.before => FileState::Old,
            now if now == change.after => FileState::New,
            _ => FileState::Unknown,
        })
    }

    /// Returns the directory of the records of a workspace.
    fn records(&self, root: &Path) -> Option<PathBuf> {
        let of_workspace =
            data_encoding::HEXLOWER.encode(&Hash::hash(root.as_os_str().as_encoded_bytes())[..16]);
        Some(self.ctx.scope().toolkit.settings.outputs.data_dir()?.join(DIRECTORY).join(of_workspace))
    }
}

impl Drop for PendingChange {
    fn drop(&mut self) {
        // A record that cannot be removed describes a complete change, which is not reported.
        let _ = fs::remove_file(&self.path);
    }
}

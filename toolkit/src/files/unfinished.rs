//! Changes of several files that are one, and what is known of them where the process dies in between.
//!
//! Each file is old or new then, but some may be old and others new. A record in the toolkit's data directory says which files
//! belong together; the next call of a tool that looks can tell what became of them.

use super::Workspace;
use super::handle;
use super::opened::Refused;
use super::target::Target;
use super::version::ContentHash;
use crate::output_store::make_directory;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The directory of the records, in the data directory.
const DIRECTORY: &str = "unfinished";
/// The most records of a workspace that are looked at.
const MAX_RECORDS: usize = 100;
/// After how long what stands among the records is removed, whatever it is: nobody told of it, or it is none.
const OLD: Duration = Duration::from_hours(30 * 24);
/// The most bytes of a record.
const MAX_BYTES: u64 = 4 << 20;
/// The largest file that is compared.
const MAX_COMPARED: u64 = 256 << 20;

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
    /// The files that were being written in place and are neither as before nor as they were to be, each with the copy of
    /// what it had.
    pub copies: Vec<(String, PathBuf)>,
    /// Its record.
    path: PathBuf,
    /// Locked for as long as this lives.
    _file: File,
}

/// The records that were told and could not be removed: their directory can be read alone.
static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl Interrupted {
    /// Says that somebody was told of it, so that nobody is told again. Blocks.
    pub fn told(self) {
        if fs::remove_file(&self.path).is_err() {
            TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(self.path);
        }
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

/// What a file has before and after; nothing where no file is.
#[derive(Serialize, Deserialize)]
struct Change {
    path: PathBuf,
    before: Option<Content>,
    after: Option<Content>,
    /// Where the old content is, if the file is written in place.
    #[serde(default)]
    copy: Option<PathBuf>,
}

/// A content by its size and hash.
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
    /// Notes that files are about to be changed as one: each with its content before and after. `None` where there is no
    /// place to note it, or only one file. Blocks.
    pub fn begin_together<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a Target, Option<&'a [u8]>, Option<&'a [u8]>)>,
    ) -> Option<Unfinished> {
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

    /// Notes that a file is about to be written in place, with its content before and after, and where a copy of the former is.
    pub(super) fn begin_in_place(
        &self,
        target: &Target,
        (before, after): (Content, Content),
        copy: &Path,
    ) -> Option<Unfinished> {
        let (path, copy) = (target.real.clone(), Some(copy.to_owned()));
        self.begin(vec![Change { path, before: Some(before), after: Some(after), copy }])
    }

    fn begin(&self, files: Vec<Change>) -> Option<Unfinished> {
        let root = self.root().ok()?;
        let directory = self.records(&root)?;
        let record = serde_json::to_vec(&Record { workspace: root, files }).ok()?;
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

    /// What changes left in this workspace whose processes died. Blocks; where it does not go on, those that were not looked
    /// at yet stay for the next who asks.
    pub fn interrupted(&self, goes_on: impl Fn() -> bool) -> Vec<Interrupted> {
        let Ok(root) = self.root() else { return Vec::new() };
        let Some(directory) = self.records(&root) else { return Vec::new() };
        let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path()).take(MAX_RECORDS).take_while(|_| goes_on());
        paths.filter_map(|path| self.interrupted_at(&path, &root, &goes_on)).collect()
    }

    fn interrupted_at(&self, path: &Path, root: &Path, goes_on: &impl Fn() -> bool) -> Option<Interrupted> {
        if TOLD.lock().unwrap_or_else(PoisonError::into_inner).contains(path) {
            return None;
        }
        let file = File::open(path).ok()?;
        let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        if age > OLD && handle::try_lock(&file) {
            let _ = fs::remove_file(path);
            return None;
        }
        let mut bytes = Vec::new();
        (&file).take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        // Another's may be of another workspace, or not complete yet.
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        if record.workspace != root || !handle::try_lock(&file) {
            return None;
        }
        // Who made it may have ended well since it was opened, and another may have told of it.
        let there = fs::symlink_metadata(path).ok()?;
        if handle::identity(&there) != handle::identity(&file.metadata().ok()?) {
            return None;
        }
        let mut files = Vec::with_capacity(record.files.len());
        let mut copies = Vec::new();
        for change in &record.files {
            let (shown, left) = (self.shown(&change.path), self.left(change, goes_on)?);
            match &change.copy {
                Some(copy) if left == Left::Unknown => copies.push((shown.clone(), copy.clone())),
                // The file has all of one content, and the copy is of no use.
                Some(copy) => drop(fs::remove_file(copy)),
                None => {}
            }
            files.push((shown, left));
        }
        let is_mixed = files.iter().any(|(_, left)| *left != files[0].1) || !copies.is_empty();
        let interrupted = Interrupted { files, copies, path: path.to_owned(), _file: file };
        if is_mixed {
            return Some(interrupted);
        }
        // All of it is done, or nothing: there is nothing to tell.
        interrupted.told();
        None
    }

    /// What a file has; `None` where it did not go on.
    fn left(&self, change: &Change, goes_on: &impl Fn() -> bool) -> Option<Left> {
        let now = match self.try_open(&change.path) {
            Err(Refused::Absent) => None,
            Ok(file) => {
                let size = file.metadata().len();
                let is_one_of =
                    [change.before, change.after].iter().flatten().any(|content| content.size == size);
                if size > MAX_COMPARED || !is_one_of {
                    return Some(Left::Unknown);
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
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(_) => return Some(Left::Unknown),
                    }
                }
                Some(Content { size: hash.size(), hash: hash.finish() })
            }
            _ => return Some(Left::Unknown),
        };
        Some(match now {
            now if now == change.before => Left::Old,
            now if now == change.after => Left::New,
            _ => Left::Unknown,
        })
    }

    /// The directory of the records of a workspace.
    fn records(&self, root: &Path) -> Option<PathBuf> {
        let of_workspace =
            data_encoding::HEXLOWER.encode(&Sha256::digest(root.as_os_str().as_encoded_bytes())[..16]);
        Some(self.ctx.scope().toolkit.settings.outputs.data_dir()?.join(DIRECTORY).join(of_workspace))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // What cannot be removed tells of a change that is complete, and then says nothing.
        let _ = fs::remove_file(&self.path);
    }
}

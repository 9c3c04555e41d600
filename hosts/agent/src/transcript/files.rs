//! Transcripts in the files of a directory.

use super::is_id;
use super::store::{
    StoreLock, StoredSegment, StoredTranscript, SyncWork, TranscriptStore, TranscriptWriter, exists, in_use,
    not_found, not_the_oldest,
};
use crate::fail_points;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The extension of a segment.
const LINES: &str = "jsonl";
/// The extension of a segment that is not there whole yet.
const NEW: &str = "new";
/// How often a file is opened anew that another process replaces meanwhile.
const MAX_TRIES: u32 = 100;

/// Transcripts in a directory, readable by their owner alone: `<id>.jsonl`, and `<id>.<number>.jsonl` for each further segment.
///
/// A writer locks the last segment. A segment is written under another name, locked, and then gets its own.
#[derive(Debug, Clone)]
pub struct FileStore {
    directory: PathBuf,
}

#[derive(Debug)]
struct FileWriter {
    store: FileStore,
    id: String,
    segment: u32,
    /// The last segment, which is locked.
    file: File,
    /// True once the names of the segments have reached the disk.
    is_named: Arc<AtomicBool>,
}

impl FileStore {
    /// Returns the store in a directory, which need not be there yet.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The regular files of the directory; others, such as pipes, would block.
    fn files(&self) -> io::Result<impl Iterator<Item = (PathBuf, Metadata)>> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => Some(entries),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(entries.into_iter().flatten().filter_map(|entry| {
            let path = entry.ok()?.path();
            let metadata = path.metadata().ok()?;
            metadata.is_file().then_some((path, metadata))
        }))
    }

    fn segments(&self) -> io::Result<BTreeMap<String, Vec<StoredSegment>>> {
        let mut segments: BTreeMap<String, Vec<StoredSegment>> = BTreeMap::new();
        for (path, metadata) in self.files()? {
            let Some((id, number)) = segment_of(&path, LINES) else { continue };
            let Ok(changed) = metadata.modified() else { continue };
            let segment = StoredSegment::new(number, changed, metadata.len());
            segments.entry(id).or_default().push(segment);
        }
        segments.values_mut().for_each(cut_at_gap);
        Ok(segments)
    }

    /// A segment, if it is there.
    fn segment(&self, id: &str, number: u32) -> Option<StoredSegment> {
        let metadata = self.path(id, number).metadata().ok().filter(Metadata::is_file)?;
        Some(StoredSegment::new(number, metadata.modified().ok()?, metadata.len()))
    }

    /// Opens a segment to read it.
    fn opened(&self, id: &str, segment: u32) -> io::Result<File> {
        let path = self.path(id, segment);
        if !path.metadata()?.is_file() {
            return Err(not_found());
        }
        File::open(path)
    }

    fn create_directory(&self) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.directory)
    }

    /// Makes a segment with lines under the name that it has until it is whole, and locks it.
    fn write_new(&self, path: &Path, lines: &[u8]) -> io::Result<File> {
        self.create_directory()?;
        let new = path.with_extension(NEW);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = locked_file(&new, &options)?;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let written = file.write_all(line);
            if written.is_err() {
                let _ = fs::remove_file(&new);
                return written.map(|()| file);
            }
            fail_points::pass("transcript_line");
        }
        Ok(file)
    }
}

impl TranscriptStore for FileStore {
    fn list(&self) -> io::Result<Vec<StoredTranscript>> {
        let segments = self.segments()?.into_iter();
        Ok(segments.filter_map(|(id, segments)| StoredTranscript::new(id, segments)).collect())
    }

    fn get(&self, id: &str) -> io::Result<StoredTranscript> {
        // The first segment is seldom removed: the others follow it without a gap.
        let mut segments: Vec<StoredSegment> = (1..).map_while(|number| self.segment(id, number)).collect();
        if segments.is_empty() {
            segments = self.segments()?.remove(id).unwrap_or_default();
        }
        StoredTranscript::new(id, segments).ok_or_else(not_found)
    }

    fn read(&self, id: &str, segment: u32) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(self.opened(id, segment)?))
    }

    fn read_end(&self, id: &str, segment: u32, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut file = self.opened(id, segment)?;
        let begin = file.metadata()?.len().saturating_sub(max_bytes);
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(max_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create(&self, id: &str, line: &[u8]) -> io::Result<Box<dyn TranscriptWriter>> {
        let path = self.path(id, 1);
        let file = self.write_new(&path, line)?;
        name(&path)?;
        let is_named = Arc::default();
        Ok(Box::new(FileWriter { store: self.clone(), id: id.to_owned(), segment: 1, file, is_named }))
    }

    fn create_whole(&self, id: &str, lines: &[u8]) -> io::Result<()> {
        let path = self.path(id, 1);
        let file = self.write_new(&path, lines)?;
        file.sync_all()?;
        fail_points::pass("transcript_copied");
        name(&path)?;
        sync_directory(&self.directory)?;
        fail_points::synced(&path, lines.len() as u64);
        Ok(())
    }

    fn open(&self, id: &str) -> io::Result<Box<dyn TranscriptWriter>> {
        for _ in 0..MAX_TRIES {
            let segment = self.get(id)?.last();
            let path = self.path(id, segment);
            // Its writer may begin the next one meanwhile, and a clean-up may remove it.
            let has_next = || segment.checked_add(1).is_some_and(|next| self.path(id, next).exists());
            let is_last = || path.exists() && !has_next();
            match lock_file(&path, OpenOptions::new().read(true).write(true)) {
                Ok(Some(mut file)) if is_last() => {
                    file.seek(SeekFrom::End(0))?;
                    let is_named = Arc::default();
                    let (store, id) = (self.clone(), id.to_owned());
                    return Ok(Box::new(FileWriter { store, id, segment, file, is_named }));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && is_last() => return Err(error),
                Err(error) if !is_passing(&error) => return Err(error),
                _ => {}
            }
        }
        Err(in_use())
    }

    fn remove_oldest(&self, id: &str, segment: u32) -> io::Result<()> {
        let stored = self.get(id)?;
        match &*stored.segments {
            [first, _, ..] if first.number == segment => fs::remove_file(self.path(id, segment)),
            segments if segments.iter().any(|there| there.number == segment) => Err(not_the_oldest()),
            _ => Err(not_found()),
        }
    }

    fn hold_off_removal(&self) -> io::Result<StoreLock> {
        Ok(Box::new(locked_directory(&self.directory, File::lock_shared)?))
    }

    fn lock_for_removal(&self) -> io::Result<StoreLock> {
        let try_lock = |directory: &File| match directory.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(in_use()),
            Err(TryLockError::Error(error)) => Err(error),
        };
        Ok(Box::new(locked_directory(&self.directory, try_lock)?))
    }

    fn remove_unfinished(&self) {
        for (path, _) in self.files().into_iter().flatten() {
            if segment_of(&path, NEW).is_some() {
                let held = lock_file(&path, OpenOptions::new().read(true).write(true));
                if let Ok(Some(_held)) = held {
                    // Another process may have been faster.
                    let _ = fs::remove_file(path);
                }
            }
        }
    }

    fn path(&self, id: &str, segment: u32) -> PathBuf {
        self.directory.join(match segment {
            1 => format!("{id}.{LINES}"),
            _ => format!("{id}.{segment}.{LINES}"),
        })
    }
}

impl TranscriptWriter for FileWriter {
    fn segment(&self) -> u32 {
        self.segment
    }

    fn read(&mut self, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        (&mut self.file).take(max_bytes).read_to_end(&mut bytes)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(bytes)
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.write_all(line).map_err(|error| {
            let path = self.store.path(&self.id, self.segment);
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(drop)
    }

    fn begin_segment(&mut self, lines: &[u8]) -> io::Result<()> {
        let next = self.segment.checked_add(1).ok_or_else(|| io::Error::other("it has no further number"))?;
        let path = self.store.path(&self.id, next);
        // Nobody else begins one: what is there was left by a process that was killed. A clean-up that has locked it removes it.
        let left = path.with_extension(NEW);
        if let Ok(Some(_held)) = lock_file(&left, OpenOptions::new().read(true).write(true)) {
            let _ = fs::remove_file(left);
        }
        let file = self.store.write_new(&path, lines)?;
        file.sync_all()?;
        fail_points::pass("transcript_copied");
        name(&path)?;
        fail_points::pass("transcript_segment");
        // It is locked already, and only now the one before is free.
        self.file = file;
        self.segment = next;
        self.is_named = Arc::default();
        sync_directory(&self.store.directory)?;
        self.is_named.store(true, Ordering::SeqCst);
        fail_points::synced(&path, lines.len() as u64);
        Ok(())
    }

    fn sync(&self) -> SyncWork {
        // A handle of the writer would keep it locked.
        let path = self.store.path(&self.id, self.segment);
        let (directory, is_named) = (self.store.directory.clone(), Arc::clone(&self.is_named));
        let written = self.file.metadata();
        Box::new(move || {
            // Lines that were written to a file that is not there any more are lost.
            let lost = |why: &str| io::Error::other(format!("the transcript {} {why}", path.display()));
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(lost("was removed while it was written; begin another conversation"));
                }
                Err(error) => return Err(lost(&format!("cannot be opened: {error}"))),
            };
            let written = written?;
            if !is_one(&written, &file.metadata()?) {
                return Err(lost(
                    "was replaced while it was written; begin another conversation, or open it again",
                ));
            }
            file.sync_data().map_err(|error| lost(&format!("cannot be written: {error}")))?;
            if !is_named.load(Ordering::SeqCst) {
                sync_directory(&directory)?;
                is_named.store(true, Ordering::SeqCst);
            }
            fail_points::synced(&path, written.len());
            Ok(())
        })
    }

    fn remove(self: Box<Self>) -> io::Result<()> {
        for segment in self.store.get(&self.id)?.segments {
            fs::remove_file(self.store.path(&self.id, segment.number))?;
        }
        Ok(())
    }
}

/// Gives a segment its name, under which none is.
fn name(path: &Path) -> io::Result<()> {
    let new = path.with_extension(NEW);
    let named = if path.exists() { Err(exists()) } else { fs::rename(&new, path) };
    if named.is_err() {
        let _ = fs::remove_file(&new);
    }
    named
}

/// The id and the number of the segment that a file with this extension is.
fn segment_of(path: &Path, extension: &str) -> Option<(String, u32)> {
    let name = path.file_name()?.to_str()?.strip_suffix(extension)?.strip_suffix('.')?;
    let (id, number) = match name.split_once('.') {
        None => (name, 1),
        Some((id, number)) => {
            (id, number.parse().ok().filter(|of: &u32| *of > 1 && of.to_string() == number)?)
        }
    };
    is_id(id).then(|| (id.to_owned(), number))
}

/// Sorts segments, and removes those behind the first gap: no writer puts them there.
fn cut_at_gap(segments: &mut Vec<StoredSegment>) {
    segments.sort_by_key(|segment| segment.number);
    let is_gap = |pair: &[StoredSegment]| pair[0].number.checked_add(1) != Some(pair[1].number);
    if let Some(last) = segments.windows(2).position(is_gap) {
        segments.truncate(last + 1);
    }
}

/// Returns true if another process opens, names or removes the file at this moment.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock)
}

/// Makes a file that is locked. A clean-up may lock and remove it first.
fn locked_file(path: &Path, options: &OpenOptions) -> io::Result<File> {
    for _ in 0..MAX_TRIES {
        match lock_file(path, options) {
            Ok(Some(file)) => return Ok(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists || is_passing(&error) => {}
            Err(error) => return Err(error),
            Ok(None) => {}
        }
        std::thread::yield_now();
    }
    Err(exists())
}

/// Opens a file and locks it; `None` if the path leads to another one meanwhile.
fn lock_file(path: &Path, options: &OpenOptions) -> io::Result<Option<File>> {
    let file = options.open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(is_at(&file, path)?.then_some(file)),
        Err(TryLockError::WouldBlock) => Err(in_use()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns true if a path leads to this file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let there = match path.metadata() {
        Ok(there) => there,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(is_one(&file.metadata()?, &there))
}

/// Returns true if both are of one file.
#[cfg(unix)]
fn is_one(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_one(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

/// Returns true if a file is at this path: on other systems none is replaced that is open.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// Locks a directory; `None` if it is not there, where there is nothing to remove, or on a file system that locks no directories, such as NFS: a part of
/// a conversation can be opened there while another part is removed. Fails if another process has it locked and `lock` does not wait.
#[cfg(unix)]
fn locked_directory(directory: &Path, lock: fn(&File) -> io::Result<()>) -> io::Result<Option<File>> {
    match File::open(directory) {
        Ok(directory) => {
            let is_interrupted = |locked: &io::Result<()>| {
                locked.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted)
            };
            let locked = std::iter::repeat_with(|| lock(&directory)).find(|locked| !is_interrupted(locked));
            match locked {
                Some(Ok(())) => Ok(Some(directory)),
                Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
                _ => Ok(None),
            }
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Locks nothing: other systems lock no directories.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the form of the one for Unix")]
fn locked_directory(_directory: &Path, _lock: fn(&File) -> io::Result<()>) -> io::Result<Option<File>> {
    Ok(None)
}

/// Has the names of files reach the disk.
#[cfg(unix)]
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Does nothing: other systems have names reach the disk with the file.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the form of the one for Unix")]
fn sync_directory(_directory: &Path) -> io::Result<()> {
    Ok(())
}

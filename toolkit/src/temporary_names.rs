//! Notes of temporary names, so that the next process removes the files that a killed one left under them.
//!
//! A note is a file in the toolkit's data directory with the path of one temporary file. It is locked while its process lives, and is there before
//! the temporary file. Without a place for notes, what is left behind is removed by a later write to the same directory.

use crate::output_store::make_directory;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The directory of the notes, within the data directory.
const DIRECTORY: &str = "temporary";
/// The most notes that a process has at once; further names are not noted.
const MAX_LIVE: usize = 64;
/// The most notes that are read at once.
const MAX_NOTES: usize = 10_000;
/// The most bytes of a note.
const MAX_BYTES: u64 = 64 << 10;
/// The age at which a note is removed whatever it contains: its file could not be removed, or it is no note.
const OLD: Duration = Duration::from_hours(30 * 24);

const BEFORE: &str = ".toolkit-";
const AFTER: &str = ".tmp";
const DIGITS: usize = 16;

/// Returns the name of a file that is incomplete, or was just replaced.
pub(crate) fn name(random: u64) -> String {
    format!("{BEFORE}{random:016x}{AFTER}")
}

/// Returns true for such a name.
pub(crate) fn is_name(name: &OsStr) -> bool {
    let digits =
        name.to_str().and_then(|name| name.strip_prefix(BEFORE)).and_then(|name| name.strip_suffix(AFTER));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// A temporary name that was noted. Dropping it removes the note.
#[derive(Debug)]
pub(crate) struct NotedName {
    note: PathBuf,
    /// Locked for as long as the process lives.
    file: File,
    _live: Live,
}

/// One of the notes of this process at this time, of which there are 64 at most: each has a file open.
#[derive(Debug)]
struct Live;

static LIVE: AtomicUsize = AtomicUsize::new(0);

impl Live {
    fn begin() -> Option<Self> {
        let more = |live: usize| (live < MAX_LIVE).then_some(live + 1);
        LIVE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Self)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl NotedName {
    /// Notes a path that a file is about to get. Returns `None` if there is no place for notes. Blocks.
    pub(crate) fn note(data_dir: Option<&Path>, path: &Path) -> Option<Self> {
        let live = Live::begin()?;
        let directory = data_dir?.join(DIRECTORY);
        let text = serde_json::to_vec(path).ok()?;
        make_directory(&directory).ok()?;
        let note = directory.join(path.file_name()?);
        let file = OpenOptions::new().write(true).create_new(true).open(&note).ok()?;
        // Locked first: what has content and no lock was left by a dead process.
        if file.try_lock().is_err() {
            let _ = fs::remove_file(&note);
            return None;
        }
        let noted = Self { note, file, _live: live };
        (&noted.file).write_all(&text).ok()?;
        Some(noted)
    }
}

impl Drop for NotedName {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.note);
    }
}

/// Removes the files that killed processes left under the names that they had noted. Blocks.
pub(crate) fn remove_left(data_dir: &Path) {
    let directory = data_dir.join(DIRECTORY);
    if !fs::symlink_metadata(&directory).is_ok_and(|found| found.is_dir()) {
        return;
    }
    let Ok(entries) = fs::read_dir(directory) else { return };
    // A host may have files of its own there.
    let notes = entries.flatten().filter(|entry| is_name(&entry.file_name()));
    for entry in notes.take(MAX_NOTES) {
        let note = entry.path();
        // One that cannot be read now is looked at again.
        if matches!(is_done(&note), Ok(true)) {
            let _ = fs::remove_file(&note);
        }
    }
}

/// Returns true if a note is of no use any more.
fn is_done(note: &Path) -> io::Result<bool> {
    if !fs::symlink_metadata(note)?.is_file() {
        return Ok(false);
    }
    // Some file systems lock only what can be written.
    let file = OpenOptions::new().read(true).write(true).open(note)?;
    let age = file.metadata()?.modified()?.elapsed().unwrap_or_default();
    let mut text = Vec::new();
    // Before the lock: a process that has not locked its note yet has written nothing.
    (&file).take(MAX_BYTES).read_to_end(&mut text)?;
    if text.is_empty() && age <= OLD || file.try_lock().is_err() {
        return Ok(false);
    }
    // Whoever gave the note up meanwhile may need the file.
    if !is_same(&file.metadata()?, &fs::symlink_metadata(note)?) {
        return Ok(false);
    }
    if age > OLD {
        return Ok(true);
    }
    let Ok(path) = serde_json::from_slice::<PathBuf>(&text) else { return Ok(false) };
    match (path.parent(), path.file_name()) {
        (Some(directory), Some(name)) if path.is_absolute() && is_name(name) => remove(directory, name),
        _ => Ok(false),
    }
}

/// Removes a temporary file of this user, and returns true if there is none any more.
fn remove(directory: &Path, name: &OsStr) -> io::Result<bool> {
    let path = directory.join(name);
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_file() && is_ours(&found) => {
            // Where a file cannot be renamed at once, it may have its own name already.
            fs::remove_file(&path)?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(true),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Files have no id here: a note that is open cannot be removed.
#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

#[cfg(unix)]
fn is_ours(found: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == rustix::process::geteuid().as_raw()
}

/// Users have no id here.
#[cfg(not(unix))]
fn is_ours(_: &fs::Metadata) -> bool {
    true
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
mod tests {
    use super::*;

    fn temporary_name() -> String {
        let mut random = [0; 8];
        getrandom::fill(&mut random).unwrap();
        name(u64::from_be_bytes(random))
    }

    /// A note as a killed process leaves it, and the path in it.
    fn left(data: &Path, directory: &Path) -> (PathBuf, PathBuf) {
        let path = directory.join(temporary_name());
        let noted = NotedName::note(Some(data), &path).unwrap();
        let note = noted.note.clone();
        let text = fs::read(&note).unwrap();
        drop(noted);
        assert!(!note.exists());
        fs::write(&note, text).unwrap();
        (note, path)
    }

    #[test]
    fn files_that_a_dead_process_has_noted_are_removed_and_nothing_else() {
        let (data, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (data, workspace) = (data.path(), workspace.path());
        let (note, path) = left(data, workspace);
        fs::write(&path, "half").unwrap();
        let (note_without_file, _) = left(data, workspace);
        let (note_of_link, linked) = left(data, workspace);
        std::os::unix::fs::symlink(&path, &linked).unwrap();
        let (_, two) = left(data, workspace);
        fs::write(&two, "two").unwrap();
        let other = workspace.join("other");
        fs::hard_link(&two, &other).unwrap();
        // A process that lives.
        let alive = workspace.join(temporary_name());
        let noted = NotedName::note(Some(data), &alive).unwrap();
        fs::write(&alive, "whole soon").unwrap();
        // A note that names another file, and no note.
        let precious = workspace.join("precious");
        fs::write(&precious, "text").unwrap();
        let forged = data.join(DIRECTORY).join(temporary_name());
        fs::write(&forged, serde_json::to_vec(&precious).unwrap()).unwrap();
        let garbage = data.join(DIRECTORY).join(temporary_name());
        fs::write(&garbage, "{").unwrap();
        // A file of the host, however old.
        let of_host = data.join(DIRECTORY).join("of the host");
        fs::write(&of_host, "text").unwrap();
        let old = File::options().write(true).open(&of_host).unwrap();
        old.set_modified(std::time::SystemTime::now().checked_sub(OLD * 2).unwrap()).unwrap();
        drop(old);

        remove_left(data);
        for gone in [&note, &path, &note_without_file, &two] {
            assert!(fs::symlink_metadata(gone).is_err(), "{}", gone.display());
        }
        for kept in
            [&alive, &noted.note, &linked, &other, &precious, &note_of_link, &forged, &garbage, &of_host]
        {
            assert!(fs::symlink_metadata(kept).is_ok(), "{}", kept.display());
        }
        drop(noted);
        assert!(alive.exists());
    }

    #[test]
    fn a_note_without_content_is_of_a_process_that_is_about_to_lock_it() {
        let data = tempfile::tempdir().unwrap();
        let directory = data.path().join(DIRECTORY);
        fs::create_dir(&directory).unwrap();
        let empty = directory.join(temporary_name());
        fs::write(&empty, "").unwrap();
        remove_left(data.path());
        assert!(empty.exists());
        let old = File::options().write(true).open(&empty).unwrap();
        old.set_modified(std::time::SystemTime::now().checked_sub(OLD * 2).unwrap()).unwrap();
        drop(old);
        remove_left(data.path());
        assert!(!empty.exists());
    }

    #[test]
    fn a_directory_behind_a_link_is_left_alone() {
        let (data, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let kept = other.path().join(temporary_name());
        fs::write(&kept, "text").unwrap();
        let old = File::options().write(true).open(&kept).unwrap();
        old.set_modified(std::time::SystemTime::now().checked_sub(OLD * 2).unwrap()).unwrap();
        drop(old);
        std::os::unix::fs::symlink(other.path(), data.path().join(DIRECTORY)).unwrap();
        remove_left(data.path());
        assert!(kept.exists());
    }

    #[test]
    fn a_process_has_a_bounded_number_of_notes() {
        let data = tempfile::tempdir().unwrap();
        let note = || NotedName::note(Some(data.path()), &data.path().join(temporary_name()));
        let notes: Vec<Option<NotedName>> = (0..MAX_LIVE * 2).map(|_| note()).collect();
        let count = notes.iter().flatten().count();
        assert!(count <= MAX_LIVE && count > 0, "{count}");
        drop(notes);
        assert!(note().is_some());
    }

    #[test]
    fn a_place_that_cannot_be_used_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(temporary_name());
        assert!(NotedName::note(None, &path).is_none());
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(NotedName::note(Some(&file), &path).is_none());
        remove_left(&file);
    }
}

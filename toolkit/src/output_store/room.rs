//! Limits the size of a new output by the total size of the store.

use super::OutputStore;
use super::name::is_file_name;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The time for which a count of the store's bytes is reused.
const COUNTED_FOR: Duration = Duration::from_secs(5);
/// A file written within this time may belong to a running call, and is not removed to make room.
const IN_USE: Duration = Duration::from_mins(10);
/// The minimum room of an output, in bytes: a full store must not prevent commands from running.
const LEAST: u64 = 1 << 20;

/// A file of the store.
struct File {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

impl OutputStore {
    /// Returns the maximum size of a new output in bytes. Removes the oldest files if there is too little room.
    pub(super) fn room(&self, root: &Path, now: SystemTime) -> u64 {
        let (most, total) = (self.settings.max_bytes(), self.settings.max_total_bytes());
        let mut counted = self.counted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let used = match *counted {
            Some((at, used)) if at.elapsed() < COUNTED_FOR => used,
            _ => {
                let used = make_room(root, total.saturating_sub(most), now);
                *counted = Some((Instant::now(), used));
                used
            }
        };
        most.min(total.saturating_sub(used).max(LEAST))
    }
}

/// Removes the oldest files until at most `wanted` bytes are left, as far as possible. Returns the number of bytes
/// left.
fn make_room(root: &Path, wanted: u64, now: SystemTime) -> u64 {
    let mut files = files(root);
    let mut used: u64 = files.iter().map(|file| file.bytes).sum();
    if used <= wanted {
        return used;
    }
    files.sort_by_key(|file| file.written);
    for file in files {
        let is_in_use = now.duration_since(file.written).is_ok_and(|age| age < IN_USE);
        if used <= wanted || is_in_use {
            break;
        }
        if fs::remove_file(&file.path).is_ok() {
            used -= file.bytes;
        }
    }
    used
}

/// Returns the files that this store has named. Follows no link.
fn files(root: &Path) -> Vec<File> {
    let entries = |directory: &Path| fs::read_dir(directory).into_iter().flatten().flatten();
    let sessions = entries(root).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let outputs = sessions.flat_map(|session| entries(&session.path()));
    let named = outputs.filter(|entry| entry.file_name().to_str().is_some_and(is_file_name));
    let file = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(File { path: entry.path(), bytes: metadata.len(), written: metadata.modified().ok()? })
    };
    named.filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_store::OutputStoreSettings;

    fn store(root: &Path, most: u64, total: u64) -> OutputStore {
        let settings = OutputStoreSettings { max_bytes: Some(most), max_total_bytes: Some(total) };
        OutputStore::new(Some(root.to_owned())).with_settings(settings)
    }

    #[test]
    fn the_oldest_go_where_a_new_output_might_not_fit() {
        let data = tempfile::tempdir().unwrap();
        let session = data.path().join("tool-output/s");
        fs::create_dir_all(&session).unwrap();
        let now = SystemTime::now();
        let put = |name: &str, hours: u64, bytes: u64| {
            let path = session.join(name);
            let file = fs::File::create(&path).unwrap();
            file.set_len(bytes).unwrap();
            file.set_modified(now - Duration::from_hours(hours)).unwrap();
            path
        };
        let mib = 1 << 20;
        let (oldest, older) =
            (put("1000000000000001.txt", 9, 4 * mib), put("1000000000000002.txt", 8, 4 * mib));
        let (fresh, other) = (put("1000000000000003.txt", 0, 4 * mib), put("notes.txt", 99, 4 * mib));
        let room = |most, total| store(data.path(), most, total).room(&data.path().join("tool-output"), now);
        assert_eq!(room(3 * mib, 100 * mib), 3 * mib);
        assert!(oldest.exists());
        assert_eq!(room(4 * mib, 12 * mib), 4 * mib);
        assert!(!oldest.exists() && older.exists());
        // Files that may be in use, and files that are not the store's, stay.
        assert_eq!(room(20 * mib, 7 * mib), 3 * mib);
        assert!(!older.exists() && fresh.exists() && other.exists());
        assert_eq!(room(20 * mib, 4 * mib), LEAST);
    }

    #[test]
    fn an_output_ends_at_its_limit_and_says_so() {
        let data = tempfile::tempdir().unwrap();
        let mut file = store(data.path(), 5000, 1 << 30).create(Some("s")).unwrap();
        file.write(&[b'x'; 4999]);
        file.write(b"yz");
        file.write(b"z");
        let path = file.path().to_owned();
        let crate::cut::OutputLocation::Partly { bytes, error, .. } = file.keep() else {
            panic!("it was not cut")
        };
        assert_eq!((bytes, fs::metadata(path).unwrap().len()), (5000, 5000));
        assert!(error.contains("more than 5000 bytes") && error.contains("tools.outputs"), "{error}");
    }
}

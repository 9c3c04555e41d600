//! Removes old files from the output store.

use super::OutputStore;
use super::name::is_file_name;
use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The time for which a file is kept after it was last written.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);

/// The result of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SweepReport {
    /// The number of files removed.
    pub files: u64,
    /// The number of bytes in the removed files.
    pub bytes: u64,
    /// The number of session directories removed because they were empty.
    pub directories: u64,
    /// The number of entries that could not be read or removed.
    pub failed: u64,
}

impl OutputStore {
    /// Removes the files that were last written more than 7 days before `now`, and directories that become empty.
    /// Touches only files that this store named, and follows no link. Blocks.
    pub(crate) fn sweep(&self, now: SystemTime) -> SweepReport {
        let mut swept = SweepReport::default();
        if let Some(root) = self.root.as_deref().filter(|root| is_directory(root)) {
            for session in entries(root, &mut swept) {
                if session.file_type().is_ok_and(|kind| kind.is_dir()) {
                    sweep_session(&session.path(), now, &mut swept);
                }
            }
        }
        swept
    }
}

fn sweep_session(directory: &Path, now: SystemTime, swept: &mut SweepReport) {
    let mut removed = false;
    for entry in entries(directory, swept) {
        if !entry.file_name().to_str().is_some_and(is_file_name) {
            continue;
        }
        // The metadata of the entry itself, not of a link's target.
        let Ok(metadata) = entry.metadata() else {
            swept.failed += 1;
            continue;
        };
        // A time in the future, after the clock was set back, does not count as an age.
        let age = metadata.modified().ok().and_then(|written| now.duration_since(written).ok());
        if !metadata.is_file() || age.is_none_or(|age| age <= KEPT_FOR) {
            continue;
        }
        match fs::remove_file(entry.path()) {
            Ok(()) => {
                removed = true;
                swept.files += 1;
                swept.bytes += metadata.len();
            }
            Err(_) => swept.failed += 1,
        }
    }
    // Fails while the directory is not empty.
    if removed && fs::remove_dir(directory).is_ok() {
        swept.directories += 1;
    }
}

fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

fn entries(directory: &Path, swept: &mut SweepReport) -> impl Iterator<Item = DirEntry> + use<> {
    let entries = fs::read_dir(directory);
    swept.failed += u64::from(entries.is_err());
    entries.into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::path::PathBuf;

    const DAY: Duration = Duration::from_hours(24);

    /// Creates a file that was last written `age` before `now`.
    fn aged(path: PathBuf, now: SystemTime, age: Duration) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "12345").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(now - age).unwrap();
        path
    }

    #[test]
    fn only_what_is_old_and_ours_goes() {
        let data = tempfile::tempdir().unwrap();
        let (store, now) = (OutputStore::new(Some(data.path().to_owned())), SystemTime::now());
        let root = data.path().join("tool-output");
        assert_eq!(store.sweep(now), SweepReport::default());

        let second = Duration::from_secs(1);
        let gone = [
            aged(root.join("old/1000000000000001.txt"), now, 7 * DAY + second),
            aged(root.join("old/1000000000000002.txt"), now, 300 * DAY),
            aged(root.join("mixed/1000000000000001.txt"), now, 8 * DAY),
        ];
        let stays = [
            aged(root.join("mixed/1000000000000002.txt"), now, 7 * DAY),
            aged(root.join("mixed/1000000000000003.txt"), now + 9 * DAY, DAY),
            aged(root.join("other/notes.txt"), now, 300 * DAY),
            aged(root.join("other/1000000000000001.txt.bak"), now, 300 * DAY),
            aged(root.join("other/deeper/1000000000000001.txt"), now, 300 * DAY),
            aged(root.join("1000000000000001.txt"), now, 300 * DAY),
            aged(data.path().join("1000000000000001.txt"), now, 300 * DAY),
            aged(data.path().join("else/1000000000000001.txt"), now, 300 * DAY),
        ];
        fs::create_dir(root.join("empty")).unwrap();
        fs::create_dir(root.join("other/1000000000000009.txt")).unwrap();

        assert_eq!(store.sweep(now), SweepReport { files: 3, bytes: 15, directories: 1, failed: 0 });
        assert!(gone.iter().all(|path| !path.exists()));
        assert!(stays.iter().all(|path| path.exists()));
        assert!(!root.join("old").exists() && root.join("empty").exists());
        assert_eq!(store.sweep(now), SweepReport::default());
        assert_eq!(store.sweep(SystemTime::UNIX_EPOCH), SweepReport::default());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;
        let (data, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (store, now) = (OutputStore::new(Some(data.path().to_owned())), SystemTime::now());
        let root = data.path().join("tool-output");
        let file = aged(outside.path().join("1000000000000001.txt"), now, 300 * DAY);
        let old = aged(root.join("s/1000000000000002.txt"), now, 300 * DAY);
        symlink(outside.path(), root.join("linked")).unwrap();
        symlink(&file, root.join("s/1000000000000001.txt")).unwrap();
        // Far in the future everything is old, including the link itself.
        assert_eq!(
            store.sweep(now + 99 * DAY),
            SweepReport { files: 1, bytes: 5, directories: 0, failed: 0 }
        );
        assert!(file.exists() && !old.exists() && root.join("s/1000000000000001.txt").is_symlink());

        let linked = tempfile::tempdir().unwrap();
        symlink(&root, linked.path().join("tool-output")).unwrap();
        aged(root.join("s/1000000000000002.txt"), now, 300 * DAY);
        let store = OutputStore::new(Some(linked.path().to_owned()));
        assert_eq!(store.sweep(now), SweepReport::default());
    }
}

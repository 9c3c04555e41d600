//! Removes files that killed writers left behind.

use super::handle::{self, Any, Dir, FileKind};
use crate::temporary_names::is_name;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The age at which a temporary file counts as left behind.
const OLD: Duration = Duration::from_hours(1);
/// The interval between two searches of a directory.
const EVERY: Duration = Duration::from_hours(1);
/// The most names of a directory that are examined.
const MAX_NAMES: usize = 10_000;
/// The most directories of which the last search is remembered.
const MAX_DIRECTORIES: usize = 1_000;

/// Removes files that killed writers left in a directory, unless the directory was searched within the last hour. Only
/// files with a name of this form that belong to this user, are an hour old and are not locked by a running writer are
/// removed.
pub(super) fn remove_old(dir: &Dir) {
    static LOOKED: Mutex<Option<HashMap<(u64, u64), Instant>>> = Mutex::new(None);
    let Some(identity) = dir.identity() else { return };
    let is_due = {
        let mut looked = LOOKED.lock().unwrap_or_else(PoisonError::into_inner);
        is_due(looked.get_or_insert_default(), identity, Instant::now())
    };
    // No test: the time of the last change, which must be an hour ago, cannot be set. Both parts have
    // their own tests.
    if is_due {
        remove_older(dir, SystemTime::now().checked_sub(OLD));
    }
}

/// Returns true if a directory was not searched within the interval, and records the present search.
fn is_due(looked: &mut HashMap<(u64, u64), Instant>, identity: (u64, u64), now: Instant) -> bool {
    if looked.get(&identity).is_some_and(|at| now.duration_since(*at) < EVERY) {
        return false;
    }
    if looked.len() >= MAX_DIRECTORIES {
        looked.clear();
    }
    looked.insert(identity, now);
    true
}

fn remove_older(dir: &Dir, than: Option<SystemTime>) {
    let Ok((entries, _)) = dir.entries(MAX_NAMES, || true) else { return };
    for entry in entries.iter().filter(|entry| entry.kind == FileKind::File && is_name(&entry.name)) {
        let Ok(stat) = dir.stat(&entry.name) else { continue };
        // The name changed last: a file that was replaced still has the time of its content.
        // No test can tell `<` from `<=`: the times would have to be the same to the nanosecond.
        let is_old = stat.changed.is_some_and(|changed| Some(changed) < than);
        let is_ours = stat.owner.is_some_and(|(owner, _)| Some(owner) == handle::user());
        if !is_old || !is_ours || stat.names != 1 {
            continue;
        }
        if let Ok(Any::File(file, _)) = dir.open_file(Path::new(&entry.name))
            && handle::try_lock(&file)
        {
            let _ = dir.remove(&entry.name);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::temporary_names::name;
    use std::fs;

    #[test]
    fn a_directory_is_looked_through_once_an_hour_and_a_thousand_are_remembered() {
        let (mut looked, start) = (HashMap::new(), Instant::now());
        assert!(is_due(&mut looked, (1, 0), start));
        assert!(!is_due(&mut looked, (1, 0), start));
        assert!(!is_due(&mut looked, (1, 0), start + EVERY.saturating_sub(Duration::from_nanos(1))));
        assert!(is_due(&mut looked, (1, 0), start + EVERY));
        for directory in 1..MAX_DIRECTORIES as u64 {
            assert!(is_due(&mut looked, (1, directory), start + EVERY));
        }
        assert_eq!(looked.len(), MAX_DIRECTORIES);
        assert!(!is_due(&mut looked, (1, 0), start + EVERY));
        assert!(is_due(&mut looked, (2, 0), start + EVERY));
        assert_eq!(looked.len(), 1);
    }

    #[test]
    fn only_what_was_left_behind_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let (dead, alive, linked) = (name(1), name(u64::MAX), name(2));
        let others = [
            ".toolkit-1.tmp",
            ".toolkit-000000000000000G.tmp",
            ".toolkit-00000000000000AB.tmp",
            "x.toolkit-0000000000000001.tmp",
            ".toolkit-0000000000000001.tmp.x",
        ];
        for name in [&*dead, &*alive, &*linked].into_iter().chain(others) {
            fs::write(path(name), "text").unwrap();
        }
        fs::hard_link(path(&linked), path("other name")).unwrap();
        fs::create_dir(path(&name(3))).unwrap();
        std::os::unix::fs::symlink(&dead, path(&name(4))).unwrap();
        let held = fs::File::open(path(&alive)).unwrap();
        assert!(handle::try_lock(&held));

        let dir = Dir::open_root(directory.path()).unwrap();
        // No file is an hour old.
        remove_older(&dir, SystemTime::now().checked_sub(OLD));
        assert!(path(&dead).exists());
        remove_older(&dir, SystemTime::now().checked_add(OLD));
        assert!(!path(&dead).exists());
        for name in [&*alive, &*linked, &name(3)].into_iter().chain(others) {
            assert!(path(name).exists(), "{name}");
        }
        assert!(fs::symlink_metadata(path(&name(4))).is_ok());
    }
}

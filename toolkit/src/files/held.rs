//! The lock on a directory while a file in it changes, and whoever holds it for long.

use super::handle::Dir;
use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long it is waited for another process that puts a file in the same directory. It takes microseconds; after this,
/// whoever holds the lock is no such process.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// How long such a directory is not waited for again: a patch of many files in it would take minutes.
const FORGET_TIME: Duration = Duration::from_secs(60);
/// The most directories that are remembered.
const MOST_HELD: usize = 64;

/// The directories that somebody held for all of [`LOCK_TIME`], and since when that is known.
static HELD: Mutex<Vec<((u64, u64), Instant)>> = Mutex::new(Vec::new());

/// Keeps other processes of this toolkit out of a directory for as long as what is returned lives. `None` where that is not
/// to be had: the change is made all the same, and looks at what it replaced.
pub(super) fn lock(dir: &Dir) -> Option<File> {
    let identity = dir.identity();
    let is_known = identity.is_some_and(|identity| {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(_, since)| since.elapsed() < FORGET_TIME);
        held.iter().any(|(known, _)| *known == identity)
    });
    let lock = dir.lock(if is_known { Duration::ZERO } else { LOCK_TIME });
    if let Some(identity) = identity
        && is_known == lock.is_some()
    {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(known, _)| *known != identity);
        if lock.is_none() && held.len() < MOST_HELD {
            held.push((identity, Instant::now()));
        }
    }
    lock
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn is_known(dir: &Dir) -> bool {
        HELD.lock().unwrap().iter().any(|(known, _)| Some(*known) == dir.identity())
    }

    #[test]
    fn who_holds_a_directory_is_waited_for_once() {
        let directory = tempfile::tempdir().unwrap();
        let dir = Dir::open_root(directory.path()).unwrap();
        assert!(lock(&dir).is_some() && !is_known(&dir));
        let other = File::open(directory.path()).unwrap();
        other.lock().unwrap();
        assert!(lock(&dir).is_none() && is_known(&dir));
        let since = HELD.lock().unwrap().iter().find(|(known, _)| Some(*known) == dir.identity()).unwrap().1;
        // It is tried, and what is known of it stays.
        assert!(lock(&dir).is_none());
        let held = HELD.lock().unwrap().iter().filter(|(known, _)| Some(*known) == dir.identity()).count();
        assert!(held == 1 && is_known(&dir) && since.elapsed() < FORGET_TIME);
        drop(other);
        let ours = lock(&dir);
        assert!(ours.is_some() && !is_known(&dir));
    }
}

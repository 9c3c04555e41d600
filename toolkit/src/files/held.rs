//! The lock on a directory while a file in it changes, and a record of directories that another process holds for long.

use super::handle::Dir;
use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time to wait for another process that replaces a file in the same directory. Replacing takes microseconds; a process
/// that holds the lock for longer is not doing that. If many directories are held, the waiting time for the next one is
/// shorter.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// The time for which a held directory is not waited for again: otherwise a patch of many files in it would take minutes.
const FORGET_TIME: Duration = Duration::from_mins(1);
/// The most directories that are remembered.
const MAX_HELD: usize = 64;

/// The directories whose lock was held for the whole waiting time, and the time when that was noticed, the oldest first.
static HELD: Mutex<Vec<((u64, u64), Instant)>> = Mutex::new(Vec::new());

/// Locks a directory against other processes of this toolkit for as long as the returned file lives. Returns `None` if the
/// lock cannot be taken: the change is made nevertheless, and checks the file that it replaced.
pub(super) fn lock(dir: &Dir) -> Option<File> {
    let Some(identity) = dir.identity() else { return dir.lock(LOCK_TIME) };
    let most = {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        // No test can tell `<` from `<=`: the times would have to be the same to the nanosecond.
        held.retain(|(_, since)| since.elapsed() < FORGET_TIME);
        patience(held.iter().any(|(known, _)| *known == identity), held.len())
    };
    let start = Instant::now();
    let lock = dir.lock(most);
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if lock.is_some() {
        held.retain(|(known, _)| *known != identity);
    } else if most > Duration::ZERO && start.elapsed() >= most {
        // A directory that cannot be locked at all fails at once, and is held by no process.
        if held.len() == MAX_HELD {
            held.remove(0);
        }
        held.push((identity, Instant::now()));
    }
    lock
}

/// Returns the time to wait for a directory. A directory known to be held is tried without waiting; all held directories
/// together are waited for at most twice [`LOCK_TIME`].
fn patience(is_known: bool, held: usize) -> Duration {
    if is_known { Duration::ZERO } else { LOCK_TIME / (1 << held.min(20)) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn since(dir: &Dir) -> Option<Instant> {
        let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = held.iter().filter(|(known, _)| Some(*known) == dir.identity());
        let since = known.next().map(|(_, since)| *since);
        assert!(known.next().is_none());
        since
    }

    #[test]
    fn who_holds_a_directory_is_waited_for_once() {
        assert_eq!(patience(true, 0), Duration::ZERO);
        assert_eq!(patience(false, 0), LOCK_TIME);
        let all: Duration = (0..MAX_HELD).map(|held| patience(false, held)).sum();
        assert!(all < 2 * LOCK_TIME + Duration::from_millis(1), "{all:?}");
        assert!(patience(false, 1_000) > Duration::ZERO);

        let directory = tempfile::tempdir().unwrap();
        let dir = Dir::open_root(directory.path()).unwrap();
        assert!(lock(&dir).is_some() && since(&dir).is_none());
        let other = File::open(directory.path()).unwrap();
        other.lock().unwrap();
        assert!(lock(&dir).is_none());
        let known = since(&dir);
        assert!(known.is_some());
        // The lock is tried without waiting, so the record stays.
        assert!(lock(&dir).is_none());
        assert_eq!(since(&dir), known);
        drop(other);
        let ours = lock(&dir);
        assert!(ours.is_some() && since(&dir).is_none());
    }
}

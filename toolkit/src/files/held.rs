//! The lock on a directory while a file in it changes, and whoever holds it for long.

use super::handle::Dir;
use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long it is waited for another process that puts a file in the same directory. It takes microseconds; after this,
/// whoever holds the lock is no such process. Where many directories are held, less is enough to see that of the next.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// How long such a directory is not waited for again: a patch of many files in it would take minutes.
const FORGET_TIME: Duration = Duration::from_mins(1);
/// The most directories that are remembered.
const MAX_HELD: usize = 64;

/// The directories that somebody held for all of that time, and since when that is known, the oldest first.
static HELD: Mutex<Vec<((u64, u64), Instant)>> = Mutex::new(Vec::new());

/// Keeps other processes of this toolkit out of a directory for as long as what is returned lives. `None` where that is not
/// to be had: the change is made all the same, and looks at what it replaced.
pub(super) fn lock(dir: &Dir) -> Option<File> {
    let Some(identity) = dir.identity() else { return dir.lock(LOCK_TIME) };
    let most = {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(_, since)| since.elapsed() < FORGET_TIME);
        patience(held.iter().any(|(known, _)| *known == identity), held.len())
    };
    let start = Instant::now();
    let lock = dir.lock(most);
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if lock.is_some() {
        held.retain(|(known, _)| *known != identity);
    } else if most > Duration::ZERO && start.elapsed() >= most {
        // What cannot be locked at all is refused at once, and held by nobody.
        if held.len() == MAX_HELD {
            held.remove(0);
        }
        held.push((identity, Instant::now()));
    }
    lock
}

/// How long a directory is waited for. One that is known to be held is tried; all that are held together are waited for twice
/// [`LOCK_TIME`] at most.
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
        // It is tried, and what is known of it stays: it was not waited for again.
        assert!(lock(&dir).is_none());
        assert_eq!(since(&dir), known);
        drop(other);
        let ours = lock(&dir);
        assert!(ours.is_some() && since(&dir).is_none());
    }
}

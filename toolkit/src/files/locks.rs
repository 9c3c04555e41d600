//! Locks for files: one writer at a time, across all sessions and toolkits of the process.

use super::target::Target;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use tokio::sync::OwnedMutexGuard;

type Lock = tokio::sync::Mutex<()>;

/// The locks, by real path. They are global, since two toolkits may have the same workspace.
static LOCKS: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Table {
    locks: HashMap<PathBuf, Weak<Lock>>,
    /// The size at which the table is searched for locks that are no longer held.
    full: usize,
}

/// A lock on files, held by no one else in this process. Dropping it releases the lock.
#[derive(Debug)]
#[must_use]
pub struct FileLock(#[expect(dead_code, reason = "held, not looked at")] Vec<OwnedMutexGuard<()>>);

impl Target {
    /// Waits until no other task in this process changes the file. Do not hold the lock while a person
    /// is asked.
    pub async fn lock(&self) -> FileLock {
        Self::lock_all([self]).await
    }

    /// Locks several files, always in the same order, so that there is no deadlock.
    pub async fn lock_all<'a>(targets: impl IntoIterator<Item = &'a Self>) -> FileLock {
        let mut paths: Vec<&Path> = targets.into_iter().map(Self::path).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut held = Vec::with_capacity(paths.len());
        for path in paths {
            let lock = LOCKS.lock().unwrap_or_else(PoisonError::into_inner).get(path);
            held.push(lock.lock_owned().await);
        }
        FileLock(held)
    }
}

impl Table {
    fn get(&mut self, path: &Path) -> Arc<Lock> {
        if let Some(lock) = self.locks.get(path).and_then(Weak::upgrade) {
            return lock;
        }
        if self.locks.len() >= self.full {
            self.locks.retain(|_, lock| lock.strong_count() > 0);
            self.full = (self.locks.len() * 2).max(256);
        }
        let lock = Arc::new(Lock::default());
        self.locks.insert(path.to_owned(), Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_locks_that_somebody_holds_are_kept() {
        let mut table = Table::default();
        let path = |number: usize| PathBuf::from(format!("/{number}"));
        let held: Vec<Arc<Lock>> = (0..200).map(|number| table.get(&path(number))).collect();
        for number in 1_000..2_000 {
            drop(table.get(&path(number)));
        }
        assert!(table.locks.len() <= 400, "{}", table.locks.len());
        // Twice the number of locks at the time of the search.
        assert_eq!(table.full, 400);
        for (number, lock) in held.iter().enumerate() {
            assert!(Arc::ptr_eq(lock, &table.get(&path(number))), "{number}");
        }
    }
}

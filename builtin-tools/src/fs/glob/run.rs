//! A walk by several threads, each of which takes a directory after the other.

use super::newest::{Newest, Stamped};
use crate::fs::skipped::Skipped;
use crate::fs::threads::Threads;
use crate::fs::walk::{Directory, Entry, Tree};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};
use toolkit::CancellationToken;

/// Interval at which a waiting thread checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// A walk on behalf of a waiting call.
pub(super) struct Run<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) cancel: &'a CancellationToken,
    pub(super) threads: Threads,
    /// Called from time to time with the number of files examined.
    pub(super) progress: &'a mut (dyn FnMut(u64) + Send),
}

/// The directories to list.
struct Queue {
    directories: Vec<Directory>,
    /// Number of directories being listed, which may add more.
    under_way: usize,
    is_over: bool,
}

struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    files: AtomicU64,
}

impl Run<'_> {
    /// Returns the newest files below a directory, and the skipped ones.
    pub(super) fn all(&mut self, root: Directory, most: usize) -> (Newest, Skipped) {
        let shared = Shared {
            queue: Mutex::new(Queue { directories: vec![root], under_way: 0, is_over: false }),
            changed: Condvar::new(),
            files: AtomicU64::new(0),
        };
        let (tree, cancel) = (self.tree, self.cancel);
        let threads = self.threads.number;
        let (mut newest, mut skipped) = (Newest::new(most), Skipped::default());
        thread::scope(|scope| {
            let shared = &shared;
            let walkers: Vec<_> = (1..threads)
                .map(|_| {
                    let tree = tree.clone();
                    scope.spawn(move || walk(tree, shared, most, cancel, &mut |_| {}))
                })
                .collect();
            let (found, passed) = walk(tree.clone(), shared, most, cancel, self.progress);
            newest.join(found);
            skipped.join(passed);
            for walker in walkers {
                match walker.join() {
                    Ok((found, passed)) => {
                        newest.join(found);
                        skipped.join(passed);
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        (newest, skipped)
    }
}

/// Ends a walk whose thread panicked, since the other threads would wait for its directory.
struct EndsOnPanic<'a>(&'a Shared);

impl Drop for EndsOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.queue).is_over = true;
            self.0.changed.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn walk(
    mut tree: Tree<'_>,
    shared: &Shared,
    most: usize,
    cancel: &CancellationToken,
    progress: &mut dyn FnMut(u64),
) -> (Newest, Skipped) {
    let _ends = EndsOnPanic(shared);
    let (mut newest, mut skipped) = (Newest::new(most), Skipped::default());
    while let Some(directory) = next(shared, cancel) {
        let listing = tree.list(&directory);
        let (mut below, mut files) = (Vec::new(), 0);
        if listing.is_incomplete {
            skipped.unreadable(directory.path().to_owned());
        }
        for entry in listing.entries {
            match entry {
                Entry::Directory(directory) => below.push(directory),
                Entry::Refused => skipped.refused += 1,
                Entry::File(name) => {
                    files += 1;
                    let path = directory.path().join(name);
                    // A file that is gone by now is skipped.
                    if let Ok(metadata) = path.symlink_metadata()
                        && metadata.is_file()
                    {
                        newest.add(Stamped::new(path, metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)));
                    }
                }
            }
        }
        done(shared, below);
        progress(shared.files.fetch_add(files, Ordering::Relaxed) + files);
    }
    (newest, skipped)
}

/// Returns the next directory; `None` once all are done, or the call is cancelled.
fn next(shared: &Shared, cancel: &CancellationToken) -> Option<Directory> {
    let mut queue = lock(&shared.queue);
    loop {
        if queue.is_over || cancel.is_cancelled() {
            return None;
        }
        if let Some(directory) = queue.directories.pop() {
            queue.under_way += 1;
            return Some(directory);
        }
        if queue.under_way == 0 {
            return None;
        }
        queue = shared.changed.wait_timeout(queue, LOOK).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Adds the results of a directory.
fn done(shared: &Shared, below: Vec<Directory>) {
    let mut queue = lock(&shared.queue);
    queue.under_way -= 1;
    let is_end = queue.under_way == 0 && queue.directories.is_empty() && below.is_empty();
    if !below.is_empty() || is_end {
        queue.directories.extend(below);
        shared.changed.notify_all();
    }
}

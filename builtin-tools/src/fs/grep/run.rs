//! A search through a tree: one thread walks it, others search its files, and their results are put into the order of
//! the walk, so that the answer does not depend on the number of threads.

use super::file::{Failure, Found, Search, Wanted};
use super::page::Page;
use super::query::Query;
use crate::fs::skipped::Skipped;
use crate::fs::threads::Threads;
use crate::fs::walk::{Directory, Doors, Refused, Step, Tree};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use toolkit::CancellationToken;

/// Number of files that one thread searches before it passes on the results. It does not depend on the number of threads, because the
/// files of a batch are counted together. Each batch costs a few switches between threads.
const FILES_A_BATCH: usize = 128;
/// Number of batches beyond one for each thread, so that no thread waits for the walk. Results of a batch are held until all batches
/// before it are done.
const FURTHER_BATCHES: usize = 2;
/// Interval at which a waiting thread checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// The result of one step of a walk.
enum Came {
    Found(PathBuf, Found),
    Unreadable(PathBuf),
    TooLarge(PathBuf),
    Refused,
}

struct Batch<T> {
    number: usize,
    items: Vec<T>,
    /// Number of files searched.
    files: u64,
}

/// State shared by the threads of a search.
struct Shared {
    /// True when no further results are wanted.
    is_over: AtomicBool,
    /// Number of batches that may still be started.
    room: Mutex<usize>,
    more_room: Condvar,
}

/// A search on behalf of a waiting call.
pub(super) struct Run<'a> {
    pub(super) query: &'a Query,
    pub(super) doors: Doors,
    pub(super) cancel: &'a CancellationToken,
    pub(super) threads: Threads,
    /// Called from time to time with the number of files searched.
    pub(super) progress: &'a mut dyn FnMut(u64),
}

impl Run<'_> {
    /// Searches the one file that the tree is.
    pub(super) fn file(&mut self, path: &Path, page: &mut Page) -> Skipped {
        let mut skipped = Skipped::default();
        let cancel = self.cancel;
        let opened = self.doors.open_root().and_then(|file| file.ok_or(Refused::Gone));
        let found = {
            let progress = RefCell::new(&mut *self.progress);
            let is_over = || {
                (progress.borrow_mut())(0);
                cancel.is_cancelled()
            };
            let file = opened.map(|file| (file, None));
            searched(&mut Search::new(self.query), file, page.wanted(), &is_over)
        };
        if let Some(came) = found.map(|found| found.of(|| path.to_owned())) {
            self.add(came, page, &mut skipped);
        }
        skipped
    }

    /// Searches the files of a tree, sorted by path, until the page is full. Returns the number of searched files.
    pub(super) fn tree(&mut self, tree: Tree<'_>, root: Directory, page: &mut Page) -> (u64, Skipped) {
        let threads = self.threads.number;
        let batches = threads + FURTHER_BATCHES;
        let shared =
            Shared { is_over: AtomicBool::new(false), room: Mutex::new(batches), more_room: Condvar::new() };
        let (query, cancel, wanted) = (self.query, self.cancel, page.wanted());
        let (jobs, next_job) = sync_channel::<Batch<Step>>(batches);
        let (done, next_done) = channel::<Batch<Came>>();
        let next_job = Mutex::new(next_job);
        thread::scope(|scope| {
            let (shared, next_job) = (&shared, &next_job);
            let is_over = move || shared.is_over.load(Ordering::Relaxed) || cancel.is_cancelled();
            scope.spawn(move || {
                let _ends = EndsOnPanic(shared);
                walk(tree, root, shared, &jobs, &is_over);
            });
            for _ in 0..threads {
                let done = done.clone();
                let mut doors = self.doors.clone();
                scope.spawn(move || {
                    let _ends = EndsOnPanic(shared);
                    let mut search = Search::new(query);
                    while let Some(batch) = next(next_job) {
                        if is_over()
                            || done
                                .send(searched_batch(&mut search, &mut doors, batch, wanted, &is_over))
                                .is_err()
                        {
                            break;
                        }
                    }
                });
            }
            drop(done);
            let outcome = self.collect(&next_done, shared, page);
            shared.is_over.store(true, Ordering::Relaxed);
            shared.more_room.notify_all();
            outcome
        })
    }

    /// Adds the results to the page in the order of the walk.
    fn collect(&mut self, done: &Receiver<Batch<Came>>, shared: &Shared, page: &mut Page) -> (u64, Skipped) {
        let (mut files, mut skipped) = (0, Skipped::default());
        let mut waiting = BTreeMap::new();
        let mut number = 0;
        loop {
            match done.recv_timeout(LOOK) {
                Ok(batch) => {
                    waiting.insert(batch.number, batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return (files, skipped),
            }
            (self.progress)(files);
            if self.cancel.is_cancelled() || shared.is_over.load(Ordering::Relaxed) {
                return (files, skipped);
            }
            while let Some(batch) = waiting.remove(&number) {
                number += 1;
                *lock(&shared.room) += 1;
                shared.more_room.notify_one();
                files += batch.files;
                for came in batch.items {
                    if !self.add(came, page, &mut skipped) {
                        return (files, skipped);
                    }
                }
            }
        }
    }

    /// Adds the result of one step; false once the page is full.
    fn add(&mut self, came: Came, page: &mut Page, skipped: &mut Skipped) -> bool {
        match came {
            Came::Found(path, found) => {
                let (query, cancel, doors) = (self.query, self.cancel, &mut self.doors);
                let file = path.clone();
                page.add(path, found, move |wanted| {
                    let (opened, size) = match doors.open_root().ok()? {
                        Some(opened) => (opened, None),
                        None => {
                            let (opened, size) = doors.open(file.parent()?, file.file_name()?).ok()?;
                            (opened, Some(size))
                        }
                    };
                    Search::new(query).file(opened, size, wanted, &|| cancel.is_cancelled()).ok()
                })
            }
            Came::Unreadable(path) => {
                skipped.unreadable(path);
                true
            }
            Came::TooLarge(path) => {
                skipped.too_large += 1;
                skipped.first_too_large.get_or_insert(path);
                true
            }
            Came::Refused => {
                skipped.refused += 1;
                true
            }
        }
    }
}

/// Ends a search whose thread panicked, so that other threads do not wait for its results.
struct EndsOnPanic<'a>(&'a Shared);

impl Drop for EndsOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.is_over.store(true, Ordering::Relaxed);
            self.0.more_room.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn next<T>(receiver: &Mutex<Receiver<T>>) -> Option<T> {
    lock(receiver).recv().ok()
}

/// Walks a tree in batches, as far ahead of the search as there is room.
fn walk(
    tree: Tree<'_>,
    root: Directory,
    shared: &Shared,
    jobs: &SyncSender<Batch<Step>>,
    is_over: &dyn Fn() -> bool,
) {
    let mut steps = tree.steps(root);
    for number in 0.. {
        let items: Vec<Step> = steps.by_ref().take(FILES_A_BATCH).collect();
        if items.is_empty() || !begin(shared, is_over) {
            return;
        }
        if jobs.send(Batch { number, items, files: 0 }).is_err() {
            return;
        }
    }
}

/// Waits until another batch may start; false once the search is over.
fn begin(shared: &Shared, is_over: &dyn Fn() -> bool) -> bool {
    let mut room = lock(&shared.room);
    while *room == 0 {
        if is_over() {
            return false;
        }
        room = shared.more_room.wait_timeout(room, LOOK).unwrap_or_else(PoisonError::into_inner).0;
    }
    *room -= 1;
    !is_over()
}

fn searched_batch(
    search: &mut Search<'_>,
    doors: &mut Doors,
    batch: Batch<Step>,
    wanted: Wanted,
    is_over: &dyn Fn() -> bool,
) -> Batch<Came> {
    let mut files = 0;
    let items = batch.items.into_iter().filter_map(|step| match step {
        Step::File(directory, name) => {
            files += 1;
            let file = doors.open(&directory, &name).map(|(file, size)| (file, Some(size)));
            let found = searched(search, file, wanted, is_over)?;
            // Only of a file that is reported the path is put together.
            Some(found.of(|| directory.join(&name)))
        }
        Step::Unreadable(path) => Some(Came::Unreadable(path)),
        Step::Refused => Some(Came::Refused),
    });
    let items = items.collect();
    Batch { number: batch.number, items, files }
}

/// The result of a file that must be reported.
enum OfFile {
    Found(Found),
    Unreadable,
    TooLarge,
    Refused,
}

impl OfFile {
    fn of(self, path: impl FnOnce() -> PathBuf) -> Came {
        match self {
            Self::Found(found) => Came::Found(path(), found),
            Self::Unreadable => Came::Unreadable(path()),
            Self::TooLarge => Came::TooLarge(path()),
            Self::Refused => Came::Refused,
        }
    }
}

/// Searches a file, with its size if it is known; `None` if there is nothing to report.
fn searched(
    search: &mut Search<'_>,
    file: Result<(File, Option<u64>), Refused>,
    wanted: Wanted,
    is_over: &dyn Fn() -> bool,
) -> Option<OfFile> {
    let (file, size) = match file {
        Ok(file) => file,
        Err(Refused::NotAllowed) => return Some(OfFile::Refused),
        Err(Refused::Unreadable) => return Some(OfFile::Unreadable),
        Err(Refused::Gone) => return None,
    };
    match search.file(file, size, wanted, is_over) {
        Ok(found) => (found.count > 0 || found.has_pieces).then_some(OfFile::Found(found)),
        Err(Failure::Unreadable) => Some(OfFile::Unreadable),
        Err(Failure::TooLarge) => Some(OfFile::TooLarge),
        Err(Failure::Stopped) => None,
    }
}

//! Calls as lines of a file, written by a thread of its own.

mod segments;
mod writer;

use super::History;
use super::entry::{CallStatus, HistoryEntry};
use super::query::HistoryQuery;
use super::reader::{HistoryItem, HistoryReader};
use super::record::Record;
use crate::redact::Redactor;
use segments::Segments;
pub(super) use segments::{closed, is_same};
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How much preparing of records may wait for the writer before those who record prepare their own.
const MAX_AHEAD: Duration = Duration::from_millis(3);
/// From when on a writer that waits for more is woken.
const WORTH_WAKING: Duration = Duration::from_millis(1);
/// How long a drop waits for the writer. A disk that hangs must not hang the host for ever.
const LONGEST_DROP: Duration = Duration::from_secs(5);

/// Calls as lines of a file.
#[doc = include_str!("jsonl/format.md")]
pub struct JsonlHistory {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    path: PathBuf,
}

/// How a [`JsonlHistory`] is kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JsonlOptions {
    /// Takes the secrets out.
    pub redactor: Redactor,
    /// Calls older than this are removed, by whole files, so at most a thirtieth of it later; by default 30 days.
    pub max_age: Duration,
    /// The most bytes of all files together; by default 256 MiB. The oldest calls go first, an eighth at a time.
    pub max_bytes: u64,
    /// The most records that wait to be written; by default 16,384.
    pub max_queued: usize,
    /// About the most memory that they take, in bytes; by default 32 MiB.
    pub max_queued_bytes: usize,
}

impl Default for JsonlOptions {
    fn default() -> Self {
        Self {
            redactor: Redactor::new(),
            max_age: Duration::from_hours(30 * 24),
            max_bytes: 256 << 20,
            max_queued: 16_384,
            max_queued_bytes: 32 << 20,
        }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident: $type:ty;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub fn $field(self, $field: $type) -> Self {
            Self { $field, ..self }
        })*
    };
}

impl JsonlOptions {
    /// Those that hold where nothing is said.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// What takes the secrets out.
        redactor: Redactor;
        /// How long calls are kept.
        max_age: Duration;
        /// The most bytes of all files together.
        max_bytes: u64;
        /// The most records that wait to be written.
        max_queued: usize;
        /// About the most memory that they take, in bytes.
        max_queued_bytes: usize;
    }
}

/// How a [`JsonlHistory`] fares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonlStatus {
    /// How many records were written since it was opened.
    pub written: u64,
    /// How many could not be kept: the queue was full, or the file could not be written.
    pub lost: u64,
    /// How many wait to be written.
    pub queued: usize,
    /// Why the last write failed, if one did.
    pub last_error: Option<String>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Tells the writer that there is something to do.
    work: Condvar,
    /// Tells those who wait that something was done.
    done: Condvar,
    redactor: Redactor,
    /// Names this process and this history in the keys of calls.
    instance: String,
    max_queued: usize,
    max_queued_bytes: usize,
    /// What is queued or being written.
    pending: AtomicUsize,
    pending_bytes: AtomicUsize,
    /// Those of them that are not prepared, and how long preparing one takes, in nanoseconds.
    raw: AtomicUsize,
    cost: AtomicU64,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    /// Records that were written, to be dropped by who records the next.
    spent: Vec<Record>,
    state: State,
    /// How many records were taken and how many are done with, since the start.
    taken: u64,
    finished: u64,
    written: u64,
    lost: u64,
    /// Those lost that the file does not tell of yet.
    untold: u64,
    last_error: Option<String>,
}

/// What the writer does.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Busy,
    /// It looks again by itself within two milliseconds, which spares those who record from waking it.
    Lingering,
    Asleep,
    Stopping,
    Stopped,
}

enum Item {
    Record(Record),
    /// One that was prepared by who recorded it.
    Line(Vec<u8>, usize),
}

impl JsonlHistory {
    /// Opens the file, or creates it, with its directory.
    ///
    /// # Errors
    ///
    /// When the directory or file cannot be made or written, is a symbolic link, or no thread can be started.
    pub fn open(path: impl Into<PathBuf>, options: JsonlOptions) -> io::Result<Self> {
        let path = path.into();
        let segments = Segments::open(&path, options.max_age, options.max_bytes)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
            redactor: options.redactor,
            instance: format!("{:x}.{:x}", std::process::id(), since.as_micros()),
            max_queued: options.max_queued,
            max_queued_bytes: options.max_queued_bytes,
            pending: AtomicUsize::new(0),
            pending_bytes: AtomicUsize::new(0),
            raw: AtomicUsize::new(0),
            // A guess, until the writer knows.
            cost: AtomicU64::new(20_000),
        });
        let its = Arc::clone(&shared);
        let writer = std::thread::Builder::new()
            .name("toolkit-history".into())
            .spawn(move || writer::run(&its, segments))?;
        Ok(Self { shared, writer: Some(writer), path })
    }

    /// The file that is written now.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The calls that are in its files, in the order in which they ended, then those under way.
    ///
    /// Waits for what is queued, and reads from the disk: not for an async task.
    ///
    /// # Errors
    ///
    /// When a file cannot be read. Lines that make no sense are passed over; [`HistoryReader`] tells of them.
    pub fn calls(&self, query: &HistoryQuery) -> io::Result<Vec<HistoryEntry>> {
        self.flush(LONGEST_DROP);
        let mut found = VecDeque::new();
        for item in HistoryReader::open(&self.path)? {
            let HistoryItem::Call(call) = item? else { continue };
            let mut call = *call;
            if !query.matches(&call) {
                continue;
            }
            // Without an end, and of this history, it is still on its way.
            let is_own =
                call.key.rsplit_once('-').is_some_and(|(instance, _)| instance == self.shared.instance);
            if call.status == CallStatus::Interrupted && call.duration.is_none() && is_own {
                call.status = CallStatus::Running;
            }
            found.push_back(call);
            found.drain(..query.skipped(found.len()));
        }
        Ok(found.into())
    }

    /// Waits until all that was recorded before is given to the system; whether it was, within `timeout`. Blocks.
    pub fn flush(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut queue = self.shared.lock();
        let taken = queue.taken;
        self.shared.work.notify_one();
        while queue.finished < taken {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            queue = self.shared.done.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// How it fares.
    pub fn status(&self) -> JsonlStatus {
        let queue = self.shared.lock();
        JsonlStatus {
            written: queue.written,
            lost: queue.lost,
            queued: self.shared.pending.load(Ordering::Relaxed),
            last_error: queue.last_error.clone(),
        }
    }
}

impl History for JsonlHistory {
    fn record(&self, record: Record) {
        let shared = &*self.shared;
        let bytes = record.bytes();
        if shared.is_full(bytes) {
            return shared.lose();
        }
        let item = if shared.waiting() < MAX_AHEAD {
            shared.raw.fetch_add(1, Ordering::Relaxed);
            Item::Record(record)
        } else {
            match shared.line(&record) {
                Some(line) => Item::Line(line, bytes),
                None => return shared.lose(),
            }
        };
        shared.pending.fetch_add(1, Ordering::Relaxed);
        shared.pending_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut queue = shared.lock();
        queue.items.push_back(item);
        queue.taken += 1;
        let spent = queue.spent.pop();
        let wakes = match queue.state {
            State::Asleep => true,
            State::Lingering => shared.waiting() > WORTH_WAKING,
            State::Busy | State::Stopping | State::Stopped => false,
        };
        if wakes {
            queue.state = State::Busy;
            shared.work.notify_one();
        }
        drop(queue);
        drop(spent);
    }
}

impl Drop for JsonlHistory {
    fn drop(&mut self) {
        let deadline = Instant::now() + LONGEST_DROP;
        let mut queue = self.shared.lock();
        queue.state = State::Stopping;
        self.shared.work.notify_one();
        while queue.state != State::Stopped {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            queue = self.shared.done.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(queue);
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing that may panic runs under it.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self, bytes: usize) -> bool {
        self.pending.load(Ordering::Relaxed) >= self.max_queued
            || self.pending_bytes.load(Ordering::Relaxed) + bytes > self.max_queued_bytes
    }

    /// How long it takes to prepare what is not prepared.
    fn waiting(&self) -> Duration {
        let raw = self.raw.load(Ordering::Relaxed);
        Duration::from_nanos(self.cost.load(Ordering::Relaxed).saturating_mul(raw as u64))
    }

    fn lose(&self) {
        let mut queue = self.lock();
        queue.lost += 1;
        queue.untold += 1;
        if queue.state == State::Asleep {
            queue.state = State::Busy;
            self.work.notify_one();
        }
    }

    /// A record as a line. None where a type of the tool's own panicked.
    fn line(&self, record: &Record) -> Option<Vec<u8>> {
        catch_unwind(AssertUnwindSafe(|| {
            let mut entry = record.entry(&self.redactor);
            entry.key = format!("{}-{}", self.instance, entry.key);
            let mut line = Vec::with_capacity(512);
            serde_json::to_writer(&mut line, &entry).ok()?;
            line.push(b'\n');
            Some(line)
        }))
        .ok()
        .flatten()
    }
}

impl fmt::Debug for JsonlHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonlHistory").field("path", &self.path).finish_non_exhaustive()
    }
}

//! History in a file, one call per line, written by a thread of its own.

mod writer;

use super::History;
use super::entry::{CallStatus, HistoryEntry};
use super::query::HistoryQuery;
use super::reader::{HistoryItem, HistoryReader};
use super::record::Record;
use super::segments::Segments;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use toolkit_core::redact::Redactor;

/// The maximum preparation time queued for the writer; beyond it, the recording threads prepare their own records.
const MAX_AHEAD: Duration = Duration::from_millis(3);
/// The preparation time queued from which on a lingering writer is woken.
const WORTH_WAKING: Duration = Duration::from_millis(1);
/// The maximum time that a drop waits for the writer, so that a disk that hangs does not hang the host.
const LONGEST_DROP: Duration = Duration::from_secs(5);

/// A history in a file, one call per line.
#[doc = include_str!("jsonl/format.md")]
pub struct JsonlHistory {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    path: PathBuf,
}

/// Options of a [`JsonlHistory`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct JsonlOptions {
    /// Redacts the secrets.
    pub redactor: Redactor,
    /// The maximum age of calls; by default 30 days. Whole files are removed, so a call may stay up to a thirtieth
    /// longer.
    pub max_age: Duration,
    /// The maximum size of all files together, in bytes; by default 256 MiB. The oldest calls are removed first, an
    /// eighth at a time.
    pub max_bytes: u64,
    /// The maximum number of records that wait to be written; by default 16,384.
    pub max_queued: usize,
    /// The approximate maximum memory of the queued records, in bytes; by default 32 MiB.
    pub max_queued_bytes: usize,
    /// Gets a text when calls are lost: see [`on_problem`](Self::on_problem).
    report: Report,
}

impl Default for JsonlOptions {
    fn default() -> Self {
        Self {
            redactor: Redactor::new(),
            max_age: Duration::from_hours(30 * 24),
            max_bytes: 256 << 20,
            max_queued: 16_384,
            max_queued_bytes: 32 << 20,
            report: Report::default(),
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
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function that gets a text when the file was removed while it was written, when it cannot be written, and when it is written
    /// again: once each, with the number of calls that are lost. It is called on the writer's thread. By default it is logged with `tracing`.
    #[must_use]
    pub fn on_problem(self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.report(Report::to(report))
    }

    pub(crate) fn report(self, report: Report) -> Self {
        Self { report, ..self }
    }

    setters! {
        /// Sets the redactor for secrets.
        redactor: Redactor;
        /// Sets the maximum age of calls.
        max_age: Duration;
        /// Sets the maximum size of all files together, in bytes.
        max_bytes: u64;
        /// Sets the maximum number of records that wait to be written.
        max_queued: usize;
        /// Sets the approximate maximum memory of the queued records, in bytes.
        max_queued_bytes: usize;
    }
}

/// The function that gets problems.
#[derive(Clone, Default)]
pub(crate) struct Report(Option<Arc<OnProblem>>);

type OnProblem = dyn Fn(&str) + Send + Sync;

impl Report {
    pub(crate) fn to(report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(report)))
    }

    pub(crate) fn tell(&self, text: &str) {
        match &self.0 {
            // A function that panics must not end the writer.
            Some(report) => drop(catch_unwind(AssertUnwindSafe(|| report(text)))),
            None => tracing::warn!(target: "toolkit", "{text}"),
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Report")
    }
}

/// The status of a [`JsonlHistory`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonlStatus {
    /// The number of records written since the history was opened.
    pub written: u64,
    /// The number of lost records: the queue was full, the file could not be written, or it was removed after they were written.
    pub lost: u64,
    /// The number of records that wait to be written.
    pub queued: usize,
    /// The error of the last write, if it failed.
    pub last_error: Option<String>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Notifies the writer that there is work.
    work: Condvar,
    /// Notifies waiting callers that the writer made progress.
    done: Condvar,
    redactor: Redactor,
    /// Identifies this process and this history in the keys of calls.
    instance: String,
    max_queued: usize,
    max_queued_bytes: usize,
    /// The number of records that are queued or being written.
    pending: AtomicUsize,
    pending_bytes: AtomicUsize,
    /// The number of pending records that are not prepared, and the time that preparing one takes, in nanoseconds.
    raw: AtomicUsize,
    cost: AtomicU64,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    /// Records that were written, to be dropped by the thread that records the next one.
    spent: Vec<Record>,
    state: State,
    /// The number of records taken and the number of records done with, since the start.
    taken: u64,
    finished: u64,
    written: u64,
    lost: u64,
    /// The number of lost records that the file does not report yet.
    untold: u64,
    last_error: Option<String>,
}

/// The state of the writer.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Busy,
    /// It polls by itself within two milliseconds, which spares the recording threads from waking it.
    Lingering,
    Asleep,
    Stopping,
    Stopped,
}

enum Item {
    Record(Record),
    /// A line prepared by the thread that recorded it.
    Line(Vec<u8>, usize),
}

impl JsonlHistory {
    /// Opens the file, or creates it, with its directory.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory or file cannot be created or written, is a symbolic link, or if the thread
    /// cannot be started.
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
            // An estimate, until the writer has measured it.
            cost: AtomicU64::new(20_000),
        });
        let its = Arc::clone(&shared);
        let writer = std::thread::Builder::new()
            .name("toolkit-history".into())
            .spawn(move || writer::run(&its, segments, &options.report))?;
        Ok(Self { shared, writer: Some(writer), path })
    }

    /// Returns the path of the file that is being written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the calls in the history's files, in the order in which they ended, then the calls that are still
    /// running.
    ///
    /// Waits for the queue and reads from the disk, so it must not be called in an async task.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read. Corrupt lines are skipped; [`HistoryReader`] reports them.
    pub fn calls(&self, query: &HistoryQuery) -> io::Result<Vec<HistoryEntry>> {
        self.flush(LONGEST_DROP);
        let mut found = VecDeque::new();
        for item in HistoryReader::open(&self.path)? {
            let HistoryItem::Call(call) = item? else { continue };
            let mut call = *call;
            if !query.matches(&call) {
                continue;
            }
            // A call of this history without an end is still running.
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

    /// Waits until the system has received everything recorded before; returns true if that happened within `timeout`.
    /// Blocks.
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

    /// Returns the status of the history.
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
        // No code that may panic runs under this lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self, bytes: usize) -> bool {
        self.pending.load(Ordering::Relaxed) >= self.max_queued
            || self.pending_bytes.load(Ordering::Relaxed) + bytes > self.max_queued_bytes
    }

    /// Returns the time that preparing the unprepared records will take.
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

    /// Formats a record as a line. Returns `None` if a type of the tool panicked.
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

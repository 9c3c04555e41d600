//! Where transcripts are kept.

use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::SystemTime;

/// Where transcripts are kept: [files](super::FileStore), [memory](super::MemoryStore), or the store of a host.
///
/// A transcript has an id of ASCII letters, digits, `-` and `_`, and one or more segments, which are numbered without a gap. A segment is a text
/// of lines. The last one grows at its end, the others never change; the oldest ones can be removed. A store does not look into the lines.
///
/// The contract:
///
/// * One [writer](TranscriptWriter) at a time has a transcript, in all processes that share the store. Others read it meanwhile.
/// * [`create`](Self::create), [`create_whole`](Self::create_whole) and [`begin_segment`](TranscriptWriter::begin_segment) do all or nothing: nobody
///   sees a transcript, or a segment, without the lines that it begins with, wherever the process ends.
/// * A line that was [appended](TranscriptWriter::append) is there after a kill of the process, and after a loss of power once it was
///   [synced](TranscriptWriter::sync). Of the last line there may be a part then.
/// * Errors have the kind [`NotFound`](io::ErrorKind::NotFound) where there is no such transcript or segment,
///   [`WouldBlock`](io::ErrorKind::WouldBlock) where another writer has it, and [`AlreadyExists`](io::ErrorKind::AlreadyExists) where one of this
///   id is there. Nothing has changed then.
///
/// All methods may block.
pub trait TranscriptStore: fmt::Debug + Send + Sync + 'static {
    /// Returns all transcripts, in unspecified order.
    ///
    /// # Errors
    ///
    /// The store cannot be read. One that is not there yet has no transcripts.
    fn list(&self) -> io::Result<Vec<StoredTranscript>>;

    /// Returns a transcript.
    ///
    /// # Errors
    ///
    /// There is none, or the store cannot be read.
    fn get(&self, id: &str) -> io::Result<StoredTranscript>;

    /// Reads a segment from its beginning.
    ///
    /// # Errors
    ///
    /// There is none, or it cannot be read.
    fn read(&self, id: &str, segment: u32) -> io::Result<Box<dyn Read + Send>>;

    /// Reads the end of a segment, at most so many bytes of it; all of a segment that has not more.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    fn read_end(&self, id: &str, segment: u32, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read(id, segment)?.read_to_end(&mut bytes)?;
        let most = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        bytes.drain(..bytes.len().saturating_sub(most));
        Ok(bytes)
    }

    /// Makes a transcript with its first line, and returns its writer.
    ///
    /// # Errors
    ///
    /// One of this id is there or is being made, or the store cannot be written.
    fn create(&self, id: &str, line: &[u8]) -> io::Result<Box<dyn TranscriptWriter>>;

    /// Makes a transcript of lines that are there already. It is there once all of them would survive a loss of power.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    fn create_whole(&self, id: &str, lines: &[u8]) -> io::Result<()>;

    /// Returns the writer of a transcript.
    ///
    /// # Errors
    ///
    /// There is no such transcript, another writer has it, or the store cannot be written.
    fn open(&self, id: &str) -> io::Result<Box<dyn TranscriptWriter>>;

    /// Removes a segment that is the oldest and not the last one, also while a writer has the transcript.
    ///
    /// # Errors
    ///
    /// There is none, it is not the oldest or is the last one ([`InvalidInput`](io::ErrorKind::InvalidInput)), or it cannot be removed.
    fn remove_oldest(&self, id: &str, segment: u32) -> io::Result<()>;

    /// Holds the removal of conversations off, in all processes that share the store, until what is returned is dropped: taken while one is opened or
    /// copied, or begun below another one. Waits for a removal under way. A store of one process needs nothing.
    ///
    /// # Errors
    ///
    /// The store cannot be locked.
    fn hold_off_removal(&self) -> io::Result<StoreLock> {
        Ok(Box::new(()))
    }

    /// Has those wait that [hold the removal of conversations off](Self::hold_off_removal) until what is returned is dropped: taken while a
    /// conversation is removed with all that belongs to it. Does not wait.
    ///
    /// # Errors
    ///
    /// A process holds it off ([`WouldBlock`](io::ErrorKind::WouldBlock)), or the store cannot be locked.
    fn lock_for_removal(&self) -> io::Result<StoreLock> {
        Ok(Box::new(()))
    }

    /// Removes what killed processes left of transcripts and segments that they had not made whole.
    fn remove_unfinished(&self) {}

    /// Returns the name of a segment for error messages: its path, if it is a file.
    fn path(&self, id: &str, segment: u32) -> PathBuf;
}

/// The writer of a transcript. Nobody else has one until it is dropped.
pub trait TranscriptWriter: fmt::Debug + Send {
    /// Returns the number of the last segment.
    fn segment(&self) -> u32;

    /// Reads the last segment, at most so many bytes of it.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn read(&mut self, max_bytes: u64) -> io::Result<Vec<u8>>;

    /// Appends to the last segment.
    ///
    /// # Errors
    ///
    /// It cannot be written. A part may be there, which [`truncate`](Self::truncate) takes back.
    fn append(&mut self, line: &[u8]) -> io::Result<()>;

    /// Cuts the last segment to so many bytes; what is appended next follows them.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Begins the next segment with these lines, which are there once all of them would survive a loss of power. It is the last one then.
    ///
    /// # Errors
    ///
    /// It cannot be written. [`segment`](Self::segment) tells whether it is there nevertheless.
    fn begin_segment(&mut self, lines: &[u8]) -> io::Result<()>;

    /// Returns the work that has all lines so far survive a loss of power. Another thread may do it, also when the writer is gone.
    fn sync(&self) -> SyncWork;

    /// Removes the transcript. The last segment goes last: until then it can be opened.
    ///
    /// # Errors
    ///
    /// It cannot be removed, or not whole.
    fn remove(self: Box<Self>) -> io::Result<()>;
}

/// A lock of a [`TranscriptStore`], until it is dropped.
pub type StoreLock = Box<dyn fmt::Debug + Send>;

/// Work that has lines survive a loss of power. It blocks.
pub type SyncWork = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// A transcript of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredTranscript {
    /// Its id.
    pub id: String,
    /// Its segments in their order; there is at least one.
    pub segments: Vec<StoredSegment>,
}

/// A segment of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSegment {
    /// Its number. The first one was 1.
    pub number: u32,
    /// When it was written last.
    pub changed: SystemTime,
    /// Its bytes.
    pub bytes: u64,
}

impl StoredTranscript {
    /// Returns a transcript with these segments; `None` without any.
    pub fn new(id: impl Into<String>, mut segments: Vec<StoredSegment>) -> Option<Self> {
        segments.sort_by_key(|segment| segment.number);
        (!segments.is_empty()).then(|| Self { id: id.into(), segments })
    }

    /// Returns the number of the last segment.
    pub fn last(&self) -> u32 {
        self.segments.iter().map(|segment| segment.number).max().unwrap_or(1)
    }

    /// Returns when it was written last.
    pub fn changed(&self) -> SystemTime {
        self.segments.iter().map(|segment| segment.changed).max().unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Returns the bytes of all segments.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }
}

impl StoredSegment {
    /// Returns a segment.
    pub fn new(number: u32, changed: SystemTime, bytes: u64) -> Self {
        Self { number, changed, bytes }
    }
}

/// The error of a transcript or segment that is not there.
pub(super) fn not_found() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "there is no such transcript or segment")
}

/// The error of a transcript that another writer has.
pub(super) fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::WouldBlock, "another run writes it")
}

/// The error of a transcript that is there.
pub(super) fn exists() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "a transcript of this id is there")
}

/// The error of a segment that cannot be removed.
pub(super) fn not_the_oldest() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "only the oldest segment can be removed, and never the last one",
    )
}

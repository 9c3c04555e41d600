//! The writer of a transcript: records in, lines out.

use super::TranscriptError;
use super::parse::{Damage, Loaded, parse};
use super::record::{Header, Record, VERSION};
use super::store::{SyncWork, TranscriptStore, TranscriptWriter};
use crate::fail_points;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most bytes of a segment that are read: 1 GiB.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// A transcript that is being written. One process writes it at a time. Clones write the same one.
#[derive(Debug, Clone)]
pub(crate) struct Writer(Arc<Mutex<Open>>);

#[derive(Debug)]
struct Open {
    log: Box<dyn TranscriptWriter>,
    store: Arc<dyn TranscriptStore>,
    /// The name of the last segment.
    path: PathBuf,
    /// The bytes of whole lines.
    length: u64,
    /// A line could not be written, and neither could its beginning be taken back.
    is_broken: bool,
}

impl Writer {
    /// Makes a transcript, with its first line. One of that id must not be there.
    pub(super) fn create(store: &Arc<dyn TranscriptStore>, header: &Header) -> Result<Self, TranscriptError> {
        let path = store.path(&header.id, 1);
        let cannot = |error: io::Error| TranscriptError::io("create", &path, &error);
        let line = line(&Record::Transcript(header.clone())).map_err(cannot)?;
        let log = store.create(&header.id, &line).map_err(cannot)?;
        Ok(Self::new(store, log, path, line.len() as u64))
    }

    /// Opens a transcript to go on with it. A last line that is not whole is removed, and the others reach the disk.
    pub(super) fn open(
        store: &Arc<dyn TranscriptStore>,
        id: &str,
    ) -> Result<(Self, Loaded), TranscriptError> {
        let mut log =
            store.open(id).map_err(|error| TranscriptError::io("open", &store.path(id, 1), &error))?;
        let path = store.path(id, log.segment());
        let cannot = |error: io::Error| TranscriptError::io("open", &path, &error);
        let bytes = log.read(MAX_BYTES + 1).and_then(check_size).map_err(cannot)?;
        let mut loaded = parse(&bytes, &path, Damage::Refuse)?;
        log.truncate(loaded.length).map_err(cannot)?;
        // A process that was killed may have left lines that are not on the disk; from here on others rely on them.
        log.sync()().map_err(cannot)?;
        let writer = Self::new(store, log, path, loaded.length);
        if loaded.header.version < VERSION {
            writer.append(&Record::Format { version: VERSION })?;
            loaded.header.version = VERSION;
        }
        Ok((writer, loaded))
    }

    fn new(
        store: &Arc<dyn TranscriptStore>,
        log: Box<dyn TranscriptWriter>,
        path: PathBuf,
        length: u64,
    ) -> Self {
        let store = Arc::clone(store);
        Self(Arc::new(Mutex::new(Open { log, store, path, length, is_broken: false })))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a line. Once this returns, a kill of the process does not lose it.
    pub(crate) fn append(&self, record: &Record) -> Result<(), TranscriptError> {
        let mut open = self.lock();
        let cannot = |path: &PathBuf, error: &io::Error| TranscriptError::io("write", path, error);
        if open.is_broken {
            return Err(cannot(&open.path, &io::Error::other("an earlier line could not be written")));
        }
        let line = line(record).map_err(|error| cannot(&open.path, &error))?;
        if let Err(error) = open.log.append(&line) {
            let length = open.length;
            open.is_broken = open.log.truncate(length).is_err();
            return Err(cannot(&open.path, &error));
        }
        open.length += line.len() as u64;
        fail_points::pass("transcript_line");
        Ok(())
    }

    /// Begins a segment with these records. Blocks.
    pub(crate) fn begin_segment(&self, header: &Header, records: &[Record]) -> Result<(), TranscriptError> {
        let mut open = self.lock();
        let before = open.log.segment();
        let path = open.store.path(&header.id, before.saturating_add(1));
        let cannot = |error: io::Error| TranscriptError::io("begin a segment of", &path, &error);
        if open.is_broken {
            return Err(cannot(io::Error::other("an earlier line could not be written")));
        }
        let lines = lines(header, records).map_err(cannot)?;
        let begun = open.log.begin_segment(&lines);
        if open.log.segment() > before {
            (open.length, open.path) = (lines.len() as u64, path.clone());
        }
        begun.map_err(cannot)
    }

    /// Returns the name of the last segment.
    pub(crate) fn path(&self) -> PathBuf {
        self.lock().path.clone()
    }

    /// Returns the work that has all lines so far reach the disk, and the name of the segment. It does not keep the transcript locked.
    pub(crate) fn sync(&self) -> (SyncWork, PathBuf) {
        let open = self.lock();
        (open.log.sync(), open.path.clone())
    }
}

/// Refuses a segment that is too long to be read.
pub(super) fn check_size(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
    }
    Ok(bytes)
}

/// The lines of a segment.
pub(super) fn lines(header: &Header, records: &[Record]) -> io::Result<Vec<u8>> {
    let mut lines = line(&Record::Transcript(header.clone()))?;
    for record in records {
        lines.append(&mut line(record)?);
    }
    Ok(lines)
}

fn line(record: &Record) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

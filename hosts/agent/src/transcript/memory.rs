//! Transcripts in memory.

use super::store::{
    StoredSegment, StoredTranscript, SyncWork, TranscriptStore, TranscriptWriter, exists, in_use, not_found,
    not_the_oldest,
};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Transcripts in memory, which end with the process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore(Arc<Mutex<BTreeMap<String, Kept>>>);

#[derive(Debug, Default)]
struct Kept {
    segments: BTreeMap<u32, Segment>,
    /// True while a writer has it.
    is_open: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Segment {
    bytes: Vec<u8>,
    changed: SystemTime,
}

#[derive(Debug)]
struct MemoryWriter {
    store: MemoryStore,
    id: String,
    segment: u32,
    is_open: Arc<AtomicBool>,
}

impl Segment {
    fn new(lines: &[u8]) -> Self {
        Self { bytes: lines.to_owned(), changed: SystemTime::now() }
    }
}

impl Kept {
    fn stored(&self, id: &str) -> Option<StoredTranscript> {
        let segments = self.segments.iter();
        let segments = segments.map(|(number, segment)| {
            StoredSegment::new(*number, segment.changed, segment.bytes.len() as u64)
        });
        StoredTranscript::new(id, segments.collect())
    }
}

impl MemoryStore {
    /// Returns a store without transcripts.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self, id: &str, kept: &Kept) -> io::Result<Box<dyn TranscriptWriter>> {
        let segment = *kept.segments.last_key_value().ok_or_else(not_found)?.0;
        if kept.is_open.swap(true, Ordering::SeqCst) {
            return Err(in_use());
        }
        let is_open = Arc::clone(&kept.is_open);
        Ok(Box::new(MemoryWriter { store: self.clone(), id: id.to_owned(), segment, is_open }))
    }
}

impl Kept {
    fn new(lines: &[u8]) -> Self {
        Self { segments: BTreeMap::from([(1, Segment::new(lines))]), is_open: Arc::default() }
    }
}

impl TranscriptStore for MemoryStore {
    fn list(&self) -> io::Result<Vec<StoredTranscript>> {
        Ok(self.lock().iter().filter_map(|(id, kept)| kept.stored(id)).collect())
    }

    fn get(&self, id: &str) -> io::Result<StoredTranscript> {
        self.lock().get(id).and_then(|kept| kept.stored(id)).ok_or_else(not_found)
    }

    fn read(&self, id: &str, segment: u32) -> io::Result<Box<dyn Read + Send>> {
        let kept = self.lock();
        let segment = kept.get(id).and_then(|kept| kept.segments.get(&segment)).ok_or_else(not_found)?;
        Ok(Box::new(Cursor::new(segment.bytes.clone())))
    }

    fn create(&self, id: &str, line: &[u8]) -> io::Result<Box<dyn TranscriptWriter>> {
        match self.lock().entry(id.to_owned()) {
            Entry::Vacant(entry) => self.writer(id, entry.insert(Kept::new(line))),
            Entry::Occupied(_) => Err(exists()),
        }
    }

    fn create_whole(&self, id: &str, lines: &[u8]) -> io::Result<()> {
        self.create(id, lines).map(drop)
    }

    fn open(&self, id: &str) -> io::Result<Box<dyn TranscriptWriter>> {
        self.writer(id, self.lock().get(id).ok_or_else(not_found)?)
    }

    fn remove_oldest(&self, id: &str, segment: u32) -> io::Result<()> {
        let mut all = self.lock();
        let segments = &mut all.get_mut(id).ok_or_else(not_found)?.segments;
        if !segments.contains_key(&segment) {
            return Err(not_found());
        }
        if segments.len() == 1 || segments.first_key_value().is_some_and(|(first, _)| *first != segment) {
            return Err(not_the_oldest());
        }
        segments.remove(&segment);
        Ok(())
    }

    fn path(&self, id: &str, segment: u32) -> PathBuf {
        PathBuf::from(format!("{id}.{segment} in memory"))
    }
}

impl MemoryWriter {
    fn with<T>(&self, change: impl FnOnce(&mut Segment) -> T) -> io::Result<T> {
        let mut all = self.store.lock();
        let segment = all.get_mut(&self.id).and_then(|kept| kept.segments.get_mut(&self.segment));
        Ok(change(segment.ok_or_else(not_found)?))
    }
}

impl TranscriptWriter for MemoryWriter {
    fn segment(&self) -> u32 {
        self.segment
    }

    fn read(&mut self, max_bytes: u64) -> io::Result<Vec<u8>> {
        let most = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        self.with(|segment| segment.bytes[..segment.bytes.len().min(most)].to_owned())
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.with(|segment| {
            segment.bytes.extend_from_slice(line);
            segment.changed = SystemTime::now();
        })
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.with(|segment| segment.bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX)))
    }

    fn begin_segment(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut all = self.store.lock();
        let kept = all.get_mut(&self.id).ok_or_else(not_found)?;
        self.segment += 1;
        kept.segments.insert(self.segment, Segment::new(lines));
        Ok(())
    }

    fn sync(&self) -> SyncWork {
        Box::new(|| Ok(()))
    }

    fn remove(self: Box<Self>) -> io::Result<()> {
        self.store.lock().remove(&self.id).map(drop).ok_or_else(not_found)
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        self.is_open.store(false, Ordering::SeqCst);
    }
}

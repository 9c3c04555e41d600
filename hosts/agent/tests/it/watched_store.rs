//! A store of files that tells a test of its steps, and counts the bytes that are read.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use toolkit_agent::{FileStore, StoreLock, StoredTranscript, TranscriptStore, TranscriptWriter, Transcripts};

/// A step of a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// All transcripts were listed.
    Listed,
    /// A transcript is read.
    Reads(String),
    /// The copy of a transcript, which is there whole, is looked for.
    FindsCopy,
}

type Work = Box<dyn FnOnce() + Send>;

/// A store that does some work of the test at a step.
pub(crate) struct WatchedStore {
    files: FileStore,
    work: Mutex<Option<(Step, u32, Work)>>,
    passed: Mutex<BTreeMap<Step, u32>>,
    /// The id of the last copy.
    copy: Mutex<Option<String>>,
    bytes: Arc<AtomicU64>,
}

impl fmt::Debug for WatchedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedStore").finish_non_exhaustive()
    }
}

impl WatchedStore {
    /// Returns the store of these transcripts, which does the work at a pass of a step, counted from 1.
    pub(crate) fn new(
        transcripts: &Transcripts,
        step: Step,
        pass: u32,
        work: impl FnOnce() + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            files: FileStore::new(transcripts.directory()),
            work: Mutex::new(Some((step, pass, Box::new(work)))),
            passed: Mutex::default(),
            copy: Mutex::default(),
            bytes: Arc::default(),
        })
    }

    /// Returns the transcripts in this store.
    pub(crate) fn transcripts(self: &Arc<Self>, of: &Transcripts) -> Transcripts {
        Transcripts::in_store(Arc::clone(self) as _, of.directory())
    }

    /// Returns true if the work was done.
    pub(crate) fn has_worked(&self) -> bool {
        self.work.lock().unwrap().is_none()
    }

    /// Returns the number of bytes that were read.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }

    fn pass(&self, step: &Step) {
        let count = {
            let mut passed = self.passed.lock().unwrap();
            let count = passed.entry(step.clone()).or_default();
            *count += 1;
            *count
        };
        let work = self.work.lock().unwrap().take_if(|(at, pass, _)| (&*at, *pass) == (step, count));
        if let Some((_, _, work)) = work {
            work();
        }
    }
}

/// Counts the bytes that are read.
struct Counting<R>(R, Arc<AtomicU64>);

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.fetch_add(count as u64, Ordering::SeqCst);
        Ok(count)
    }
}

impl TranscriptStore for WatchedStore {
    fn list(&self) -> io::Result<Vec<StoredTranscript>> {
        let listed = self.files.list();
        self.pass(&Step::Listed);
        listed
    }

    fn get(&self, id: &str) -> io::Result<StoredTranscript> {
        if self.copy.lock().unwrap().as_deref() == Some(id) {
            self.pass(&Step::FindsCopy);
        }
        self.files.get(id)
    }

    fn read(&self, id: &str, segment: u32) -> io::Result<Box<dyn Read + Send>> {
        self.pass(&Step::Reads(id.to_owned()));
        Ok(Box::new(Counting(self.files.read(id, segment)?, Arc::clone(&self.bytes))))
    }

    fn read_end(&self, id: &str, segment: u32, max_bytes: u64) -> io::Result<Vec<u8>> {
        let bytes = self.files.read_end(id, segment, max_bytes)?;
        self.bytes.fetch_add(bytes.len() as u64, Ordering::SeqCst);
        Ok(bytes)
    }

    fn create(&self, id: &str, line: &[u8]) -> io::Result<Box<dyn TranscriptWriter>> {
        self.files.create(id, line)
    }

    fn create_whole(&self, id: &str, lines: &[u8]) -> io::Result<()> {
        self.files.create_whole(id, lines)?;
        *self.copy.lock().unwrap() = Some(id.to_owned());
        Ok(())
    }

    fn open(&self, id: &str) -> io::Result<Box<dyn TranscriptWriter>> {
        self.files.open(id)
    }

    fn remove_oldest(&self, id: &str, segment: u32) -> io::Result<()> {
        self.files.remove_oldest(id, segment)
    }

    fn hold_off_removal(&self) -> io::Result<StoreLock> {
        self.files.hold_off_removal()
    }

    fn lock_for_removal(&self) -> io::Result<StoreLock> {
        self.files.lock_for_removal()
    }

    fn path(&self, id: &str, segment: u32) -> PathBuf {
        self.files.path(id, segment)
    }
}

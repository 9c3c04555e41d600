//! A clean-up of one process, while another process opens conversations or begins some.

use super::{DAY, agent, conversation, ids, settled};
use crate::common::transcripts;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use toolkit_agent::{
    DelegationRequest, FileStore, Retention, StoreLock, StoredTranscript, TranscriptError, TranscriptStore,
    TranscriptWriter, Transcripts,
};

type Result = std::result::Result<(), TranscriptError>;

/// The store of a clean-up, at whose last look another process does something.
struct LastLook {
    files: FileStore,
    looks: AtomicU32,
    /// Done by another process.
    work: Mutex<Option<Box<dyn FnOnce() -> Result + Send>>>,
    worker: Mutex<Option<JoinHandle<Result>>>,
}

impl fmt::Debug for LastLook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastLook").finish_non_exhaustive()
    }
}

impl LastLook {
    fn new(transcripts: &Transcripts, work: impl FnOnce() -> Result + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            files: FileStore::new(transcripts.directory()),
            looks: AtomicU32::new(0),
            work: Mutex::new(Some(Box::new(work))),
            worker: Mutex::default(),
        })
    }

    fn outcome(&self) -> Result {
        self.worker.lock().unwrap().take().expect("there was a last look").join().unwrap()
    }
}

impl TranscriptStore for LastLook {
    fn list(&self) -> io::Result<Vec<StoredTranscript>> {
        let listed = self.files.list();
        // The first look is at all conversations.
        if self.looks.fetch_add(1, Ordering::SeqCst) == 1 {
            let work = self.work.lock().unwrap().take().expect("there is one last look");
            let (done, is_done) = mpsc::channel();
            *self.worker.lock().unwrap() = Some(std::thread::spawn(move || {
                let outcome = work();
                let _ = done.send(());
                outcome
            }));
            // One that does not wait for the clean-up is done by then.
            let _ = is_done.recv_timeout(Duration::from_millis(500));
        }
        listed
    }

    fn get(&self, id: &str) -> io::Result<StoredTranscript> {
        self.files.get(id)
    }

    fn read(&self, id: &str, segment: u32) -> io::Result<Box<dyn io::Read + Send>> {
        self.files.read(id, segment)
    }

    fn create(&self, id: &str, line: &[u8]) -> io::Result<Box<dyn TranscriptWriter>> {
        self.files.create(id, line)
    }

    fn create_whole(&self, id: &str, lines: &[u8]) -> io::Result<()> {
        self.files.create_whole(id, lines)
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

#[tokio::test]
async fn nothing_is_begun_below_or_opened_within_a_conversation_that_is_being_removed() {
    for is_opened in [false, true] {
        let (_directory, transcripts) = transcripts();
        let left = settled(&transcripts).await;
        let root = conversation(&transcripts, 9).await;
        let below = agent(&transcripts, []).session_below(&root, &DelegationRequest::default()).unwrap();
        let id = below.id().to_owned();
        below.close();
        super::age(&transcripts, &id, 9);
        // Of another process: nothing but the directory is shared.
        let other = Transcripts::new(transcripts.directory());
        let store = LastLook::new(&transcripts, move || {
            let agent = agent(&other, []);
            if is_opened {
                agent.resume(&id).map(drop)
            } else {
                agent.session_below(&root, &DelegationRequest::default()).map(drop)
            }
        });
        let cleaned = Transcripts::in_store(Arc::clone(&store) as _, transcripts.directory())
            .clean_up(&Retention::new().max_age(DAY * 2));
        let outcome = store.outcome();
        assert!(matches!(outcome, Err(TranscriptError::Unknown { .. })), "{is_opened}: {outcome:?}");
        assert_eq!(cleaned.removed.len(), 1, "{is_opened}: {cleaned:?}");
        assert_eq!(ids(&transcripts).len(), left.len(), "{is_opened}");
    }
}

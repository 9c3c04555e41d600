//! Transcripts: every message, call and result of a conversation, in JSON Lines, as it happens.

mod conversation;
mod depth;
mod files;
mod fork;
mod glance;
mod memory;
mod parse;
mod record;
mod replay;
mod retention;
mod runs;
mod segments;
mod store;
mod writer;

pub(crate) use conversation::{Conversation, Item, Pending};
pub use files::FileStore;
pub use fork::DamagedTranscript;
pub use memory::MemoryStore;
pub(crate) use parse::{Damage, Loaded};
pub use record::Kind;
pub(crate) use record::{CarriedMessage, Header, Record, VERSION};
pub use replay::Replay;
pub(crate) use retention::HeldOff;
pub use retention::{CleanUp, RemovalReason, RemovedConversation, Retention};
pub(crate) use runs::Runs;
pub use store::{StoreLock, StoredSegment, StoredTranscript, SyncWork, TranscriptStore, TranscriptWriter};
pub(crate) use writer::Writer;

use serde::Serialize;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_models::Message;

/// The extension of the directory of a transcript's copies of changed files.
const COPIES: &str = "files";
/// The longest id of a transcript.
const MAX_ID_BYTES: usize = 100;

/// The transcripts of a [store](TranscriptStore), which is a directory by default, and the copies of files that their runs changed.
///
/// A transcript holds what the model read and wrote. Secrets of the configuration are redacted in it; others in tool results are not. After each
/// summary of the conversation it goes on in a new segment, so that it is opened without reading what was before.
#[derive(Debug, Clone)]
pub struct Transcripts {
    directory: PathBuf,
    store: Arc<dyn TranscriptStore>,
    /// Read while a transcript is made that belongs to another one, written while a conversation is removed.
    joining: Arc<RwLock<()>>,
}

/// Why a transcript cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// The file cannot be used.
    #[error("cannot {action} transcript {}: {reason}", path.display())]
    Io {
        /// The action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Another process, or another run of this one, writes it.
    #[error("cannot open transcript {}: another run writes it; wait for its end, or fork it", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line is not what was written.
    #[error("cannot read transcript {}: line {line} is damaged ({reason}); {}", path.display(), if *line > 2 {
        "fork it at a message before that line"
    } else {
        "nothing stands before that line, so begin a new conversation"
    })]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// A newer version of the program wrote it.
    #[error(
        "cannot read transcript {}: it has lines of version {version} of the format, and this program knows up to {known}; use the program \
         that wrote it, or a newer one", path.display()
    )]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version of the format.
        version: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// There is none of that id.
    #[error("there is no transcript `{id}` in {}; list them to find its id", directory.display())]
    Unknown {
        /// The id.
        id: String,
        /// The directory.
        directory: PathBuf,
    },
    /// A call was interrupted, and the host cannot look for what became of it.
    #[error(
        "cannot go on with transcript `{id}`: it is unknown what became of an interrupted call ({reason}); try again"
    )]
    Unrecovered {
        /// The transcript.
        id: String,
        /// Why the host could not look.
        reason: String,
    },
    /// It is the transcript of a sub-agent, which belongs to that of the agent that delegated.
    #[error(
        "transcript `{id}` is that of a sub-agent; use `{parent}`, the transcript of the agent that delegated"
    )]
    SubAgent {
        /// The id.
        id: String,
        /// The id of the transcript of the agent that delegated.
        parent: String,
    },
    /// It belongs to another workspace than the agent.
    #[error("cannot continue transcript `{id}`: it belongs to the workspace {}, not to {}; continue it there", workspace.display(), here.display())]
    OtherWorkspace {
        /// The id.
        id: String,
        /// The workspace of the transcript.
        workspace: PathBuf,
        /// The workspace of the agent.
        here: PathBuf,
    },
    /// There is no message of that number.
    #[error("transcript `{id}` has no message {message}; it has {}", if *last == 0 { "none".to_owned() } else { format!("1 to {last}") })]
    UnknownMessage {
        /// The id.
        id: String,
        /// The number.
        message: u64,
        /// The last number that there is.
        last: u64,
    },
    /// Messages cannot be read that are needed.
    #[error(
        "messages {first} to {last} of transcript `{id}` cannot be read: they were removed with an earlier segment, or are damaged; name a later \
         message, or none"
    )]
    MissingMessages {
        /// The id.
        id: String,
        /// The first one.
        first: u64,
        /// The last one.
        last: u64,
    },
}

impl TranscriptError {
    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock => Self::InUse { path: path.to_owned() },
            _ => Self::Io { action, path: path.to_owned(), reason: error.to_string() },
        }
    }

    pub(crate) fn missing(id: &str, missing: &Range<u64>) -> Self {
        Self::MissingMessages { id: id.to_owned(), first: missing.start, last: missing.end.saturating_sub(1) }
    }
}

/// A transcript in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TranscriptInfo {
    /// Its id.
    pub id: String,
    /// The workspace of its tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<PathBuf>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The transcript below which it stands: that of the agent that delegated, or of the conversation that began this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// How many agents stand above the one whose transcript it is. A sub-agent's transcript, of a depth above 0, cannot be resumed.
    pub depth: u32,
    /// The first task.
    pub task: String,
    /// How many turns it has.
    pub turns: u32,
    /// When it was written last, in milliseconds since 1970.
    pub changed: u64,
}

/// A message of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TranscriptMessage {
    /// Its number, by which the transcript can be forked or rewound.
    pub id: u64,
    /// The author.
    pub kind: Kind,
    /// The message, as the model reads it now.
    pub message: Message,
}

impl Transcripts {
    /// Returns the transcripts in a directory, which need not be there yet.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self { store: Arc::new(FileStore::new(&directory)), directory, joining: Arc::default() }
    }

    /// Returns the transcripts of a store. The directory, which need not be there yet, has the copies of changed files alone.
    pub fn in_store(store: Arc<dyn TranscriptStore>, directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), store, joining: Arc::default() }
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns all transcripts that can be read, the latest first. Of each, the beginning and the end are read, or all of it if these do not tell
    /// the task and the turns. Blocks.
    pub fn list(&self) -> Vec<TranscriptInfo> {
        let mut list: Vec<TranscriptInfo> =
            self.stored().iter().filter_map(|stored| self.info(stored)).collect();
        list.sort_by(|one, other| (other.changed, &other.id).cmp(&(one.changed, &one.id)));
        list
    }

    /// Returns the latest transcript of a workspace that no agent delegated and no other conversation began. Blocks.
    pub fn latest(&self, workspace: &Path) -> Option<TranscriptInfo> {
        let is_its = |info: &TranscriptInfo| {
            info.depth == 0 && info.parent.is_none() && info.workspace.as_deref() == Some(workspace)
        };
        self.list().into_iter().find(is_its)
    }

    /// Returns the transcript that another one stands below: that of the agent that delegated, or of the conversation that began it. `None` if
    /// there is none, or the transcript cannot be read. Blocks.
    pub fn parent(&self, id: &str) -> Option<String> {
        self.header(id)?.parent
    }

    /// Returns the messages of a transcript, as the model would read them now. Blocks.
    ///
    /// # Errors
    ///
    /// There is no such transcript, or it is damaged.
    pub fn messages(&self, id: &str) -> Result<Vec<TranscriptMessage>, TranscriptError> {
        let loaded = self.load(id)?;
        let items = loaded.conversation.items().iter();
        Ok(items
            .map(|Item { id, kind, message, .. }| TranscriptMessage {
                id: *id,
                kind: *kind,
                message: message.clone(),
            })
            .collect())
    }

    /// All transcripts of the store whose ids are plain.
    fn stored(&self) -> Vec<StoredTranscript> {
        let mut stored = self.store.list().unwrap_or_else(|error| {
            tracing::warn!(target: "toolkit::agent", %error, "the transcripts cannot be listed");
            Vec::new()
        });
        stored.retain(|stored| is_id(&stored.id));
        stored
    }

    /// Opens a transcript, while no clean-up removes a part of its conversation.
    pub(crate) fn open(&self, id: &str, _removal: &HeldOff<'_>) -> Result<(Writer, Loaded), TranscriptError> {
        self.existing(id)?;
        Writer::open(&self.store, id)
    }

    /// Locks a transcript without reading it, until what is returned is dropped.
    pub(crate) fn hold(&self, id: &str) -> Result<Box<dyn TranscriptWriter>, TranscriptError> {
        let stored = self.existing(id)?;
        let path = || self.store.path(id, stored.last());
        self.store.open(id).map_err(|error| TranscriptError::io("open", &path(), &error))
    }

    /// Makes a transcript.
    pub(crate) fn create(&self, header: &Header) -> Result<Writer, TranscriptError> {
        Writer::create(&self.store, header)
    }

    /// Makes a transcript with lines that are there already, which is there whole or not at all.
    pub(crate) fn create_whole(&self, header: &Header, records: &[Record]) -> Result<(), TranscriptError> {
        let created =
            writer::lines(header, records).and_then(|lines| self.store.create_whole(&header.id, &lines));
        created.map_err(|error| TranscriptError::io("create", &self.store.path(&header.id, 1), &error))
    }

    pub(crate) fn existing(&self, id: &str) -> Result<StoredTranscript, TranscriptError> {
        // Nobody names a file elsewhere by an id.
        if !is_id(id) {
            return Err(self.unknown(id));
        }
        self.store.get(id).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.unknown(id),
            _ => TranscriptError::io("read", &self.store.path(id, 1), &error),
        })
    }

    /// The directory of the copies of files that a transcript's runs changed.
    pub(crate) fn copies(&self, id: &str) -> Result<PathBuf, TranscriptError> {
        if !is_id(id) {
            return Err(self.unknown(id));
        }
        Ok(self.directory.join(format!("{id}.{COPIES}")))
    }

    fn unknown(&self, id: &str) -> TranscriptError {
        TranscriptError::Unknown {
            id: toolkit::text::escape_line(id).into_owned(),
            directory: self.directory.clone(),
        }
    }
}

fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !id.is_empty() && id.len() <= MAX_ID_BYTES && id.bytes().all(is_plain)
}

/// An id that sorts by time.
pub(crate) fn new_id() -> String {
    let mut random = [0; 5];
    getrandom::fill(&mut random).expect("the system gives random numbers");
    format!("{:011x}-{}", now(), data_encoding::HEXLOWER.encode(&random))
}

pub(crate) fn now() -> u64 {
    milliseconds(SystemTime::now())
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

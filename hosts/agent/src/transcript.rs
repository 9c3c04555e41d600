//! Transcripts: every message, call and result of a conversation, in JSON Lines, as it happens.

mod conversation;
mod file;
mod fork;
mod record;
mod replay;
mod retention;
mod runs;

pub(crate) use conversation::{Conversation, Item, Pending};
pub(crate) use file::{Damage, Loaded, Writer, read, read_header};
pub use fork::DamagedTranscript;
pub use record::Kind;
pub(crate) use record::{Header, Record, VERSION};
pub use replay::Replay;
pub use retention::{CleanUp, RemovalReason, RemovedConversation, Retention};
pub(crate) use runs::Runs;

use serde::Serialize;
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_models::Message;

/// The extension of the directory of a transcript's copies of changed files.
pub(crate) const COPIES: &str = "files";
/// The extension of a transcript that is not there whole yet.
const NEW: &str = "new";
/// The longest id of a transcript.
const MAX_ID_BYTES: usize = 100;

/// The directory of transcripts. Each is a file `<id>.jsonl`, readable by its owner alone.
///
/// A transcript holds what the model read and wrote. Secrets of the configuration are redacted in it; others in tool results are not.
#[derive(Debug, Clone)]
pub struct Transcripts {
    directory: PathBuf,
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
    #[error("cannot read transcript {}: line {line} is damaged ({reason}); {}", path.display(), if *line > 1 {
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
}

impl TranscriptError {
    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), reason: error.to_string() }
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
        Self { directory: directory.into() }
    }

    /// Returns the directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns all transcripts that can be read, the latest first. Blocks.
    pub fn list(&self) -> Vec<TranscriptInfo> {
        let mut list: Vec<TranscriptInfo> = self.ids().filter_map(|id| self.info(&id)).collect();
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

    /// The ids of the files in the directory.
    fn ids(&self) -> impl Iterator<Item = String> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten();
        entries.filter_map(|entry| {
            let name = entry.ok()?.file_name();
            name.to_str()?.strip_suffix(".jsonl").map(str::to_owned)
        })
    }

    /// The first line of a transcript, if it can be read. Blocks.
    pub(crate) fn header(&self, id: &str) -> Option<Header> {
        read_header(&self.existing(id).ok()?)
    }

    /// The first lines of all transcripts that can be read. Blocks.
    pub(crate) fn headers(&self) -> Vec<Header> {
        self.ids().filter_map(|id| read_header(&self.path(&id).ok()?)).collect()
    }

    fn info(&self, id: &str) -> Option<TranscriptInfo> {
        let path = self.path(id).ok()?;
        let changed = path.metadata().and_then(|metadata| metadata.modified()).ok()?;
        let Loaded { header, conversation, records, .. } = read(&path, Damage::Stop).ok()?;
        let task = records.iter().find_map(|record| match record {
            Record::Run { request: Some(request), .. } => Some(request.task.clone()),
            _ => None,
        });
        Some(TranscriptInfo {
            id: id.to_owned(),
            workspace: header.workspace,
            agent: header.agent,
            parent: header.parent,
            depth: header.depth,
            task: task.unwrap_or_default(),
            turns: conversation.turns,
            changed: milliseconds(changed),
        })
    }

    pub(crate) fn load(&self, id: &str) -> Result<Loaded, TranscriptError> {
        read(&self.existing(id)?, Damage::Refuse)
    }

    pub(crate) fn load_until_damage(&self, id: &str) -> Result<Loaded, TranscriptError> {
        read(&self.existing(id)?, Damage::Stop)
    }

    pub(crate) fn open(&self, id: &str) -> Result<(Writer, Loaded), TranscriptError> {
        Writer::open(&self.existing(id)?)
    }

    /// Makes a transcript.
    pub(crate) fn create(&self, header: &Header) -> Result<Writer, TranscriptError> {
        self.create_directory()?;
        Writer::create(&self.path(&header.id)?, header)
    }

    /// Makes a transcript with lines that are there already, which is there whole or not at all.
    pub(crate) fn create_whole(&self, header: &Header, records: &[Record]) -> Result<(), TranscriptError> {
        self.create_directory()?;
        Writer::create_whole(&self.path(&header.id)?, header, records)
    }

    fn create_directory(&self) -> Result<(), TranscriptError> {
        let cannot =
            |error: io::Error| TranscriptError::io("create the directory of", &self.directory, &error);
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.directory).map_err(cannot)
    }

    pub(crate) fn existing(&self, id: &str) -> Result<PathBuf, TranscriptError> {
        let path = self.path(id)?;
        if path.is_file() { Ok(path) } else { Err(self.unknown(id)) }
    }

    pub(crate) fn path(&self, id: &str) -> Result<PathBuf, TranscriptError> {
        // Nobody names a file elsewhere by an id.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_id = !id.is_empty() && id.len() <= MAX_ID_BYTES && id.bytes().all(is_plain);
        if is_id { Ok(self.directory.join(format!("{id}.jsonl"))) } else { Err(self.unknown(id)) }
    }

    fn unknown(&self, id: &str) -> TranscriptError {
        TranscriptError::Unknown {
            id: toolkit::text::escape_line(id).into_owned(),
            directory: self.directory.clone(),
        }
    }
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

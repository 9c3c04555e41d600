//! Putting files back as they were before a turn, from copies that were kept when tools changed them.

use crate::transcript::{Damage, Header, Loaded, Record, TranscriptError, Transcripts, now};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toolkit::{Caller, ToolCall, ToolError, ToolErrorKind, files::FileChange};

/// The member of [`Caller::extra`] that says to which turn of which transcript a call belongs.
const TURN: &str = "agentTurn";
/// The file of changes in the directory of a transcript's copies.
const CHANGES: &str = "changes.jsonl";

/// Keeps copies of the files that a run changes, so that they can be put back.
///
/// A host adds [`hook`](Self::hook) to its toolkit with [`Builder::change_hook`](toolkit::Builder::change_hook). Changes that commands make
/// are not covered.
#[derive(Debug, Clone)]
pub struct Checkpoints {
    transcripts: Transcripts,
    writing: Arc<Mutex<()>>,
}

/// The options of putting files back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewindOptions {
    /// The first message whose changes are taken back; all changes of the run without one.
    pub message: Option<u64>,
    /// Overwrites files that have changed since the run wrote them last. Off by default.
    pub force: bool,
}

impl RewindOptions {
    /// Returns options that take back all changes, but overwrite no later ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the first message whose changes are taken back.
    #[must_use]
    pub fn message(mut self, message: impl Into<Option<u64>>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets whether files are overwritten that have changed since the run wrote them last.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }
}

/// The files that were put back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Rewound {
    /// The files that have their earlier content again.
    pub restored: Vec<PathBuf>,
    /// The files that were removed, since they were not there before.
    pub removed: Vec<PathBuf>,
    /// The files that were left as they are, since something other than the run has changed them after it wrote them last.
    pub changed_since: Vec<PathBuf>,
    /// The files that could not be put back, and why.
    pub failed: Vec<(PathBuf, String)>,
    /// The calls that may have changed files and are not covered: commands, and tools of MCP servers; also those of sub-agents.
    pub not_covered: Vec<String>,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Change {
    /// The turn; none for a change that putting back made.
    turn: Option<u32>,
    call: String,
    path: PathBuf,
    /// The hash of what it had; `None` where it was not there.
    before: Option<Content>,
    /// The hash of what it got; `None` where it was removed.
    #[serde(default)]
    after: Option<String>,
    at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    sha256: String,
    #[serde(default)]
    executable: bool,
}

#[derive(Deserialize)]
struct Turn {
    transcript: String,
    turn: u32,
}

/// Notes in a caller to which turn its calls belong. The calls of a sub-agent belong to the turn that delegated.
pub(crate) fn note_turn(caller: &mut Caller, transcript: &str, turn: u32) {
    let noted = caller.extra.get(TURN).and_then(|turn| turn.get("transcript")?.as_str());
    if caller.depth == 0 || noted.is_none_or(|noted| noted == transcript) {
        caller.extra.insert(TURN.to_owned(), json!({ "transcript": transcript, "turn": turn }));
    }
}

impl Checkpoints {
    /// Keeps copies beside transcripts.
    pub fn new(transcripts: Transcripts) -> Self {
        Self { transcripts, writing: Arc::default() }
    }

    /// Returns the hook for a toolkit. Calls that belong to no run of an agent pass it by.
    pub fn hook(&self) -> impl Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync + 'static {
        let checkpoints = self.clone();
        move |change| {
            let turn = change.caller.extra.get(TURN).cloned().map(serde_json::from_value::<Turn>);
            let Some(Ok(turn)) = turn else { return Ok(()) };
            checkpoints.keep(&turn, change).map_err(|error| {
                ToolError::failed(format!(
                    "cannot change {}: no copy of it can be kept first ({error}); free some space for {}",
                    change.path.display(),
                    checkpoints.transcripts.directory().display()
                ))
            })
        }
    }

    fn keep(&self, turn: &Turn, change: &FileChange<'_>) -> io::Result<()> {
        let directory = self.transcripts.copies(&turn.transcript).map_err(io::Error::other)?;
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let before = change.before.map(|before| (before.bytes, before.executable == Some(true)));
        let before = before.map(|(bytes, executable)| store(&directory, bytes, executable)).transpose()?;
        let change = Change {
            turn: Some(turn.turn),
            call: change.call_id.to_owned(),
            path: change.path.to_owned(),
            before,
            after: change.after.map(hash),
            at: now(),
        };
        append(&directory, &change)
    }
}

impl Transcripts {
    /// Puts the files that a run changed back as they were before the turn of a message; of all turns without a message. A file that
    /// something else has changed since the run wrote it last is left as it is, unless [`RewindOptions::force`] is set. What the files
    /// have now is kept as a copy too. The conversation stays as it is: [`fork`](Self::fork) takes a part of it. Blocks.
    ///
    /// # Errors
    ///
    /// There is no such transcript or message, the message cannot be read any more, the transcript is that of a sub-agent, or the copies cannot be
    /// read. A file that cannot be put back is part of the answer.
    pub fn rewind(&self, id: &str, options: RewindOptions) -> Result<Rewound, TranscriptError> {
        let RewindOptions { message, force } = options;
        let loaded = self.load_history(id, Damage::Stop)?;
        if let Some(parent) = loaded.header.delegating().cloned() {
            return Err(TranscriptError::SubAgent { id: id.to_owned(), parent });
        }
        let turn = message.map_or(Ok(0), |message| turn_of(&loaded, id, message))?;
        let directory = self.copies(id)?;
        let changes = read_changes(&directory)?;
        let mut rewound = Rewound::default();
        let is_undone = |change: &&Change| change.turn.is_some_and(|of| of >= turn);
        // The first change of a file since then says what it had before; the last one of all, what it was left with.
        let mut targets: BTreeMap<&Path, Option<&Content>> = BTreeMap::new();
        for change in changes.iter().filter(is_undone) {
            targets.entry(&change.path).or_insert(change.before.as_ref());
        }
        let last: BTreeMap<&Path, &Change> =
            changes.iter().map(|change| (change.path.as_path(), change)).collect();
        for (path, before) in targets {
            let last = if force { None } else { last.get(path).copied() };
            match put_back(&directory, path, before, last) {
                Ok(Outcome::Unchanged) => {}
                Ok(Outcome::PutBack) if before.is_some() => rewound.restored.push(path.to_owned()),
                Ok(Outcome::PutBack) => rewound.removed.push(path.to_owned()),
                Ok(Outcome::ChangedSince) => rewound.changed_since.push(path.to_owned()),
                Err(error) => rewound.failed.push((path.to_owned(), error.to_string())),
            }
        }
        rewound.not_covered = self.not_covered(&loaded.records, id, turn);
        let first = message.unwrap_or(0);
        let missing = loaded.missing.iter().filter(|missing| missing.end > first);
        rewound.not_covered.extend(missing.map(|missing| {
            format!(
                "the commands in messages {} to {}, which cannot be read any more",
                missing.start,
                missing.end - 1
            )
        }));
        Ok(rewound)
    }

    /// The calls from a turn on, also those of sub-agents, whose changes are not covered.
    fn not_covered(&self, records: &[Record], id: &str, turn: u32) -> Vec<String> {
        let mut found = uncovered(records, turn);
        let mut parents: Vec<(String, u32)> = vec![(id.to_owned(), turn)];
        let mut headers = self.headers();
        // A sub-agent begins after the one that delegated.
        headers.sort_by(|one, other| one.id.cmp(&other.id));
        while let Some((parent, turn)) = parents.pop() {
            let is_undone = |header: &&Header| {
                header.delegating() == Some(&parent) && header.parent_turn.is_none_or(|of| of >= turn)
            };
            for header in headers.iter().filter(is_undone) {
                if let Ok(loaded) = self.load_until_damage(&header.id) {
                    found.extend(uncovered(&loaded.records, 0));
                }
                parents.push((header.id.clone(), 0));
            }
        }
        found
    }
}

/// The turn of a message: that of the first answer from it on. The results of an answer belong to its turn.
fn turn_of(loaded: &Loaded, id: &str, message: u64) -> Result<u32, TranscriptError> {
    let last = loaded.conversation.next_id().saturating_sub(1);
    if message == 0 || message > last {
        return Err(TranscriptError::UnknownMessage { id: id.to_owned(), message, last });
    }
    let of_answer = |record: &Record| match record {
        Record::Answer { id, turn, answer } => {
            let has_calls = answer.message.tool_calls().next().is_some();
            (*id >= message || has_calls && *id + 1 == message).then_some((*id, *turn))
        }
        _ => None,
    };
    // Without an answer, only the changes of later turns are taken back, of which the lines may be damaged.
    let (answer, turn) =
        loaded.records.iter().find_map(of_answer).unwrap_or((last, loaded.conversation.turns));
    // The answer may be one that cannot be read.
    match loaded.missing.iter().find(|missing| missing.start <= answer && message < missing.end) {
        Some(missing) => Err(TranscriptError::missing(id, missing)),
        None => Ok(turn),
    }
}

/// The outcome of putting a file back.
enum Outcome {
    /// It has its earlier content already.
    Unchanged,
    PutBack,
    /// It is not as the run left it, and stays so.
    ChangedSince,
}

/// The words for the calls from a turn on whose changes are not covered. A call that was denied, or did not run, changed nothing.
fn uncovered(records: &[Record], turn: u32) -> Vec<String> {
    let mut begun: BTreeSet<(u64, usize)> = BTreeSet::new();
    for record in records {
        match record {
            Record::Started { answer, calls } => begun.extend(calls.iter().map(|call| (*answer, *call))),
            Record::Result {
                answer,
                call,
                error:
                    Some(ToolErrorKind::Denied | ToolErrorKind::InvalidArguments | ToolErrorKind::UnknownTool),
                ..
            } => {
                begun.remove(&(*answer, *call));
            }
            _ => {}
        }
    }
    let answers = records.iter().filter_map(|record| match record {
        Record::Answer { id, turn: of, answer } if *of >= turn => Some((*id, answer)),
        _ => None,
    });
    answers
        .flat_map(|(id, answer)| {
            answer.message.tool_calls().enumerate().map(move |(place, call)| (id, place, call))
        })
        .filter(|(id, place, _)| begun.contains(&(*id, *place)))
        .filter_map(|(_, _, call)| uncovered_call(call))
        .collect()
}

/// The words for a call whose changes are not covered; `None` for any other.
fn uncovered_call(call: &ToolCall) -> Option<String> {
    let arguments = match &call.arguments {
        toolkit::arguments::CallArguments::Json(value) => value.clone(),
        toolkit::arguments::CallArguments::Text(text) => serde_json::from_str(text).unwrap_or_default(),
        _ => Value::Null,
    };
    match &*call.name {
        "exec" | "bash" | "shell" => {
            let command = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
            Some(format!("the command `{command}`"))
        }
        // A tool of an MCP server does not write through the toolkit.
        name if name.contains("__") => Some(format!("the tool `{name}` of an MCP server")),
        _ => None,
    }
}

/// The hash of a content in parts.
fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    data_encoding::HEXLOWER.encode(&hasher.finalize())
}

/// Keeps a content under its hash.
fn store(directory: &Path, bytes: &[u8], executable: bool) -> io::Result<Content> {
    make(directory)?;
    let sha256 = hash(&[bytes]);
    let path = directory.join(&sha256);
    if !path.exists() {
        write_whole(&path, bytes, 0o600)?;
    }
    Ok(Content { sha256, executable })
}

fn make(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

fn append(directory: &Path, change: &Change) -> io::Result<()> {
    make(directory)?;
    let mut line = serde_json::to_vec(change)?;
    line.push(b'\n');
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(directory.join(CHANGES))?;
    file.write_all(&line)?;
    file.sync_data()
}

fn read_changes(directory: &Path) -> Result<Vec<Change>, TranscriptError> {
    let path = directory.join(CHANGES);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(TranscriptError::io("read the changes of", &path, &error)),
    };
    // A line that a kill cut off tells of a change that was not made yet.
    let lines = bytes.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Gives a file its earlier content. With `last`, the last change that was noted, only if the file is as that change left it, or found
/// it: a change is noted before it is made.
fn put_back(
    directory: &Path,
    path: &Path,
    before: Option<&Content>,
    last: Option<&Change>,
) -> io::Result<Outcome> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    // A link that was put there meanwhile could lead elsewhere.
    if parent.exists() && parent.canonicalize()? != parent {
        return Err(io::Error::other("its directory is another one now"));
    }
    let current = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => Some((fs::read(path)?, metadata)),
        Ok(_) => return Err(io::Error::other("it is no longer a file")),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
        Err(error) => return Err(error),
    };
    let content = before.map(|before| fs::read(directory.join(&before.sha256))).transpose()?;
    match (&current, &content) {
        (None, None) => return Ok(Outcome::Unchanged),
        (Some((current, _)), Some(content)) if current == content => return Ok(Outcome::Unchanged),
        _ => {}
    }
    if let Some(last) = last {
        let current = current.as_ref().map(|(bytes, _)| hash(&[bytes]));
        let found = last.before.as_ref().map(|before| before.sha256.clone());
        if current != last.after && current != found {
            return Ok(Outcome::ChangedSince);
        }
    }
    let kept = current.as_ref().map(|(bytes, metadata)| store(directory, bytes, is_executable(metadata)));
    let change = Change {
        turn: None,
        call: String::new(),
        path: path.to_owned(),
        before: kept.transpose()?,
        after: before.map(|before| before.sha256.clone()),
        at: now(),
    };
    append(directory, &change)?;
    match content {
        None => fs::remove_file(path)?,
        Some(content) => {
            fs::create_dir_all(parent)?;
            let mode = match (&current, before) {
                (Some((_, metadata)), _) => mode_of(metadata),
                (None, Some(before)) if before.executable => 0o755,
                _ => 0o644,
            };
            write_whole(path, &content, mode)?;
        }
    }
    Ok(Outcome::PutBack)
}

/// Writes a file whole or not at all.
fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let temporary = path.with_file_name(format!(".toolkit-{}.tmp", data_encoding::HEXLOWER.encode(&random)));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let write = |file: &mut File| -> io::Result<()> {
        set_mode(file, mode)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    let written = options.open(&temporary).and_then(|mut file| write(&mut file));
    written.and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> u32 {
    0o644
}

fn is_executable(metadata: &fs::Metadata) -> bool {
    mode_of(metadata) & 0o100 != 0
}

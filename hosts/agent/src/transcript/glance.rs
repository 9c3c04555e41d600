//! The facts that a list tells of a transcript: they are read from the beginning and the end of its last segment.

use super::parse::Loaded;
use super::record::{Header, Record, VERSION};
use super::store::StoredTranscript;
use super::{TranscriptInfo, Transcripts, milliseconds};
use serde::Deserialize;
use std::io::{BufRead, BufReader, Read, Take};

/// The most bytes in which the first task is looked for.
const MAX_HEAD_BYTES: u64 = 1 << 20;
/// The bytes in which the last answer is looked for at first.
const TAIL_BYTES: u64 = 1 << 16;
/// How many times as many bytes it is looked for in then.
const TAIL_GROWTH: u64 = 4;

/// The parts of a transcript that a list tells.
struct Glance {
    header: Header,
    task: Option<String>,
    turns: u32,
}

/// The parts of lines of any kind that a list needs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    record: String,
    turn: Option<u32>,
    version: Option<u32>,
    request: Option<Request>,
    task: Option<String>,
    turns: Option<u32>,
}

#[derive(Deserialize)]
struct Request {
    task: String,
}

/// The first lines.
#[derive(Default)]
struct Head {
    task: Option<String>,
    /// The turns of earlier segments.
    turns: u32,
}

impl Transcripts {
    pub(super) fn info(&self, stored: &StoredTranscript) -> Option<TranscriptInfo> {
        let Glance { header, task, turns } = self.glance(stored).or_else(|| {
            let Loaded { header, conversation, .. } = self.load_stored(stored).ok()?;
            Some(Glance { header, task: conversation.task, turns: conversation.turns })
        })?;
        Some(TranscriptInfo {
            id: stored.id.clone(),
            workspace: header.workspace,
            agent: header.agent,
            parent: header.parent,
            depth: header.depth,
            task: task.unwrap_or_default(),
            turns,
            changed: milliseconds(stored.changed()),
        })
    }

    /// Reads the beginning and the end of the last segment; `None` if they do not tell it, or are damaged.
    fn glance(&self, stored: &StoredTranscript) -> Option<Glance> {
        let reader = self.store.read(&stored.id, stored.last()).ok()?;
        let mut reader = BufReader::new(reader.take(MAX_HEAD_BYTES));
        let first = serde_json::from_slice(&next_line(&mut reader)?).ok()?;
        let Record::Transcript(header) = first else { return None };
        if !(1..=VERSION).contains(&header.version) {
            return None;
        }
        let Head { task, turns } = head(&mut reader, header.carries)?;
        let turns = self.turns(stored, turns)?;
        Some(Glance { header, task, turns })
    }

    /// Returns the number of turns after the last answer of the last segment, or that of the segments before if it has none.
    fn turns(&self, stored: &StoredTranscript, before: u32) -> Option<u32> {
        let mut most = TAIL_BYTES;
        loop {
            let bytes = self.store.read_end(&stored.id, stored.last(), most).ok()?;
            let is_whole = (bytes.len() as u64) < most;
            // Of the first line there may be a part, and so may there be of the last one.
            let behind = |at: Option<usize>| at.map_or(0, |at| at + 1);
            let first = bytes.iter().position(|byte| *byte == b'\n').filter(|_| !is_whole);
            let end = behind(bytes.iter().rposition(|byte| *byte == b'\n'));
            let lines = bytes.get(behind(first)..end).unwrap_or_default();
            for line in lines.split(|byte| *byte == b'\n').rev().filter(|line| !line.is_empty()) {
                let line: Line = serde_json::from_slice(line).ok()?;
                match (&*line.record, line.turn) {
                    ("answer", Some(turn)) => return Some(turn.saturating_add(1)),
                    ("format", _) if line.version.is_none_or(|version| version > VERSION) => return None,
                    _ => {}
                }
            }
            if is_whole {
                return Some(before);
            }
            most = most.saturating_mul(TAIL_GROWTH);
        }
    }
}

/// Reads the lines behind the first one up to the first task; `None` if it is not among the first ones.
fn head(reader: &mut BufReader<Take<impl Read>>, carries: bool) -> Option<Head> {
    let mut head = Head::default();
    let mut is_first = true;
    while let Some(line) = next_line(reader) {
        let Line { record, request, task, turns, .. } = serde_json::from_slice(&line).ok()?;
        if is_first && carries != (record == "carried") {
            return None;
        }
        is_first = false;
        if let Some(turns) = turns.filter(|_| record == "carried") {
            (head.task, head.turns) = (task, turns);
        }
        if let Some(request) = request.filter(|_| record == "run") {
            head.task = head.task.or(Some(request.task));
        }
        if head.task.is_some() {
            return Some(head);
        }
    }
    let is_end = reader.get_ref().limit() > 0;
    (is_end && !(is_first && carries)).then_some(head)
}

/// Reads a whole line, without its end.
fn next_line(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok()?;
    (line.pop()? == b'\n').then_some(line)
}

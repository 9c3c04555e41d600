//! A transcript that begins as another one did.

use super::parse::{Damage, Loaded};
use super::record::Fork;
use super::retention::HeldOff;
use super::store::TranscriptWriter;
use super::{Header, Record, TranscriptError, Transcripts, VERSION, new_id, now};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read as _};

/// A damaged transcript, and the fork in which its conversation goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DamagedTranscript {
    /// The id of the damaged one, which is left as it is.
    pub damaged: String,
    /// The damaged line, counted from 1.
    pub line: usize,
    /// Why it cannot be read.
    pub reason: String,
    /// The id of the fork, which has the lines before the damage.
    pub fork: String,
}

impl fmt::Display for DamagedTranscript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { damaged, line, reason, fork } = self;
        write!(
            f,
            "transcript `{damaged}` is damaged: line {line} cannot be read ({reason}). The conversation goes on in transcript `{fork}`, \
             which has the lines before; the damaged file is left as it is"
        )
    }
}

impl Transcripts {
    /// Copies a transcript up to a message, and returns the id of the copy. The results of a message with tool calls belong to it.
    /// Without a message all is copied. The copy begins with the segment that has the message, and with what the segments before add up to.
    /// Of a damaged transcript, the lines before the damage can be copied. Blocks.
    ///
    /// # Errors
    ///
    /// There is no such transcript or message, the message was removed with an earlier segment, or the copy cannot be written.
    pub fn fork(&self, id: &str, message: Option<u64>) -> Result<String, TranscriptError> {
        self.copy(id, message, &self.hold_off_removal()?)
    }

    /// Copies a transcript as [`fork`](Self::fork) does, while no clean-up removes it or the copy.
    pub(crate) fn copy(
        &self,
        id: &str,
        message: Option<u64>,
        _removal: &HeldOff<'_>,
    ) -> Result<String, TranscriptError> {
        let (loaded, last) = self.load_with(id, message)?;
        let until = message.unwrap_or(last);
        let has_results = |record: &Record| match record {
            Record::Answer { id, answer, .. } => {
                *id + 1 == until && answer.message.tool_calls().next().is_some()
            }
            _ => false,
        };
        let is_there =
            loaded.records.iter().any(|record| number(record) == Some(until) || has_results(record));
        if message.is_some() && !is_there {
            // An earlier segment had it, which was removed.
            let begin = loaded.records.iter().find_map(Record::carried).map(|carried| carried.next_id);
            if let Some(begin) = begin.filter(|begin| (1..*begin).contains(&until)) {
                return Err(TranscriptError::missing(id, &(1..begin)));
            }
            return Err(TranscriptError::UnknownMessage { id: id.to_owned(), message: until, last });
        }
        let is_later = |record: &Record| number(record).is_some_and(|number| number > until);
        let mut records = loaded.records;
        let end = records.iter().position(is_later).unwrap_or(records.len());
        records.truncate(end);
        let fork = Fork { transcript: id.to_owned(), message: until, damaged_line: None };
        self.create_fork(loaded.header, records, fork, Vec::new())
    }

    /// Reads the segment that has a message, the last one without a message, and returns the number of the last message of all.
    fn load_with(&self, id: &str, message: Option<u64>) -> Result<(Loaded, u64), TranscriptError> {
        let stored = self.existing(id)?;
        let mut loaded = self.load_stored(&stored)?;
        let last = last_number(&loaded.records);
        let is_before = |loaded: &Loaded| {
            let carried = loaded.records.iter().find_map(Record::carried);
            carried.is_some_and(|carried| message.is_some_and(|message| message < carried.next_id))
        };
        while is_before(&loaded) && stored.segments.iter().any(|segment| segment.number < loaded.segment) {
            loaded = self.load_segment(id, loaded.segment - 1, Damage::Stop)?;
        }
        Ok((loaded, last))
    }

    /// Returns the fork before the damage of a transcript in which its conversation goes on: the one that is there, or a new one. The damaged one is
    /// locked until what is returned with it is dropped, so that no clean-up removes both before the fork is open where directories cannot be locked.
    /// Blocks.
    ///
    /// # Errors
    ///
    /// The transcript is not there any more, another process opens it, its first line is damaged, or the copy cannot be written.
    pub(crate) fn fork_before_damage(
        &self,
        id: &str,
        _removal: &HeldOff<'_>,
    ) -> Result<(String, Box<dyn TranscriptWriter>), TranscriptError> {
        // Two that open it at once go on in one fork, not in two.
        let held = self.hold(id)?;
        let _root = self.hold_root(id)?;
        let is_its = |header: &Header| {
            let fork = header.forked_from.as_ref();
            fork.is_some_and(|fork| fork.transcript == id && fork.damaged_line.is_some())
        };
        let made = self.headers().into_iter().filter(is_its).max_by_key(|header| header.at);
        if let Some(header) = made {
            return Ok((header.id, held));
        }
        let stored = self.existing(id)?;
        let loaded = self.load_stored(&stored)?;
        let message = last_number(&loaded.records);
        let damaged_line = loaded.damage.map(|(line, _)| line);
        let fork = Fork { transcript: id.to_owned(), message, damaged_line };
        let consumed = match damaged_line {
            Some(_) => {
                // Each line that was read is a record. Of the segments behind, all lines are behind the damage.
                let line_of = |segment| if segment == loaded.segment { loaded.records.len() + 1 } else { 0 };
                let mut consumed = Vec::new();
                for segment in loaded.segment..=stored.last() {
                    let behind = self.consumed_behind(id, segment, line_of(segment));
                    let path = self.store.path(id, segment);
                    consumed.append(&mut behind.map_err(|error| TranscriptError::io("read", &path, &error))?);
                }
                consumed
            }
            None => Vec::new(),
        };
        Ok((self.create_fork(loaded.header, loaded.records, fork, consumed)?, held))
    }

    fn create_fork(
        &self,
        forked: Header,
        mut records: Vec<Record>,
        fork: Fork,
        consumed: Vec<String>,
    ) -> Result<String, TranscriptError> {
        let id = new_id();
        let damaged_line = fork.damaged_line;
        let header = Header {
            version: VERSION,
            // Its tool calls are a session of their own.
            session: format!("agent {id}"),
            id,
            forked_from: Some(fork),
            at: now(),
            // The copy of a sub-agent's transcript is a conversation like others.
            depth: 0,
            parent: forked.parent.clone().filter(|_| damaged_line.is_some()),
            parent_turn: None,
            ..forked
        };
        // The first line, and with it the version, is the copy's own.
        records.retain(|record| !matches!(record, Record::Transcript(_) | Record::Format { .. }));
        records.push(Record::Forked { damaged_line, consumed });
        self.create_whole(&header, &records)?;
        Ok(header.id)
    }

    /// The ids of the messages that the lines behind a damaged one tell as consumed, as far as they can be read. Without them a message that a
    /// run has worked through would be sent, and done, again.
    fn consumed_behind(&self, id: &str, segment: u32, damaged_line: usize) -> io::Result<Vec<String>> {
        let mut bytes = Vec::new();
        self.store.read(id, segment)?.read_to_end(&mut bytes)?;
        let lines = bytes.split(|byte| *byte == b'\n').skip(damaged_line);
        let consumed = lines.filter_map(|line| match serde_json::from_slice(line) {
            Ok(Record::Message { consumes, .. }) => Some(consumes),
            Ok(Record::Carried(carried)) => {
                Some(carried.runs.consumed.into_iter().map(|(id, _)| id).collect())
            }
            _ => None,
        });
        Ok(consumed.flatten().collect())
    }
}

/// The number of the last message.
fn last_number(records: &[Record]) -> u64 {
    let before = records.iter().find_map(Record::carried).map(|carried| carried.next_id.saturating_sub(1));
    records.iter().filter_map(number).max().or(before).unwrap_or_default()
}

/// The number of the message that a line adds.
fn number(record: &Record) -> Option<u64> {
    match record {
        Record::Message { id, .. } | Record::Answer { id, .. } | Record::Summarised { id, .. } => Some(*id),
        _ => None,
    }
}

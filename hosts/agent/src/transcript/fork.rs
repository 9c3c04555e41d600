//! A transcript that begins as another one did.

use super::record::Fork;
use super::{Header, Record, TranscriptError, Transcripts, new_id, now};

impl Transcripts {
    /// Copies a transcript up to a message, and returns the id of the copy. The results of a message with tool calls belong to it.
    /// Without a message all is copied.
    /// Of a damaged transcript, the lines before the damage can be copied. Blocks.
    ///
    /// # Errors
    ///
    /// There is no such transcript or message, or the copy cannot be written.
    pub fn fork(&self, id: &str, message: Option<u64>) -> Result<String, TranscriptError> {
        let loaded = self.load_until_damage(id)?;
        let last = loaded.records.iter().filter_map(number).max().unwrap_or_default();
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
            return Err(TranscriptError::UnknownMessage { id: id.to_owned(), message: until, last });
        }
        let header = Header {
            id: new_id(),
            forked_from: Some(Fork { transcript: id.to_owned(), message: until }),
            at: now(),
            // The copy of a sub-agent's transcript is a conversation like others.
            depth: 0,
            parent: None,
            parent_turn: None,
            ..loaded.header
        };
        // Its tool calls are a session of their own.
        let header = Header { session: format!("agent {}", header.id), ..header };
        let mut writer = self.create(&header)?;
        let is_later = |record: &Record| number(record).is_some_and(|number| number > until);
        for record in loaded.records.iter().skip(1).take_while(|record| !is_later(record)) {
            writer.append(record)?;
        }
        writer.append(&Record::Forked)?;
        Ok(header.id)
    }
}

/// The number of the message that a line adds.
fn number(record: &Record) -> Option<u64> {
    match record {
        Record::Message { id, .. } | Record::Answer { id, .. } | Record::Summarised { id, .. } => Some(*id),
        _ => None,
    }
}

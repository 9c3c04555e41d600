//! The transcript of a session, and the conversation that it adds up to.

use crate::fail_points;
use crate::redaction::without_secrets;
use crate::transcript::{Conversation, Header, Kind, Record, TranscriptError, VERSION, Writer};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use toolkit::text::Redactor;
use toolkit_models::Message;

/// The transcript and the conversation that it adds up to.
pub(crate) struct Journal {
    pub(super) writer: Option<Writer>,
    pub(crate) conversation: Conversation,
    /// It knows the secrets of the configuration: no line has one.
    pub(super) redactor: Redactor,
    /// Lines that count and could not be written. They come before any further line.
    pub(super) missing: VecDeque<Record>,
}

impl Journal {
    /// Writes a line, and then lets it count.
    pub(crate) fn record(&mut self, record: &Record) -> Result<(), TranscriptError> {
        let kept = self.kept(record)?;
        let record = kept.as_ref().unwrap_or(record);
        self.write(record)?;
        self.apply(record)
    }

    fn write(&mut self, record: &Record) -> Result<(), TranscriptError> {
        let Some(writer) = &self.writer else { return Ok(()) };
        while let Some(earlier) = self.missing.front() {
            writer.append(earlier)?;
            self.missing.pop_front();
        }
        writer.append(record)
    }

    /// Returns the line as it is written, without secrets and nested so little that it can be read; `None` if it is that already.
    fn kept(&self, record: &Record) -> Result<Option<Record>, TranscriptError> {
        let redacted = without_secrets(&self.redactor, record).map_err(|error| {
            let path = self.writer.as_ref().map(Writer::path).unwrap_or_default();
            TranscriptError::io("write", &path, &std::io::Error::other(error))
        })?;
        let flat = redacted.as_ref().unwrap_or(record).flattened();
        Ok(flat.or(redacted))
    }

    /// Returns true if the lines are written to a file.
    pub(crate) fn is_kept(&self) -> bool {
        self.writer.is_some()
    }

    /// Lets a line count that could not be written, so that at least this process has a whole conversation. It is written before the next one,
    /// without which the transcript could not be read.
    pub(crate) fn record_anyway(&mut self, record: &Record) -> Result<(), TranscriptError> {
        let kept = self.kept(record)?;
        let record = kept.as_ref().unwrap_or(record);
        let written = self.write(record);
        if written.is_err() {
            self.missing.push_back(record.clone());
        }
        let applied = self.apply(record);
        written.and(applied)
    }

    fn apply(&mut self, record: &Record) -> Result<(), TranscriptError> {
        self.conversation.apply(record).map_err(|reason| TranscriptError::Corrupt {
            path: PathBuf::new(),
            line: 0,
            reason,
        })
    }

    /// Adds a message, and returns its number.
    pub(crate) fn say(&mut self, kind: Kind, message: Message) -> Result<u64, TranscriptError> {
        self.say_consuming(kind, message, Vec::new())
    }

    /// Adds a message that holds queued messages of these ids, and returns its number.
    pub(crate) fn say_consuming(
        &mut self,
        kind: Kind,
        message: Message,
        consumes: Vec<String>,
    ) -> Result<u64, TranscriptError> {
        let id = self.conversation.next_id();
        self.record(&Record::Message { id, kind, message, consumes })?;
        Ok(id)
    }

    /// Has all lines reach the disk, so that they survive a loss of power.
    ///
    /// # Errors
    ///
    /// The disk cannot take them.
    pub(crate) async fn sync(&self) -> Result<(), TranscriptError> {
        let Some((sync, path)) = self.writer.as_ref().map(Writer::sync) else { return Ok(()) };
        let synced = tokio::task::spawn_blocking(sync).await.map_err(std::io::Error::other);
        fail_points::pass("transcript_sync");
        synced.and_then(|synced| synced).map_err(|error| TranscriptError::io("sync", &path, &error))
    }

    /// Begins a segment with what the lines so far add up to.
    pub(super) async fn begin_segment(
        &self,
        header: &Header,
        files: &[PathBuf],
    ) -> Result<(), TranscriptError> {
        let Some(begin) = self.segment(header, files)? else { return Ok(()) };
        let id = header.id.clone();
        tokio::task::spawn_blocking(begin).await.unwrap_or_else(|error| {
            Err(TranscriptError::io("begin a segment of", Path::new(&id), &std::io::Error::other(error)))
        })
    }

    /// Returns the work that begins a segment, which blocks; `None` if the lines are not written, or not all of them, or calls have no results.
    pub(super) fn segment(
        &self,
        header: &Header,
        files: &[PathBuf],
    ) -> Result<Option<impl FnOnce() -> Result<(), TranscriptError> + Send + use<>>, TranscriptError> {
        let Some(writer) = self.writer.clone() else { return Ok(None) };
        if !self.missing.is_empty() {
            // They belong to the earlier segment.
            return Ok(None);
        }
        let Some(carried) = self.conversation.carried(files.to_vec()) else { return Ok(None) };
        let record = Record::Carried(Box::new(carried));
        let record = self.kept(&record)?.unwrap_or(record);
        let header = Header { version: VERSION, carries: true, ..header.clone() };
        Ok(Some(move || writer.begin_segment(&header, &[record])))
    }
}

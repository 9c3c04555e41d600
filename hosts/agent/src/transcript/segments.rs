//! Reading the segments of a transcript: the last one to go on with, all of them to show what was before.

use super::parse::{Damage, Loaded, parse};
use super::record::{Header, Record};
use super::store::StoredTranscript;
use super::writer::{MAX_BYTES, check_size};
use super::{TranscriptError, Transcripts};
use std::io::{BufRead as _, BufReader, Read as _};

/// The most bytes of a first line.
const MAX_HEADER_BYTES: u64 = 1 << 20;

impl Transcripts {
    /// Reads the last segment.
    pub(crate) fn load(&self, id: &str) -> Result<Loaded, TranscriptError> {
        self.load_segment(id, self.existing(id)?.last(), Damage::Refuse)
    }

    /// Reads the last segment up to its damage. If its beginning is damaged, the one before is read: it adds up to that beginning.
    pub(crate) fn load_until_damage(&self, id: &str) -> Result<Loaded, TranscriptError> {
        self.load_stored(&self.existing(id)?)
    }

    pub(super) fn load_stored(&self, stored: &StoredTranscript) -> Result<Loaded, TranscriptError> {
        let mut damage = None;
        for segment in stored.segments.iter().rev() {
            match self.load_segment(&stored.id, segment.number, Damage::Stop) {
                Ok(loaded) => {
                    // The damage that is told is that of the last segment.
                    let damage = damage.or(loaded.damage.clone());
                    return Ok(Loaded { damage, ..loaded });
                }
                Err(TranscriptError::Corrupt { line, reason, .. })
                    if Some(segment) != stored.segments.first() =>
                {
                    damage.get_or_insert((line, reason));
                }
                Err(error) => return Err(error),
            }
        }
        Err(self.unknown(&stored.id))
    }

    /// Reads all segments that are there. The records are those of all of them, as if there were one; the conversation is that of the last. Messages
    /// before it that cannot be read are [missing](Loaded::missing).
    pub(crate) fn load_history(&self, id: &str, damage: Damage) -> Result<Loaded, TranscriptError> {
        let stored = self.existing(id)?;
        let mut loaded = match damage {
            Damage::Refuse => self.load_segment(id, stored.last(), damage),
            Damage::Stop => self.load_stored(&stored),
        }?;
        let mut room = MAX_BYTES.saturating_sub(loaded.length);
        for segment in stored.segments.iter().rev().filter(|segment| segment.number < loaded.segment) {
            if segment.bytes > room {
                break;
            }
            room -= segment.bytes;
            // Damaged lines of it are not shown; without its beginning, neither is anything before.
            let Ok(mut before) = self.load_segment(id, segment.number, Damage::Stop) else { break };
            let begin = loaded.records.iter().find_map(Record::carried).map(|carried| carried.next_id);
            let lost = before.conversation.next_id()..begin.unwrap_or_default();
            if !lost.is_empty() {
                loaded.missing.push(lost);
            }
            let is_first = |record: &Record| matches!(record, Record::Transcript(_) | Record::Carried(_));
            loaded.records.retain(|record| !is_first(record));
            before.records.append(&mut loaded.records);
            loaded.records = before.records;
        }
        let begin = loaded.records.iter().find_map(Record::carried).map(|carried| carried.next_id);
        if let Some(begin) = begin.filter(|begin| *begin > 1) {
            loaded.missing.push(1..begin);
        }
        Ok(loaded)
    }

    pub(super) fn load_segment(
        &self,
        id: &str,
        segment: u32,
        damage: Damage,
    ) -> Result<Loaded, TranscriptError> {
        let path = self.store.path(id, segment);
        let read = || {
            let mut bytes = Vec::new();
            self.store.read(id, segment)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
            check_size(bytes)
        };
        let bytes = read().map_err(|error| TranscriptError::io("read", &path, &error))?;
        let loaded = parse(&bytes, &path, damage)?;
        Ok(Loaded { segment, ..loaded })
    }

    /// The first line of a transcript, if it can be read. Blocks.
    pub(crate) fn header(&self, id: &str) -> Option<Header> {
        self.header_of(&self.existing(id).ok()?)
    }

    /// The first lines of all transcripts that can be read. Blocks.
    pub(crate) fn headers(&self) -> Vec<Header> {
        self.stored().iter().filter_map(|stored| self.header_of(stored)).collect()
    }

    /// The first line of the last segment in which it can be read.
    pub(super) fn header_of(&self, stored: &StoredTranscript) -> Option<Header> {
        let mut segments = stored.segments.iter().rev();
        segments.find_map(|segment| {
            let mut line = Vec::new();
            let reader = BufReader::new(self.store.read(&stored.id, segment.number).ok()?);
            reader.take(MAX_HEADER_BYTES).read_until(b'\n', &mut line).ok()?;
            match serde_json::from_slice(&line).ok()? {
                Record::Transcript(header) => Some(header),
                _ => None,
            }
        })
    }
}

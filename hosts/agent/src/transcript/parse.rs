//! The lines of a segment, and what they add up to, whatever its last bytes are.

use super::TranscriptError;
use super::conversation::Conversation;
use super::record::{Header, Record, VERSION};
use std::ops::Range;
use std::path::Path;

/// A transcript as it was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) header: Header,
    pub(crate) conversation: Conversation,
    pub(crate) records: Vec<Record>,
    /// The first damaged line, counted from 1, and why it cannot be read, if the lines before it were asked for.
    pub(crate) damage: Option<(usize, String)>,
    /// The bytes of whole lines.
    pub(super) length: u64,
    /// The number of the segment.
    pub(crate) segment: u32,
    /// The messages of earlier segments that were asked for and cannot be read: they were removed, are damaged, or are too long.
    pub(crate) missing: Vec<Range<u64>>,
}

/// The handling of the lines from a damaged one on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// Nothing is read.
    Refuse,
    /// The lines before are read.
    Stop,
}

/// Why a line is not read.
enum Fault {
    Damaged(String),
    /// It is of this version of the format, which is not known here.
    Newer(u32),
}

/// Parses whole lines. The last one counts only with its end: it may be a part of what was to be written.
pub(super) fn parse(bytes: &[u8], path: &Path, damage: Damage) -> Result<Loaded, TranscriptError> {
    let corrupt =
        |line: usize, reason: String| TranscriptError::Corrupt { path: path.to_owned(), line, reason };
    let length = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut records = Vec::new();
    let mut conversation = Conversation::default();
    let (mut version, mut damaged) = (None, None);
    let lines = bytes[..length].split_inclusive(|byte| *byte == b'\n');
    for (line, text) in (1..).zip(lines) {
        let mut add = || -> Result<Record, Fault> {
            let record: Record =
                serde_json::from_slice(text).map_err(|error| Fault::Damaged(error.to_string()))?;
            match (&record, line) {
                (Record::Transcript(Header { version: stated, .. }), 1)
                | (Record::Format { version: stated }, 2..) => {
                    if *stated > VERSION {
                        return Err(Fault::Newer(*stated));
                    }
                    if *stated == 0 {
                        return Err(Fault::Damaged("there is no version 0".to_owned()));
                    }
                    version = Some(*stated);
                }
                (Record::Transcript(_), _) => return Err(Fault::Damaged("a second first line".to_owned())),
                (_, 1) => return Err(Fault::Damaged("the first line is missing".to_owned())),
                (Record::Carried(_), 3..) => {
                    return Err(Fault::Damaged("a second beginning of a segment".to_owned()));
                }
                _ => {}
            }
            conversation.apply(&record).map_err(Fault::Damaged)?;
            Ok(record)
        };
        match (add(), damage) {
            (Ok(record), _) => records.push(record),
            // A newer program wrote it: this is no damage, before which it could go on.
            (Err(Fault::Newer(version)), _) => {
                return Err(TranscriptError::NewerVersion { path: path.to_owned(), version, known: VERSION });
            }
            (Err(Fault::Damaged(reason)), Damage::Refuse) => return Err(corrupt(line, reason)),
            (Err(Fault::Damaged(reason)), Damage::Stop) => {
                damaged = Some((line, reason));
                break;
            }
        }
    }
    let Some(Record::Transcript(header)) = records.first() else {
        let reason = damaged.map_or_else(|| "it has no whole line".to_owned(), |(_, reason)| reason);
        return Err(corrupt(1, reason));
    };
    // Without what the segments before add up to, the lines are a part of a conversation that nobody had.
    if header.carries && !matches!(records.get(1), Some(Record::Carried(_))) {
        let reason = damaged.map_or_else(|| "the second line is missing".to_owned(), |(_, reason)| reason);
        return Err(corrupt(2, reason));
    }
    let header = Header { version: version.unwrap_or(header.version), ..header.clone() };
    Ok(Loaded {
        header,
        conversation,
        records,
        damage: damaged,
        length: length as u64,
        segment: 1,
        missing: Vec::new(),
    })
}

//! Parses server-sent events from bytes.

use super::{CallFormatError, MAX_ARGUMENT_BYTES};
use serde_json::Value;

/// The longest event, in bytes: all arguments at once, and the surrounding data.
const MAX_BYTES: usize = MAX_ARGUMENT_BYTES / 4 * 5;

/// The event that is being received.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line that is being received.
    line: Vec<u8>,
    /// The data of the event so far.
    data: Vec<u8>,
    /// True if a carriage return ended the last line, so that a following line feed belongs to it.
    after_return: bool,
}

impl Lines {
    /// Reads bytes up to the end of an event, and returns the event and the remaining bytes.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8]) -> Result<(Option<Value>, &'a [u8]), CallFormatError> {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let is_pair = std::mem::take(&mut self.after_return) && *byte == b'\n';
            if is_pair {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            self.line.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
            if self.line.len() + self.data.len() > MAX_BYTES {
                return Err(CallFormatError::TooLong);
            }
            let Some(end) = end else { return Ok((None, &[])) };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if let Some(event) = self.end_line()? {
                return Ok((Some(event), rest));
            }
        }
        Ok((None, rest))
    }

    /// Returns the event that was unfinished when the stream ended.
    pub(super) fn last(&mut self) -> Result<Option<Value>, CallFormatError> {
        let event = if self.line.is_empty() { None } else { self.end_line()? };
        if event.is_some() { Ok(event) } else { self.event() }
    }

    fn end_line(&mut self) -> Result<Option<Value>, CallFormatError> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.event();
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        Ok(None)
    }

    fn event(&mut self) -> Result<Option<Value>, CallFormatError> {
        let data = std::mem::take(&mut self.data);
        // OpenAI's marker of the end.
        if data.is_empty() || data == b"[DONE]" {
            return Ok(None);
        }
        match serde_json::from_slice(&data) {
            Ok(event) => Ok(Some(event)),
            Err(error) => Err(CallFormatError::Stream { found: format!("something else ({error})") }),
        }
    }
}

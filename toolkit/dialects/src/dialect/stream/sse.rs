//! Parses server-sent events from bytes.

use super::{CallFormatError, MAX_ARGUMENT_BYTES};
use serde_json::Value;

/// The longest event, in bytes: all arguments at once, and the surrounding data.
const MAX_BYTES: usize = MAX_ARGUMENT_BYTES / 4 * 5;
/// The mark that may precede the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads events in JSON from a stream of server-sent events, as providers of models send them. Memory is bounded.
///
/// ```
/// use serde_json::json;
/// use toolkit::dialects::JsonEvents;
///
/// let mut events = JsonEvents::default();
/// assert!(events.push(b"data: {\"a\":")?.is_empty());
/// assert_eq!(events.push(b"1}\n\ndata: [DONE]\n\n")?, [json!({"a": 1})]);
/// assert!(events.is_done());
/// # Ok::<(), toolkit::dialects::CallFormatError>(())
/// ```
///
/// The end of a line is a line feed, a carriage return or both. Comments and fields other than `data` are passed over; the field `error`,
/// which some servers of llama.cpp send, is an event with this one member.
#[derive(Debug, Default)]
pub struct JsonEvents {
    /// The line that is coming in.
    line: Vec<u8>,
    /// The data of the event so far.
    data: Vec<u8>,
    /// True if a carriage return ended the last line, so that a following line feed belongs to it.
    after_return: bool,
    /// True once a line has ended.
    has_begun: bool,
    is_done: bool,
}

impl JsonEvents {
    /// Takes bytes of the stream, cut anywhere, and returns the events that they complete.
    ///
    /// # Errors
    ///
    /// When an event is no JSON, or longer than [`MAX_ARGUMENT_BYTES`](crate::MAX_ARGUMENT_BYTES) and a quarter more.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Value>, CallFormatError> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (event, left) = self.take(rest)?;
            rest = left;
            events.extend(event);
        }
        Ok(events)
    }

    /// Returns true if OpenAI's word for the end, `[DONE]`, has come.
    pub const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Takes bytes up to the end of an event, and returns that and the rest of the bytes.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn take<'a>(&mut self, bytes: &'a [u8]) -> Result<(Option<Value>, &'a [u8]), CallFormatError> {
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

    /// Returns the event that was not ended when the stream was.
    ///
    /// # Errors
    ///
    /// When it is no JSON.
    pub fn finish(&mut self) -> Result<Option<Value>, CallFormatError> {
        let event = if self.line.is_empty() { None } else { self.end_line()? };
        if event.is_some() { Ok(event) } else { self.event() }
    }

    fn end_line(&mut self) -> Result<Option<Value>, CallFormatError> {
        let whole = std::mem::take(&mut self.line);
        let mut line = whole.as_slice();
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.event();
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        } else if let Some(error) = line.strip_prefix(b"error:") {
            let error = error.trim_ascii();
            let text = || Value::String(String::from_utf8_lossy(error).into_owned());
            let error = serde_json::from_slice(error).unwrap_or_else(|_| text());
            return Ok(Some(serde_json::json!({ "error": error })));
        }
        Ok(None)
    }

    fn event(&mut self) -> Result<Option<Value>, CallFormatError> {
        let data = std::mem::take(&mut self.data);
        // OpenAI's word for the end.
        if data.is_empty() {
            return Ok(None);
        }
        if data.trim_ascii() == b"[DONE]" {
            self.is_done = true;
            return Ok(None);
        }
        match serde_json::from_slice(&data) {
            Ok(event) => Ok(Some(event)),
            Err(error) => Err(CallFormatError::Stream { found: format!("something else ({error})") }),
        }
    }
}

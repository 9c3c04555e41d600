//! Reads the calls in an answer that is streamed in fragments.

mod anthropic;
mod chat;
mod responses;
mod sse;

use super::calls::{
    self, CallFormatError, Found, MAX_ARGUMENT_BYTES, MAX_CALLS, Reader, from_text, from_value, is_complete,
};
use super::{Definitions, Dialect};
use serde_json::Value;
use sse::Lines;
use std::collections::HashSet;
use toolkit_core::call::ToolCall;

/// The longest name of a tool in fragments, in bytes: far longer than any provider accepts.
const MAX_NAME_BYTES: usize = 1024;
/// The most blocks of an answer that are no calls.
const MAX_BLOCKS: usize = 100_000;

/// Assembles the calls of an answer from its events.
///
/// ```
/// use serde_json::json;
/// # use toolkit::prelude::*;
/// use toolkit::Dialect;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let toolbox = Toolkit::empty().build()?.toolbox(&Caller::new()).await;
/// let definitions = toolbox.definitions_for(Dialect::Anthropic);
/// let mut stream = definitions.stream();
/// for event in [
///     json!({"type": "content_block_start", "index": 0,
///         "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}}),
///     json!({"type": "content_block_delta", "index": 0,
///         "delta": {"type": "input_json_delta", "partial_json": "{\"file_path\":"}}),
///     json!({"type": "content_block_delta", "index": 0,
///         "delta": {"type": "input_json_delta", "partial_json": "\"a.txt\"}"}}),
///     json!({"type": "content_block_stop", "index": 0}),
/// ] {
///     stream.push(&event)?;
/// }
/// assert_eq!(stream.finish()?, [ToolCall::new("toolu_1", "read", r#"{"file_path":"a.txt"}"#)]);
/// # Ok(()) }
/// ```
///
/// Events that contain no calls are ignored, as are unknown events. Memory is bounded, whatever the input.
#[derive(Debug)]
pub struct CallStream {
    definitions: Definitions,
    open: Vec<Open>,
    /// The blocks of the answer that are no calls.
    others: HashSet<u64>,
    /// The bytes of text of all calls so far.
    bytes: usize,
    end: End,
    /// The first error: no call of the answer may run after it.
    fault: Option<CallFormatError>,
    lines: Lines,
}

/// The way in which the answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It has not ended.
    Open,
    /// Normally.
    Whole,
    /// At a length limit.
    Cut,
}

/// A call of which a part has arrived.
#[derive(Debug, Default)]
struct Open {
    /// The position in the answer.
    index: Option<u64>,
    /// The provider's id of the part.
    item: Option<String>,
    id: Option<String>,
    name: String,
    text: String,
    /// Arguments that arrived as a whole.
    value: Option<Value>,
    is_done: bool,
}

impl CallStream {
    pub(super) fn new(definitions: Definitions) -> Self {
        Self {
            definitions,
            open: Vec::new(),
            others: HashSet::new(),
            bytes: 0,
            end: End::Open,
            fault: None,
            lines: Lines::default(),
        }
    }

    /// Reads an event: a chunk of Chat Completions, an event of Responses or of Messages, a response of Gemini.
    ///
    /// # Errors
    ///
    /// As [`Definitions::parse`]; also when the provider reports a failure in the middle of its answer. [`finish`](Self::finish)
    /// returns the same error again: no call of such an answer may run.
    pub fn push(&mut self, event: &Value) -> Result<(), CallFormatError> {
        let taken = self.take(event);
        if let Err(fault) = &taken {
            self.fault.get_or_insert_with(|| fault.clone());
        }
        taken
    }

    fn take(&mut self, event: &Value) -> Result<(), CallFormatError> {
        let reader = Reader { dialect: self.definitions.dialect };
        calls::refuse_failure(reader.dialect, event)?;
        match reader.dialect {
            Dialect::OpenAiChat | Dialect::OpenAiChatStrict => self.push_chat(reader, event),
            Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => self.push_responses(reader, event),
            Dialect::Anthropic => self.push_anthropic(reader, event),
            Dialect::Gemini | Dialect::Mcp => {
                for Found { id, name, arguments } in calls::find(reader.dialect, event)? {
                    let (text, value) = match arguments.into_text() {
                        Ok(text) => (text, None),
                        Err(value) => (String::new(), Some(value)),
                    };
                    self.count(text.len() + value.as_ref().map_or(0, |value| value.to_string().len()))?;
                    *self.add()? = Open { id, name, text, value, is_done: true, ..Open::default() };
                }
                Ok(())
            }
        }
    }

    /// Reads bytes of a stream of server-sent events, split at any place.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push), and when an event is no JSON, or longer than [`MAX_ARGUMENT_BYTES`] and a quarter more.
    pub fn push_sse(&mut self, bytes: &[u8]) -> Result<(), CallFormatError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (event, left) = self.lines.take(rest).inspect_err(|fault| {
                self.fault.get_or_insert_with(|| fault.clone());
            })?;
            rest = left;
            if let Some(event) = event {
                self.push(&event)?;
            }
        }
        Ok(())
    }

    /// Returns the calls, in the order of the answer.
    ///
    /// # Errors
    ///
    /// The first error of an event. When a call has no name, or the answer ended before the arguments of a call did, in which case
    /// the call must not run.
    pub fn finish(mut self) -> Result<Vec<ToolCall>, CallFormatError> {
        if let Some(event) = self.lines.last()? {
            self.push(&event)?;
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let reader = Reader { dialect: self.definitions.dialect };
        let is_anthropic = reader.dialect == Dialect::Anthropic;
        let last_block = self.others.iter().copied().max();
        // Calls without a position stay in the order in which they arrived.
        self.open.sort_by_key(|open| open.index);
        let count = self.open.len();
        let mut found = Vec::with_capacity(count);
        for (place, Open { index, id, name, text, value, is_done, .. }) in self.open.into_iter().enumerate() {
            if name.is_empty() {
                return Err(reader.wrong("/name", "the name of a tool", None));
            }
            let is_whole = match self.end {
                End::Cut if is_anthropic => place + 1 < count || index < last_block,
                End::Cut => is_complete(&text),
                End::Whole | End::Open => is_done || self.end == End::Whole || is_complete(&text),
            };
            if !is_whole {
                return Err(CallFormatError::CutOff { name });
            }
            let arguments = match value {
                Some(value) if text.is_empty() => from_value(Some(&value)),
                _ => from_text(&text),
            };
            found.push(Found { id, name, arguments });
        }
        Ok(self.definitions.calls(found))
    }

    fn add(&mut self) -> Result<&mut Open, CallFormatError> {
        if self.open.len() == MAX_CALLS {
            return Err(CallFormatError::TooManyCalls);
        }
        Ok(self.open.push_mut(Open::default()))
    }

    fn count(&mut self, bytes: usize) -> Result<(), CallFormatError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_ARGUMENT_BYTES { Err(CallFormatError::TooLong) } else { Ok(()) }
    }
}

//! Reads the calls in an answer that is streamed in fragments.

mod sse;

pub use sse::JsonEvents;

use super::Definitions;
use super::calls::{
    CallFormatError, Found, Ids, MAX_ARGUMENT_BYTES, MAX_CALLS, Reader, check_size, from_text, from_value,
    is_complete,
};
use serde_json::Value;
use std::collections::HashSet;
use toolkit_core::call::{CallArguments, ToolCall};

/// The longest name of a tool in fragments, in bytes: far longer than any provider accepts.
pub(super) const MAX_NAME_BYTES: usize = 1024;
/// The most blocks of an answer that are no calls.
pub(super) const MAX_BLOCKS: usize = 100_000;

/// Assembles the calls of an answer from its events.
///
/// ```
/// use serde_json::json;
/// # use toolkit::prelude::*;
/// use toolkit::dialects::Dialect;
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
    pub(super) open: Vec<Open>,
    /// The blocks of the answer that are no calls.
    pub(super) others: HashSet<u64>,
    /// The bytes of text of all calls so far.
    bytes: usize,
    pub(super) end: End,
    /// The first error: no call of the answer may run after it.
    fault: Option<CallFormatError>,
    ids: Ids,
    /// How many calls there were when the complete ones were last looked for.
    looked_at: usize,
    lines: JsonEvents,
}

/// A call at the end of a stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StreamedCall {
    /// The call.
    pub call: ToolCall,
    /// Returns true if all of it has come. Another must not run.
    pub is_whole: bool,
}

/// The way in which the answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It has not ended.
    Open,
    /// Normally.
    Whole,
    /// At a length limit.
    Cut,
}

/// A call of which a part has arrived.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// The position in the answer.
    pub(super) index: Option<u64>,
    /// The provider's id of the part.
    pub(super) item: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) text: String,
    /// Arguments that arrived as a whole.
    pub(super) value: Option<Value>,
    pub(super) is_done: bool,
    /// The id that it was told with.
    pub(super) told: Option<String>,
}

impl Open {
    fn arguments(&self) -> CallArguments {
        match &self.value {
            Some(value) if self.text.is_empty() => from_value(Some(value)),
            _ => from_text(&self.text),
        }
    }
}

impl Definitions {
    /// Returns a reader of an answer that is streamed in fragments.
    pub fn stream(&self) -> CallStream {
        CallStream::new(self.clone())
    }
}

impl CallStream {
    fn new(definitions: Definitions) -> Self {
        Self {
            definitions,
            open: Vec::new(),
            others: HashSet::new(),
            bytes: 0,
            end: End::Open,
            fault: None,
            ids: Ids::default(),
            looked_at: 0,
            lines: JsonEvents::default(),
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
        let provider = reader.dialect.provider();
        provider.refuse_failure(event)?;
        provider.push(self, reader, event)
    }

    /// Adds complete calls.
    pub(super) fn push_found(&mut self, found: Vec<Found>) -> Result<(), CallFormatError> {
        check_size(&found)?;
        for Found { id, name, arguments } in found {
            let (text, value) = match arguments.into_text() {
                Ok(text) => (text, None),
                Err(value) => (String::new(), Some(value)),
            };
            self.count(text.len() + value.as_ref().map_or(0, |value| value.to_string().len()))?;
            *self.add()? = Open { id, name, text, value, is_done: true, ..Open::default() };
        }
        Ok(())
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

    /// Returns the calls that have become whole since the last time, in the order in which they did. For display: whether they are to run
    /// only the end of the answer tells.
    pub fn completed(&mut self) -> Vec<ToolCall> {
        if self.fault.is_some() {
            return Vec::new();
        }
        // A call that does not say so itself is whole when another one follows, or the answer is.
        let is_news = self.looked_at != self.open.len() || self.end != End::Open;
        self.looked_at = self.open.len();
        let last = self.open.len().saturating_sub(1);
        let mut completed = Vec::new();
        for (place, open) in self.open.iter_mut().enumerate() {
            let is_whole = open.is_done
                || is_news && (self.end == End::Whole || place < last && is_complete(&open.text));
            if open.told.is_some() || open.name.is_empty() || !is_whole {
                continue;
            }
            let id = self.ids.own(open.id.clone());
            open.told = Some(id.clone());
            completed.push(self.definitions.call(id, &open.name, open.arguments()));
        }
        completed
    }

    /// The calls, in the order of the answer.
    ///
    /// # Errors
    ///
    /// The first fault of an event. When a call has no name, or the answer ended before the arguments of one did: it must not run
    /// then.
    pub fn finish(self) -> Result<Vec<ToolCall>, CallFormatError> {
        let reader = Reader { dialect: self.definitions.dialect };
        let ended = self.end()?;
        if ended.iter().any(|(name, _)| name.is_empty()) {
            return Err(reader.wrong("/name", "the name of a tool", None));
        }
        ended
            .into_iter()
            .map(
                |(name, streamed)| {
                    if streamed.is_whole { Ok(streamed.call) } else { Err(CallFormatError::CutOff { name }) }
                },
            )
            .collect()
    }

    /// The calls, in the order of the answer, those that were cut off included.
    ///
    /// # Errors
    ///
    /// The first fault of an event, and when a call of a whole answer has no name.
    pub fn finish_each(self) -> Result<Vec<StreamedCall>, CallFormatError> {
        let reader = Reader { dialect: self.definitions.dialect };
        let is_whole = self.end == End::Whole;
        let ended = self.end()?;
        if is_whole && ended.iter().any(|(name, _)| name.is_empty()) {
            return Err(reader.wrong("/name", "the name of a tool", None));
        }
        Ok(ended.into_iter().map(|(_, streamed)| streamed).collect())
    }

    /// Each call, with the name by which the model calls its tool.
    fn end(mut self) -> Result<Vec<(String, StreamedCall)>, CallFormatError> {
        if let Some(event) = self.lines.finish()? {
            self.push(&event)?;
        }
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let distrusts_last = self.definitions.dialect.provider().distrusts_last_call();
        let last_block = self.others.iter().copied().max();
        // Calls without a position stay in the order in which they arrived.
        self.open.sort_by_key(|open| open.index);
        self.ids.know(self.open.iter().filter_map(|open| open.id.as_deref()));
        let count = self.open.len();
        let mut ended = Vec::with_capacity(count);
        for (place, open) in self.open.into_iter().enumerate() {
            let is_whole = match self.end {
                End::Cut if distrusts_last => place + 1 < count || open.index < last_block,
                End::Cut => is_complete(&open.text),
                End::Whole | End::Open => open.is_done || self.end == End::Whole || is_complete(&open.text),
            };
            let arguments = open.arguments();
            let id = open.told.unwrap_or_else(|| self.ids.own(open.id));
            let call = self.definitions.call(id, &open.name, arguments);
            let is_whole = is_whole && !open.name.is_empty();
            ended.push((open.name, StreamedCall { call, is_whole }));
        }
        Ok(ended)
    }

    pub(super) fn add(&mut self) -> Result<&mut Open, CallFormatError> {
        if self.open.len() == MAX_CALLS {
            return Err(CallFormatError::TooManyCalls);
        }
        Ok(self.open.push_mut(Open::default()))
    }

    pub(super) fn count(&mut self, bytes: usize) -> Result<(), CallFormatError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > MAX_ARGUMENT_BYTES { Err(CallFormatError::TooLong) } else { Ok(()) }
    }
}

//! The calls in an answer that comes in fragments.

mod sse;

use super::calls::{
    self, CallFormatError, Found, MAX_ARGUMENT_BYTES, MAX_CALLS, Reader, from_text, from_value, is_complete,
};
use super::{Definitions, Dialect};
use crate::call::{CallArguments, ToolCall};
use serde_json::{Map, Value};
use sse::Lines;
use std::collections::HashSet;

/// The longest name of a tool in fragments, in bytes: far longer than any provider takes.
const MOST_NAME_BYTES: usize = 1024;
/// How many blocks an answer may have that are no calls.
const MOST_BLOCKS: usize = 100_000;

/// Puts the calls of an answer together from its events.
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
/// Events that say nothing of calls are passed over, as are all that nobody knows. Memory is bounded, whatever comes.
#[derive(Debug)]
pub struct CallStream {
    definitions: Definitions,
    open: Vec<Open>,
    /// Of the answers's blocks, those that are no calls.
    others: HashSet<u64>,
    /// What holds so far of all calls: how much text there is.
    bytes: usize,
    end: End,
    lines: Lines,
}

/// How the answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It did not yet.
    Open,
    /// As it should.
    Whole,
    /// At a limit of its length.
    Cut,
}

/// A call of which something has come.
#[derive(Debug, Default)]
struct Open {
    /// Where it stands in the answer.
    index: Option<u64>,
    /// What the provider calls the part.
    item: Option<String>,
    id: Option<String>,
    name: String,
    text: String,
    /// Arguments that came whole.
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
            lines: Lines::default(),
        }
    }

    /// Takes an event: a chunk of Chat Completions, an event of Responses or of Messages, a response of Gemini.
    ///
    /// # Errors
    ///
    /// As [`Definitions::parse`]. What came before is still there, but the answer is not to be trusted.
    pub fn push(&mut self, event: &Value) -> Result<(), CallFormatError> {
        let reader = Reader { dialect: self.definitions.dialect };
        match reader.dialect {
            Dialect::OpenAiChat | Dialect::OpenAiChatStrict => self.push_chat(reader, event),
            Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => self.push_responses(reader, event),
            Dialect::Anthropic => self.push_anthropic(reader, event),
            Dialect::Gemini | Dialect::Mcp => {
                for Found { id, name, arguments } in calls::find(reader.dialect, event)? {
                    let (text, value) = match arguments {
                        CallArguments::Text(text) => (text, None),
                        CallArguments::Json(value) => (String::new(), Some(value)),
                    };
                    self.count(text.len() + value.as_ref().map_or(0, |value| value.to_string().len()))?;
                    *self.add()? = Open { id, name, text, value, is_done: true, ..Open::default() };
                }
                Ok(())
            }
        }
    }

    /// Takes bytes of a stream of server-sent events, cut anywhere.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push), and when an event is no JSON, or longer than [`MAX_ARGUMENT_BYTES`] and a quarter more.
    pub fn push_sse(&mut self, bytes: &[u8]) -> Result<(), CallFormatError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (event, left) = self.lines.take(rest)?;
            rest = left;
            if let Some(event) = event {
                self.push(&event)?;
            }
        }
        Ok(())
    }

    /// The calls, in the order of the answer.
    ///
    /// # Errors
    ///
    /// When a call has no name, or the answer ended before the arguments of one did: it must not run then.
    pub fn finish(mut self) -> Result<Vec<ToolCall>, CallFormatError> {
        if let Some(event) = self.lines.last()? {
            self.push(&event)?;
        }
        let reader = Reader { dialect: self.definitions.dialect };
        let is_anthropic = reader.dialect == Dialect::Anthropic;
        let last_block = self.others.iter().copied().max();
        // Those that have no place stay in the order in which they came.
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

    fn push_chat(&mut self, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        let event = reader.object(event, "")?;
        for (place, choice) in reader.list(event.get("choices"), "/choices")?.iter().enumerate() {
            let at = format!("/choices/{place}");
            let choice = reader.object(choice, &at)?;
            // Only one answer is wanted; the first is it.
            if choice.get("index").and_then(Value::as_u64).is_some_and(|index| index > 0) {
                continue;
            }
            match reader.text(choice.get("finish_reason"), &format!("{at}/finish_reason"))? {
                None => {}
                Some("length" | "content_filter") => self.end = End::Cut,
                Some(_) => self.end = End::Whole,
            }
            let Some(delta) = choice.get("delta").filter(|delta| !delta.is_null()) else { continue };
            let delta = reader.object(delta, &format!("{at}/delta"))?;
            let at = format!("{at}/delta/tool_calls");
            for (place, fragment) in reader.list(delta.get("tool_calls"), &at)?.iter().enumerate() {
                let at = format!("{at}/{place}");
                self.push_chat_fragment(reader, reader.object(fragment, &at)?, &at)?;
            }
        }
        Ok(())
    }

    fn push_chat_fragment(
        &mut self,
        reader: Reader,
        fragment: &Map<String, Value>,
        at: &str,
    ) -> Result<(), CallFormatError> {
        let (key, arguments) = match fragment.get("type").and_then(Value::as_str) {
            Some("custom") => ("custom", "input"),
            None if fragment.contains_key("custom") => ("custom", "input"),
            None | Some("function" | "") => ("function", "arguments"),
            Some(_) => return Ok(()),
        };
        let index = match fragment.get("index") {
            None | Some(Value::Null) => None,
            Some(index) => {
                let number = index.as_u64();
                Some(
                    number
                        .ok_or_else(|| reader.wrong(&format!("{at}/index"), "a whole number", Some(index)))?,
                )
            }
        };
        let id = reader.id(fragment.get("id"), &format!("{at}/id"))?.filter(|id| !id.is_empty());
        let none = Map::new();
        let at = format!("{at}/{key}");
        let function = match fragment.get(key) {
            None | Some(Value::Null) => &none,
            Some(function) => reader.object(function, &at)?,
        };
        let name = reader.text(function.get("name"), &format!("{at}/name"))?.unwrap_or_default();
        // Some servers send arguments as an object, whole.
        let (text, value) = match function.get(arguments) {
            Some(value @ Value::Object(_)) => (None, Some(value)),
            other => (reader.text(other, &format!("{at}/{arguments}"))?, None),
        };
        self.count(text.map_or(0, str::len) + value.map_or(0, |value| value.to_string().len()))?;
        let open = self.chat_call(index, id.as_deref())?;
        if open.id.is_none() {
            open.id = id;
        }
        // Most send a name once, some in every fragment, some in fragments too.
        if open.name != name {
            open.name.push_str(name);
        }
        if open.name.len() > MOST_NAME_BYTES {
            return Err(reader.wrong(&format!("{at}/name"), "the name of a tool", function.get("name")));
        }
        open.text.push_str(text.unwrap_or_default());
        if let Some(value) = value {
            open.value = Some(value.clone());
            open.is_done = true;
        }
        Ok(())
    }

    /// The call that a fragment belongs to. Some servers number all calls alike, and some none: then a new id begins a new one.
    fn chat_call(&mut self, index: Option<u64>, id: Option<&str>) -> Result<&mut Open, CallFormatError> {
        let is_of = |open: &Open| {
            let is_same_id = match (&open.id, id) {
                (Some(own), Some(id)) => own == id,
                _ => true,
            };
            is_same_id && (open.index == index || index.is_none())
        };
        match self.open.iter().rposition(is_of) {
            Some(place) => Ok(&mut self.open[place]),
            None => {
                let open = self.add()?;
                open.index = index;
                Ok(open)
            }
        }
    }

    fn push_responses(&mut self, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        let event = reader.object(event, "")?;
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            kind @ ("response.output_item.added" | "response.output_item.done") => {
                let item = event.get("item").ok_or_else(|| reader.wrong("/item", "an object", None))?;
                let item = reader.object(item, "/item")?;
                if item.get("type").and_then(Value::as_str) != Some("function_call") {
                    return Ok(());
                }
                let is_done = kind == "response.output_item.done"
                    && item.get("status").and_then(Value::as_str) != Some("incomplete");
                let call = calls::function_call(reader, item, "/item")?;
                let item_id = reader.text(item.get("id"), "/item/id")?;
                self.take_item(reader, event, item_id, call, is_done)
            }
            "response.function_call_arguments.delta" => {
                let delta = reader.text(event.get("delta"), "/delta")?.unwrap_or_default();
                self.count(delta.len())?;
                let item = reader.text(event.get("item_id"), "/item_id")?;
                self.item(event, item)?.text.push_str(delta);
                Ok(())
            }
            "response.function_call_arguments.done" => {
                let text = reader.text(event.get("arguments"), "/arguments")?;
                let name = reader.text(event.get("name"), "/name")?.map(str::to_owned);
                let item = reader.text(event.get("item_id"), "/item_id")?;
                let before = self.item(event, item)?.text.len();
                self.count(text.map_or(0, |text| text.len().saturating_sub(before)))?;
                let open = self.item(event, item)?;
                if let Some(text) = text {
                    text.clone_into(&mut open.text);
                }
                if let (true, Some(name)) = (open.name.is_empty(), name) {
                    open.name = name;
                }
                open.is_done = true;
                Ok(())
            }
            "response.incomplete" => {
                self.end = End::Cut;
                Ok(())
            }
            "response.completed" => {
                // What it says of calls was said before, unless a server says it only here.
                if self.open.is_empty() {
                    for call in calls::find(reader.dialect, &Value::Object(event.clone()))? {
                        self.take_item(reader, &Map::new(), None, call, true)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_item(
        &mut self,
        reader: Reader,
        event: &Map<String, Value>,
        item_id: Option<&str>,
        call: Found,
        is_done: bool,
    ) -> Result<(), CallFormatError> {
        let (text, value) = match call.arguments {
            CallArguments::Text(text) => (text, None),
            CallArguments::Json(Value::Object(members)) if members.is_empty() => (String::new(), None),
            CallArguments::Json(value) => (String::new(), Some(value)),
        };
        if call.name.len() > MOST_NAME_BYTES {
            return Err(reader.wrong("/item/name", "the name of a tool", Some(&Value::String(call.name))));
        }
        let has_place = event.contains_key("output_index") || item_id.is_some();
        let before = if has_place { self.item(event, item_id)?.text.len() } else { 0 };
        self.count(
            text.len().saturating_sub(before) + value.as_ref().map_or(0, |value| value.to_string().len()),
        )?;
        let open = if has_place { self.item(event, item_id)? } else { self.add()? };
        open.name = call.name;
        open.id = call.id.or(open.id.take());
        open.value = value.or(open.value.take());
        if !text.is_empty() {
            open.text = text;
        }
        open.is_done |= is_done;
        Ok(())
    }

    /// The call that an event of Responses speaks of.
    fn item(&mut self, event: &Map<String, Value>, item: Option<&str>) -> Result<&mut Open, CallFormatError> {
        let index = event.get("output_index").and_then(Value::as_u64);
        let is_of = |open: &Open| match (open.index, index) {
            (Some(own), Some(index)) => own == index,
            _ => open.item.is_some() && open.item.as_deref() == item,
        };
        match self.open.iter().position(is_of) {
            Some(place) => Ok(&mut self.open[place]),
            None => {
                let item = item.map(str::to_owned);
                let open = self.add()?;
                open.index = index;
                open.item = item;
                Ok(open)
            }
        }
    }

    fn push_anthropic(&mut self, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        let event = reader.object(event, "")?;
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let index = || {
            let index = event.get("index");
            index.and_then(Value::as_u64).ok_or_else(|| reader.wrong("/index", "a whole number", index))
        };
        match kind {
            "content_block_start" => {
                let index = index()?;
                let at = "/content_block";
                let block = event.get("content_block").ok_or_else(|| reader.wrong(at, "an object", None))?;
                let block = reader.object(block, at)?;
                if block.get("type").and_then(Value::as_str) != Some("tool_use") {
                    if self.others.len() < MOST_BLOCKS {
                        self.others.insert(index);
                    }
                    return Ok(());
                }
                if self.open.iter().any(|open| open.index == Some(index)) {
                    return Err(reader.wrong("/index", "that of a new block", event.get("index")));
                }
                let Found { id, name, arguments } = calls::tool_use(reader, block, at)?;
                let value = match arguments {
                    CallArguments::Json(value) => Some(value),
                    CallArguments::Text(_) => block.get("input").cloned(),
                };
                self.count(value.as_ref().map_or(0, |value| value.to_string().len()))?;
                *self.add()? = Open { index: Some(index), id, name, value, ..Open::default() };
            }
            "content_block_delta" => {
                let delta = event.get("delta").ok_or_else(|| reader.wrong("/delta", "an object", None))?;
                let delta = reader.object(delta, "/delta")?;
                if delta.get("type").and_then(Value::as_str) != Some("input_json_delta") {
                    return Ok(());
                }
                let index = index()?;
                let text = reader.text(delta.get("partial_json"), "/delta/partial_json")?.unwrap_or_default();
                self.count(text.len())?;
                match self.open.iter_mut().find(|open| open.index == Some(index)) {
                    Some(open) => open.text.push_str(text),
                    // A tool that the provider itself runs.
                    None if self.others.contains(&index) => {}
                    None => {
                        return Err(reader.wrong("/index", "that of a block that began", event.get("index")));
                    }
                }
            }
            "content_block_stop" => {
                let index = index()?;
                if let Some(open) = self.open.iter_mut().find(|open| open.index == Some(index)) {
                    open.is_done = true;
                }
            }
            "message_delta" => {
                let stop =
                    event.get("delta").and_then(|delta| delta.get("stop_reason")).and_then(Value::as_str);
                if stop.is_some_and(calls::anthropic::is_cut) {
                    self.end = End::Cut;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

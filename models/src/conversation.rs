//! A conversation as a provider takes it: turns that alternate, and exactly one result for each call.

use crate::message::{AssistantMessage, AssistantPart, Message, Part, ToolOutput};
use crate::request::Request;
use data_encoding::BASE32_NOPAD;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use toolkit::{Content, ToolCall, ToolError, ToolResult, dialects::Dialect, output::Bytes};

/// The text of a turn of the user that has to stand where the conversation has none.
const CONTINUE: &str = "Continue.";
/// The longest id of a call that another provider made.
const MAX_ID_BYTES: usize = 40;

/// A turn of a conversation.
pub(crate) enum Turn<'a> {
    User(Vec<Cow<'a, Part>>),
    Assistant(AssistantTurn<'a>),
    /// The results of the assistant's turn before, one for each call and in their order.
    Results(Vec<ToolResult>),
}

/// An answer of a model.
pub(crate) struct AssistantTurn<'a> {
    pub(crate) content: &'a [AssistantPart],
    /// The calls, with ids that no other call of the conversation has.
    pub(crate) calls: Vec<ToolCall>,
    /// The message as this very model sent it.
    pub(crate) raw: Option<&'a Value>,
    /// True if ids of calls are not those of the message.
    pub(crate) has_new_ids: bool,
}

impl AssistantTurn<'_> {
    /// Returns the texts, without empty ones.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(|part| match part {
            AssistantPart::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        })
    }
}

fn wire(dialect: Dialect) -> Dialect {
    match dialect {
        Dialect::OpenAiChatStrict => Dialect::OpenAiChat,
        Dialect::OpenAiResponsesStrict => Dialect::OpenAiResponses,
        other => other,
    }
}

/// Returns the turns of a request for a model. Nothing is lost but calls and results that have no counterpart; a call without a result gets
/// an error, so that the model knows.
pub(crate) fn turns<'a>(request: &'a Request, dialect: Dialect, model: &str) -> Vec<Turn<'a>> {
    let mut turns = Turns { turns: Vec::new(), ids: Ids::new(dialect) };
    for (place, message) in request.messages.iter().enumerate() {
        match message {
            Message::User(user) => turns.user(user.content.iter().map(Cow::Borrowed)),
            // They stand with the calls that they belong to.
            Message::Tools(_) => {}
            Message::Assistant(assistant) => {
                let raw = usable_raw(assistant, dialect, model);
                turns.assistant(
                    assistant,
                    raw,
                    &request.messages[place + 1..],
                    wire(dialect) == Dialect::OpenAiChat,
                );
            }
        }
    }
    let mut turns = turns.turns;
    // Providers want the user to begin, and to have the last word.
    if matches!(turns.first(), Some(Turn::Assistant(_))) {
        turns.insert(0, go_on());
    }
    if matches!(turns.last(), Some(Turn::Assistant(_)) | None) {
        turns.push(go_on());
    }
    turns
}

fn go_on<'a>() -> Turn<'a> {
    Turn::User(vec![Cow::Owned(Part::text(CONTINUE))])
}

/// The provider's own message, if this model takes it back and it has the calls of the content.
fn usable_raw<'a>(assistant: &'a AssistantMessage, dialect: Dialect, model: &str) -> Option<&'a Value> {
    let raw =
        assistant.raw.as_ref().filter(|raw| wire(raw.dialect) == wire(dialect) && raw.model == model)?;
    let list = match wire(dialect) {
        Dialect::OpenAiResponses => Some(&raw.value),
        Dialect::Anthropic => raw.value.get("content"),
        Dialect::Gemini => raw.value.get("parts"),
        _ => None,
    };
    let is_message = match wire(dialect) {
        Dialect::OpenAiChat => raw.value.is_object(),
        _ => list.and_then(Value::as_array).is_some_and(|list| !list.is_empty()),
    };
    if !is_message {
        return None;
    }
    let ids = raw_call_ids(dialect, &raw.value);
    let is_same = assistant.tool_calls().count() == ids.len()
        && assistant.tool_calls().zip(&ids).all(|(call, id)| id.is_none_or(|id| id == call.id));
    is_same.then_some(&raw.value)
}

/// The ids of the calls in a provider's own message. In Gemini a call may have none.
pub(crate) fn raw_call_ids(dialect: Dialect, raw: &Value) -> Vec<Option<&str>> {
    match wire(dialect) {
        Dialect::OpenAiChat => list(raw.get("tool_calls")).map(|call| call["id"].as_str()).collect(),
        Dialect::OpenAiResponses => list(Some(raw))
            .filter(|item| item["type"] == "function_call")
            .map(|item| item["call_id"].as_str())
            .collect(),
        Dialect::Anthropic => list(raw.get("content"))
            .filter(|block| block["type"] == "tool_use")
            .map(|block| block["id"].as_str())
            .collect(),
        _ => list(raw.get("parts"))
            .filter_map(|part| part.get("functionCall").or_else(|| part.get("function_call")))
            .map(|call| call["id"].as_str())
            .collect(),
    }
}

/// Puts the ids of calls into a provider's own message, in their order.
pub(crate) fn set_raw_call_ids(dialect: Dialect, raw: &mut Value, calls: &[ToolCall]) {
    let mut ids = calls.iter().map(|call| call.id.as_str());
    let mut set = |call: &mut Value, key: &str| {
        if let (Some(id), Some(members)) = (ids.next(), call.as_object_mut())
            && (members.contains_key(key) || !is_made(id))
        {
            members.insert(key.to_owned(), id.into());
        }
    };
    match wire(dialect) {
        Dialect::OpenAiChat => list_mut(raw.get_mut("tool_calls")).for_each(|call| set(call, "id")),
        Dialect::OpenAiResponses => {
            list_mut(Some(raw))
                .filter(|item| item["type"] == "function_call")
                .for_each(|item| set(item, "call_id"));
        }
        Dialect::Anthropic => {
            let blocks = list_mut(raw.get_mut("content"));
            blocks.filter(|block| block["type"] == "tool_use").for_each(|block| set(block, "id"));
        }
        _ => {
            for part in list_mut(raw.get_mut("parts")) {
                let key = if part.get("functionCall").is_some() { "functionCall" } else { "function_call" };
                if let Some(call) = part.get_mut(key) {
                    set(call, "id");
                }
            }
        }
    }
}

/// Puts an empty object in place of arguments that are not a JSON object. llama.cpp and vLLM parse the arguments of earlier calls, and
/// refuse the whole conversation otherwise. The result of the call tells the model what was wrong.
pub(crate) fn mend_arguments(arguments: &mut Value) {
    if let Value::String(text) = arguments
        && serde_json::from_str::<Map<String, Value>>(text).is_err()
    {
        *arguments = "{}".into();
    }
}

/// Ids that the core made, since the provider gave none.
fn is_made(id: &str) -> bool {
    id.starts_with("toolkit_call_")
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

fn list_mut(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

struct Turns<'a> {
    turns: Vec<Turn<'a>>,
    ids: Ids,
}

impl<'a> Turns<'a> {
    fn user(&mut self, content: impl Iterator<Item = Cow<'a, Part>>) {
        let is_empty = |part: &Part| matches!(part, Content::Text { text } if text.trim().is_empty());
        let content: Vec<Cow<'a, Part>> = content.filter(|part| !is_empty(part)).collect();
        match self.turns.last_mut() {
            _ if content.is_empty() => {}
            Some(Turn::User(before)) => before.extend(content),
            _ => self.turns.push(Turn::User(content)),
        }
    }

    fn assistant(
        &mut self,
        assistant: &'a AssistantMessage,
        raw: Option<&'a Value>,
        after: &'a [Message],
        has_no_images: bool,
    ) {
        let is_shown = |part: &AssistantPart| match part {
            AssistantPart::Text { text } => !text.trim().is_empty(),
            AssistantPart::ToolCall(_) => true,
            AssistantPart::Reasoning { .. } | AssistantPart::Image { .. } => false,
        };
        if raw.is_some() || assistant.content.iter().any(is_shown) {
            if matches!(self.turns.last(), Some(Turn::Assistant(_))) {
                self.turns.push(go_on());
            }
            self.shown(assistant, raw, after);
        }
        // A provider takes back images of its own alone.
        if raw.is_none() || has_no_images {
            let images = assistant.content.iter().filter_map(image);
            self.user(images.map(Cow::Owned));
        }
    }

    fn shown(&mut self, assistant: &'a AssistantMessage, raw: Option<&'a Value>, after: &'a [Message]) {
        let mut results = results(after);
        let mut has_new_ids = false;
        let mut calls = Vec::new();
        let mut answers = Vec::new();
        for call in assistant.tool_calls() {
            let id = self.ids.of(&call.id, raw.is_some());
            has_new_ids |= id != call.id;
            let result = results.get_mut(call.id.as_str()).and_then(VecDeque::pop_front);
            let mut result = result.map_or_else(|| missing(call), |result| result.to_result(&call.name));
            result.id.clone_from(&id);
            answers.push(result);
            calls.push(ToolCall::new(id, call.name.clone(), call.arguments.clone()));
        }
        let has_calls = !calls.is_empty();
        self.turns.push(Turn::Assistant(AssistantTurn {
            content: &assistant.content,
            calls,
            raw,
            has_new_ids,
        }));
        if has_calls {
            self.turns.push(Turn::Results(answers));
        }
    }
}

/// The results between an assistant message and the next one, by the id of the call.
fn results(after: &[Message]) -> HashMap<&str, VecDeque<&ToolOutput>> {
    let mut results: HashMap<&str, VecDeque<&ToolOutput>> = HashMap::new();
    for message in after {
        match message {
            Message::Assistant(_) => break,
            Message::Tools(tools) => {
                for result in &tools.results {
                    results.entry(result.call_id.as_str()).or_default().push_back(result);
                }
            }
            Message::User(_) => {}
        }
    }
    results
}

fn missing(call: &ToolCall) -> ToolResult {
    let error = ToolError::failed("there is no result: the call was interrupted, and may have had effects");
    ToolResult::new(call.id.clone(), call.name.clone(), Err(error))
}

fn image(part: &AssistantPart) -> Option<Part> {
    match part {
        AssistantPart::Image { data: Bytes(data), mime_type } => {
            Some(Content::image(data.clone(), mime_type.clone()))
        }
        _ => None,
    }
}

/// The ids of the calls of a conversation.
struct Ids {
    dialect: Dialect,
    used: HashSet<String>,
}

impl Ids {
    fn new(dialect: Dialect) -> Self {
        Self { dialect, used: HashSet::new() }
    }

    /// An id that no call before has and that the provider takes. The same conversation gives the same ids, so that a cache holds.
    fn of(&mut self, id: &str, is_own: bool) -> String {
        // Some servers have something in their ids, so that they get them back as they are.
        let is_kept = is_own && self.dialect != Dialect::Anthropic || self.is_legal(id);
        if is_kept && self.used.insert(id.to_owned()) {
            return id.to_owned();
        }
        for round in 0_usize.. {
            let mut hash = Sha256::new();
            hash.update(round.to_le_bytes());
            hash.update(id);
            let mut id = BASE32_NOPAD.encode(&hash.finalize()).to_ascii_lowercase();
            id.truncate(24);
            let id = format!("call_{id}");
            if self.used.insert(id.clone()) {
                return id;
            }
        }
        unreachable!("there are more numbers than calls")
    }

    fn is_legal(&self, id: &str) -> bool {
        let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
        match wire(self.dialect) {
            Dialect::Anthropic => (1..=64).contains(&id.len()) && id.bytes().all(is_plain),
            Dialect::Gemini => !id.is_empty(),
            _ => (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_graphic()),
        }
    }
}

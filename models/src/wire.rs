//! The parts that all providers' formats share: the request to write, and the reader of its answer.

use crate::answer::{StopReason, Usage};
use crate::conversation::{Turn, turns};
use crate::fault::Fault;
use crate::message::{AssistantMessage, AssistantPart, RawMessage};
use crate::model::ModelEvent;
use crate::quirks::Quirks;
use crate::request::{Request, Thinking};
use serde_json::Value;
use std::sync::Arc;
use toolkit::{
    ToolCall,
    dialects::{CallStream, Definitions, Dialect, DialectSchema},
};

/// A request, with what a client adds to it.
pub(crate) struct Draft<'a> {
    pub(crate) request: &'a Request,
    /// The tools, in the model's dialect. Without any, they still write the calls of the conversation.
    pub(crate) tools: Arc<Definitions>,
    /// The model, as the server names it.
    pub(crate) model: &'a str,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) quirks: Quirks,
    /// True if the server is OpenAI's own.
    pub(crate) is_openai: bool,
    pub(crate) constraint: Option<Constraint>,
}

/// How the server is told of the schema of the answer.
pub(crate) enum Constraint {
    /// By the schema.
    Schema { schema: Value, is_strict: bool, read_back: Option<Box<DialectSchema>> },
    /// By demanding an object; the schema stands in the prompt.
    Object(Value),
    /// In the prompt alone.
    Prompt(Value),
}

impl Draft<'_> {
    pub(crate) fn dialect(&self) -> Dialect {
        self.tools.dialect()
    }

    pub(crate) fn turns(&self) -> Vec<Turn<'_>> {
        turns(self.request, self.dialect(), self.model)
    }

    pub(crate) fn has_tools(&self) -> bool {
        !self.tools.tools().is_empty()
    }

    /// The system prompt, with the schema of the answer where the server is not told of it in another way.
    pub(crate) fn system(&self) -> String {
        let mut system = self.request.system.clone();
        if let Some(Constraint::Object(schema) | Constraint::Prompt(schema)) = &self.constraint {
            if !system.is_empty() {
                system.push_str("\n\n");
            }
            system.push_str("Answer with one JSON value and nothing else: no explanation, no code fence. It fits this JSON Schema:\n");
            system.push_str(&schema.to_string());
        }
        system
    }

    /// The name by which the model knows the tool that it must call.
    pub(crate) fn named<'a>(&'a self, name: &'a str) -> Result<&'a str, String> {
        match self.tools.tool(name) {
            Some(tool) => Ok(&tool.shown_name),
            None => Err(format!(
                "`tool_choice` names `{name}`, which is not among the tools; add it or choose another"
            )),
        }
    }
}

/// Reads an answer from its events.
pub(crate) trait AnswerReader: Send {
    /// Takes one event of the stream.
    fn take(&mut self, event: Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault>;

    /// Turns an answer that came as a whole, since the server does not stream, into events.
    fn split(&self, whole: Value) -> Vec<Value>;

    /// Returns true if the answer has said why it ended: what is still to come is not needed.
    fn has_ended(&self) -> bool;

    /// The part of the message that has arrived.
    fn partial(&self) -> AssistantMessage;

    /// The answer. `is_done` is true if the stream had OpenAI's word for its end.
    fn finish(self: Box<Self>, is_done: bool) -> Result<Read, Fault>;
}

/// An answer that was read.
pub(crate) struct Read {
    pub(crate) content: Vec<AssistantPart>,
    pub(crate) raw: Option<Value>,
    pub(crate) stop: StopReason,
    pub(crate) usage: Option<Usage>,
}

impl Read {
    /// The message and why it ended.
    pub(crate) fn into_message(
        self,
        dialect: Dialect,
        model: &str,
    ) -> (AssistantMessage, StopReason, Option<Usage>) {
        let has_calls = self.content.iter().any(|part| matches!(part, AssistantPart::ToolCall(_)));
        // Some servers say that the answer ended where it calls tools, and some the other way round.
        let stop = match self.stop {
            StopReason::End | StopReason::ToolCalls if has_calls => StopReason::ToolCalls,
            StopReason::ToolCalls => StopReason::End,
            stop => stop,
        };
        let raw = self.raw.map(|value| RawMessage { dialect, model: model.to_owned(), value });
        (AssistantMessage { content: self.content, raw }, stop, self.usage)
    }
}

/// The calls of an answer.
pub(crate) struct Calls {
    definitions: Arc<Definitions>,
    stream: CallStream,
    /// Those that were told of.
    told: Vec<ToolCall>,
}

/// The calls at the end of an answer, in its order; nothing for one that was cut off.
pub(crate) type Whole = Vec<Option<ToolCall>>;

impl Calls {
    pub(crate) fn new(definitions: &Arc<Definitions>) -> Self {
        Self { definitions: Arc::clone(definitions), stream: definitions.stream(), told: Vec::new() }
    }

    /// None, with the same definitions.
    pub(crate) fn new_like(other: &Self) -> Self {
        Self::new(&other.definitions)
    }

    pub(crate) fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Takes an event, and tells of calls that it completes.
    pub(crate) fn take(&mut self, event: &Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.stream.push(event)?;
        for call in self.stream.completed() {
            self.told.push(call.clone());
            events.push(ModelEvent::ToolCall(call));
        }
        Ok(())
    }

    /// The whole calls so far.
    pub(crate) fn told(&self) -> impl Iterator<Item = AssistantPart> {
        self.told.iter().cloned().map(AssistantPart::ToolCall)
    }

    pub(crate) fn finish(self) -> Result<Whole, Fault> {
        let each = self.stream.finish_each()?;
        Ok(each.into_iter().map(|streamed| streamed.is_whole.then_some(streamed.call)).collect())
    }
}

/// The text of a member, or an empty one.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A count at a pointer. Some servers count in floats.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    let number = value.pointer(pointer)?;
    let float = || number.as_f64().filter(|float| (0.0..1e15).contains(float));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    number.as_u64().or_else(|| float().map(|float| float as u64))
}

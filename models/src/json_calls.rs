//! Tool calls as a JSON text, for models that do not call tools by themselves.

use crate::answer::{Answer, StopReason};
use crate::error::ModelError;
use crate::message::{AssistantMessage, AssistantPart, Message, Part, ToolResults, UserMessage};
use crate::model::{Model, ModelEvent, Price, Responding};
use crate::request::{Request, ToolChoice};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;
use toolkit::{
    ToolCall,
    dialects::{Definitions, Dialect, DialectTool},
};

/// A model that calls tools by the text of its answers, for small models and servers without tool calls of their own.
///
/// The tools stand in the system prompt. The answer is one JSON object, `{"step": {"tool": NAME, "arguments": {…}}}` or `{"step":
/// {"answer": TEXT}}`, by a schema that the server is asked to enforce: each answer is then one call of an existing tool with
/// arguments of its schema, or a final text. The caller receives tool calls and texts as from any other model; a text comes as one event, at
/// its end. An answer that is none of this, from a server that does not enforce schemas, is taken as a text.
///
/// In the configuration it is `toolCalls: "json"`.
pub struct JsonToolCalls {
    model: Arc<dyn Model>,
}

impl JsonToolCalls {
    /// Returns a model that asks this one.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self { model }
    }

    async fn answer(
        &self,
        request: &Request,
        events: &mut (dyn FnMut(ModelEvent) + Send),
    ) -> Result<Answer, ModelError> {
        let tools = request.tools.as_deref().map(|tools| tools.in_dialect(Dialect::OpenAiChat));
        let offered = match &tools {
            Some(tools) => self.offered(tools, &request.tool_choice)?,
            None => Vec::new(),
        };
        let mut inner = request.clone();
        (inner.tools, inner.tool_choice) = (None, ToolChoice::Auto);
        inner.messages = request
            .messages
            .iter()
            .map(|message| told(message, tools.as_ref(), !offered.is_empty()))
            .collect();
        let Some(tools) = tools.as_ref().filter(|_| !offered.is_empty()) else {
            return self.model.respond(&inner, events).await;
        };
        let may_answer = matches!(request.tool_choice, ToolChoice::Auto);
        let answer_schema =
            may_answer.then(|| request.response_schema.clone().unwrap_or(json!({"type": "string"})));
        append_tools(&mut inner.system, &offered, may_answer);
        inner.response_schema = Some(schema(&offered, answer_schema));
        let mut without_text = |event: ModelEvent| {
            if !matches!(event, ModelEvent::Text(_) | ModelEvent::ToolCall(_)) {
                events(event);
            }
        };
        let answer = self.model.respond(&inner, &mut without_text).await?;
        let answer = read(answer, tools);
        for part in &answer.message.content {
            match part {
                AssistantPart::Text { text } => events(ModelEvent::Text(text.clone())),
                AssistantPart::ToolCall(call) => events(ModelEvent::ToolCall(call.clone())),
                _ => {}
            }
        }
        Ok(answer)
    }

    /// The tools that the model may call.
    fn offered<'a>(
        &self,
        tools: &'a Definitions,
        choice: &ToolChoice,
    ) -> Result<Vec<&'a DialectTool>, ModelError> {
        match choice {
            ToolChoice::None => Ok(Vec::new()),
            ToolChoice::Auto | ToolChoice::Required => Ok(tools.tools().iter().collect()),
            ToolChoice::Named(name) => {
                tools.tool(name).map(|tool| vec![tool]).ok_or_else(|| ModelError::Request {
                    model: self.name().to_owned(),
                    message: format!(
                        "`tool_choice` names `{name}`, which is not among the tools; add it or choose another"
                    ),
                })
            }
        }
    }
}

impl Model for JsonToolCalls {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn dialect(&self) -> Dialect {
        self.model.dialect()
    }

    fn context_tokens(&self) -> Option<u64> {
        self.model.context_tokens()
    }

    fn max_tokens(&self) -> Option<u32> {
        self.model.max_tokens()
    }

    fn most_answer_tokens(&self, request: &Request) -> u64 {
        self.model.most_answer_tokens(request)
    }

    fn limits_answer(&self, request: &Request) -> bool {
        self.model.limits_answer(request)
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn price_of(&self, model: &str) -> Option<Price> {
        self.model.price_of(model)
    }

    fn respond<'a>(
        &'a self,
        request: &'a Request,
        events: &'a mut (dyn FnMut(ModelEvent) + Send),
    ) -> Responding<'a> {
        Box::pin(self.answer(request, events))
    }
}

impl fmt::Debug for JsonToolCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonToolCalls").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A step as the model writes it.
fn step(step: &Value) -> String {
    json!({ "step": step }).to_string()
}

/// A message as the model gets it: calls as it would have written them, results as messages of the user.
fn told(message: &Message, tools: Option<&Definitions>, is_json: bool) -> Message {
    match message {
        Message::User(_) => message.clone(),
        Message::Assistant(assistant) => {
            let part = |part: &AssistantPart| match part {
                AssistantPart::Text { text } if is_json => Some(step(&json!({ "answer": text }))),
                AssistantPart::Text { text } => Some(text.clone()),
                AssistantPart::ToolCall(call) => {
                    let name = shown(&call.name, tools);
                    let arguments = match call.arguments.as_text() {
                        Ok(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
                        Err(value) => value.clone(),
                    };
                    Some(step(&json!({ "tool": name, "arguments": arguments })))
                }
                AssistantPart::Reasoning { .. } | AssistantPart::Image { .. } => None,
            };
            let steps: Vec<String> = assistant.content.iter().filter_map(part).collect();
            Message::assistant(steps.join("\n"))
        }
        Message::Tools(ToolResults { results }) => {
            let content = results.iter().flat_map(|result| {
                let name = shown(&result.name, tools);
                let head = if result.is_error {
                    format!("Error of `{name}`:")
                } else {
                    format!("Result of `{name}`:")
                };
                std::iter::once(Part::text(head)).chain(result.content.iter().cloned())
            });
            Message::User(UserMessage { content: content.collect() })
        }
    }
}

/// The name by which the model knows a tool.
fn shown<'a>(name: &'a str, tools: Option<&'a Definitions>) -> &'a str {
    tools.and_then(|tools| tools.tool(name)).map_or(name, |tool| &tool.shown_name)
}

fn append_tools(system: &mut String, offered: &[&DialectTool], may_answer: bool) {
    if !system.is_empty() {
        system.push_str("\n\n");
    }
    system.push_str("Each of your messages is one JSON object and nothing else. To call a tool, write {\"step\": {\"tool\": NAME, \"arguments\": \
                     {…}}}; its result comes in the next message.");
    if may_answer {
        system.push_str(" When you need no tool any more, write {\"step\": {\"answer\": TEXT}}.");
    }
    system.push_str(" These are the tools, with the JSON Schema of their arguments:");
    for tool in offered {
        system.push('\n');
        system.push_str(&function(tool).to_string());
    }
}

/// The definition of a tool: `name`, `description` and `parameters`.
fn function(tool: &DialectTool) -> &Value {
    tool.definition.get("function").unwrap_or(&tool.definition)
}

/// The schema of the model's answers.
fn schema(offered: &[&DialectTool], answer: Option<Value>) -> Value {
    let mut definitions = Map::new();
    let object = |properties: Value, required: Value| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    let mut steps: Vec<Value> = Vec::new();
    for tool in offered {
        let mut arguments =
            function(tool).get("parameters").cloned().unwrap_or_else(|| json!({ "type": "object" }));
        hoist(&mut arguments, &tool.shown_name, &mut definitions);
        steps.push(object(
            json!({ "tool": { "const": tool.shown_name }, "arguments": arguments }),
            json!(["tool", "arguments"]),
        ));
    }
    if let Some(mut answer) = answer {
        // No tool has this name, since it has a dot.
        hoist(&mut answer, ".answer", &mut definitions);
        steps.push(object(json!({ "answer": answer }), json!(["answer"])));
    }
    let mut schema = object(json!({ "step": { "anyOf": steps } }), json!(["step"]));
    if !definitions.is_empty() {
        schema["$defs"] = definitions.into();
    }
    schema
}

/// Moves the definitions of a schema to those of the whole, with a prefix, and lets its references point there. A reference to another
/// place, of which there is none in schemas of parameters, allows everything.
fn hoist(schema: &mut Value, prefix: &str, definitions: &mut Map<String, Value>) {
    let own = schema.as_object_mut().and_then(|schema| schema.shift_remove("$defs"));
    let mut own = match own {
        Some(Value::Object(own)) => own,
        _ => Map::new(),
    };
    // Not by recursion: a server's schema may nest deep.
    let mut open: Vec<&mut Value> = own.values_mut().collect();
    open.push(schema);
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let target = members.get("$ref").and_then(Value::as_str);
                if let Some(target) = target {
                    match target.strip_prefix("#/$defs/") {
                        Some(name) => {
                            let target = format!("#/$defs/{prefix}.{name}");
                            members.insert("$ref".to_owned(), target.into());
                        }
                        None => drop(members.shift_remove("$ref")),
                    }
                }
                open.extend(members.values_mut());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    definitions.extend(own.into_iter().map(|(name, schema)| (format!("{prefix}.{name}"), schema)));
}

/// Turns the text of an answer into a tool call or a text.
fn read(mut answer: Answer, tools: &Definitions) -> Answer {
    let text = answer.message.to_text();
    let is_cut = answer.stop == StopReason::MaxTokens;
    let part = match parsed(&text, is_cut) {
        Some(Step::Call { name, arguments }) => called(&name, &arguments, tools).map(AssistantPart::ToolCall),
        Some(Step::Answer(text)) => Some(AssistantPart::Text { text }),
        // A call that was cut off is left out.
        None if is_cut && text.trim_start().starts_with('{') => None,
        None => Some(AssistantPart::Text { text }).filter(|_| !answer.message.is_empty()),
    };
    let mut content = answer.message.content;
    content.retain(|part| !matches!(part, AssistantPart::Text { .. } | AssistantPart::ToolCall(_)));
    let is_call = matches!(part, Some(AssistantPart::ToolCall(_)));
    content.extend(part);
    answer.stop = match answer.stop {
        _ if is_call => StopReason::ToolCalls,
        StopReason::ToolCalls => StopReason::End,
        stop => stop,
    };
    // The provider's own message has a text where this one has a call.
    answer.message = AssistantMessage { content, raw: None };
    answer
}

fn called(name: &str, arguments: &Value, tools: &Definitions) -> Option<ToolCall> {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let message =
        json!({ "role": "assistant", "tool_calls": [{ "type": "function", "function": function }] });
    tools.parse(&message).ok()?.pop()
}

/// The next step of the model.
enum Step {
    Call { name: String, arguments: Value },
    Answer(String),
}

/// Reads a step. The end of an answer that was cut off is supplied, if what there is of it can be used.
fn parsed(text: &str, is_cut: bool) -> Option<Step> {
    let text = unfenced(text.trim());
    let whole = |ending: &str| step_of(serde_json::from_str(&format!("{text}{ending}")).ok()?);
    if let Some(step) = whole("") {
        return Some(step);
    }
    let endings = ["\"}}", "}}", "}"].into_iter().filter(|_| is_cut);
    endings.filter_map(whole).find(|step| matches!(step, Step::Answer(_)))
}

/// The text within a code fence, or all of it.
fn unfenced(text: &str) -> &str {
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

fn step_of(mut whole: Value) -> Option<Step> {
    let step = match whole.get_mut("step") {
        Some(step) => step,
        None => &mut whole,
    };
    let members = step.as_object_mut()?;
    if let Some(Value::String(name)) = members.get_mut("tool") {
        let name = std::mem::take(name);
        let arguments = members.get_mut("arguments").map_or_else(|| json!({}), Value::take);
        return Some(Step::Call { name, arguments });
    }
    match members.get_mut("answer")? {
        Value::String(text) => Some(Step::Answer(std::mem::take(text))),
        other => Some(Step::Answer(other.to_string())),
    }
}

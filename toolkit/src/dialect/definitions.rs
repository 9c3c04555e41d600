//! The tools of a toolbox in a dialect, and the way back from what a model says of them.

use super::calls::{self, CallFormatError, Found, Ids};
use super::read_back::read_back;
use super::schema::Loosened;
use super::stream::CallStream;
use super::{Dialect, names};
use crate::arguments;
use crate::call::{CallArguments, ToolCall};
use crate::definition::Definition;
use crate::discovery::Showing;
use crate::toolbox::Toolbox;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Tools as a provider is told of them. Reads the calls that come back, and writes their results.
///
/// It is made of one toolbox, and belongs to it: the names that a model sees may be others than the tools have. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Definitions {
    pub(super) dialect: Dialect,
    /// The provider's own tool that finds others, where it is to.
    finder: Option<Value>,
    /// As the tools define themselves, in the same order.
    sources: Arc<[Definition]>,
    tools: Arc<[DialectTool]>,
    /// The places of tools by the names that the model sees.
    by_shown: Arc<HashMap<String, usize>>,
    /// The same by the names that they have.
    by_name: Arc<HashMap<String, usize>>,
}

/// One tool as a provider is told of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DialectTool {
    /// What it is called here.
    pub name: String,
    /// What the model calls it: the same, where the provider takes that.
    pub shown_name: String,
    /// What the provider is told, as it stands in the request's list.
    pub definition: Value,
    /// Whether the model is held to the schema.
    pub strictness: Strictness,
    /// What the schema does not say there.
    pub loosened: Vec<Loosened>,
    /// The schema with marks, where the way back needs it.
    marked: Option<Value>,
    /// Whether its results are structured, as the Model Context Protocol wants to know.
    pub(super) is_structured: bool,
}

/// Whether a provider holds the model to a tool's schema.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strictness {
    /// The dialect is not strict.
    Plain,
    /// It does.
    Strict,
    /// It does not, though it was asked for: the schema cannot be said so.
    NotPossible(Loosened),
}

impl Dialect {
    /// These definitions in this dialect. Of two of the same name the second is left out.
    pub fn definitions(self, definitions: impl IntoIterator<Item = Definition>) -> Definitions {
        let mut seen = HashSet::new();
        let definitions: Vec<Definition> =
            definitions.into_iter().filter(|definition| seen.insert(definition.name.clone())).collect();
        let own: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
        let shown = names::shown(self, &own);
        let sources: Arc<[Definition]> = definitions.into();
        let tools: Arc<[DialectTool]> = sources
            .iter()
            .cloned()
            .zip(shown)
            .map(|(definition, shown)| self.tool(definition, shown))
            .collect();
        let places = |name: fn(&DialectTool) -> &String| {
            Arc::new(tools.iter().enumerate().map(|(place, tool)| (name(tool).clone(), place)).collect())
        };
        Definitions {
            dialect: self,
            finder: None,
            sources,
            by_shown: places(|tool| &tool.shown_name),
            by_name: places(|tool| &tool.name),
            tools,
        }
    }

    fn tool(self, definition: Definition, shown_name: String) -> DialectTool {
        let schema = self.schema(&definition.input_schema);
        let strictness = match (self.is_strict(), schema.not_strict) {
            (false, _) => Strictness::Plain,
            (true, None) => Strictness::Strict,
            (true, Some(why)) => Strictness::NotPossible(why),
        };
        let is_strict = strictness == Strictness::Strict;
        let is_structured = definition.output_schema.is_some();
        let parameters = schema.schema;
        let name = definition.name.clone();
        let description = definition.description.clone();
        let written = match self {
            Self::OpenAiChat | Self::OpenAiChatStrict => json!({
                "type": "function",
                "function": {
                    "name": shown_name,
                    "description": description,
                    "parameters": parameters,
                    "strict": is_strict,
                },
            }),
            // What says nothing is strict there.
            Self::OpenAiResponses | Self::OpenAiResponsesStrict => json!({
                "type": "function",
                "name": shown_name,
                "description": description,
                "parameters": parameters,
                "strict": is_strict,
            }),
            Self::Anthropic => {
                json!({"name": shown_name, "description": description, "input_schema": parameters})
            }
            Self::Gemini => gemini(&shown_name, &description, parameters),
            Self::Mcp => {
                let renamed = Definition { name: shown_name.clone(), ..definition };
                serde_json::to_value(renamed).expect("a definition is JSON")
            }
        };
        DialectTool {
            name,
            shown_name,
            definition: written,
            strictness,
            loosened: schema.loosened,
            marked: is_strict.then_some(schema.annotated),
            is_structured,
        }
    }
}

fn gemini(name: &str, description: &str, parameters: Value) -> Value {
    let mut function = Map::new();
    function.insert("name".into(), name.into());
    function.insert("description".into(), description.into());
    let takes_nothing = parameters.get("additionalProperties") == Some(&Value::Bool(false))
        && parameters.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty);
    // A function without parameters says nothing of them: an object without properties is refused.
    if !takes_nothing {
        function.insert("parametersJsonSchema".into(), parameters);
    }
    function.into()
}

impl Toolbox {
    /// The tools as a provider is told of them, by name.
    ///
    /// A tool whose types state a schema that is not valid is missing here; calling it says why.
    pub fn definitions_for(&self, dialect: Dialect) -> Definitions {
        dialect.definitions(self.definitions())
    }

    /// The same for a provider that finds tools itself, where this toolbox [leaves some to be found](crate::Discovery): every
    /// definition, with a mark at those that the provider is not to show from the beginning, and its own tool in place of `tool_search`.
    /// What is sent stays the same throughout a session, whatever is found.
    ///
    /// Anthropic's Messages and OpenAI's Responses do so (`defer_loading`); for the others it is
    /// [`definitions_for`](Self::definitions_for).
    pub fn definitions_deferring(&self, dialect: Dialect) -> Definitions {
        let Some(finder) = dialect.finder().filter(|_| self.defers()) else {
            return self.definitions_for(dialect);
        };
        let all = self.all_definitions().into_iter().filter(|(_, showing)| *showing != Showing::Search);
        let (mut deferred, shown): (Vec<_>, Vec<_>) =
            all.partition(|(_, showing)| showing.is_deferred_natively());
        // What was found stands elsewhere in that list.
        deferred.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let names: HashSet<String> = deferred.iter().map(|(definition, _)| definition.name.clone()).collect();
        let all = shown.into_iter().chain(deferred).map(|(definition, _)| definition);
        let mut definitions = dialect.definitions(all);
        let mut tools = definitions.tools.to_vec();
        for tool in tools.iter_mut().filter(|tool| names.contains(&tool.name)) {
            if let Value::Object(definition) = &mut tool.definition {
                definition.insert("defer_loading".into(), true.into());
            }
        }
        definitions.tools = tools.into();
        definitions.finder = Some(finder);
        definitions
    }
}

impl Definitions {
    /// The dialect.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the same tools in another dialect, for a model of another provider that goes on with a conversation. Every tool is shown there
    /// from the beginning.
    #[must_use]
    pub fn in_dialect(&self, dialect: Dialect) -> Self {
        if dialect == self.dialect { self.clone() } else { dialect.definitions(self.sources.iter().cloned()) }
    }

    /// The tools, in their order.
    pub fn tools(&self) -> &[DialectTool] {
        &self.tools
    }

    /// What goes into a request as `tools`; for the Model Context Protocol, into the answer to `tools/list`. No list at all goes in
    /// where there are no tools: most providers refuse an empty one.
    pub fn to_json(&self) -> Value {
        let definitions = self.finder.iter().chain(self.tools.iter().map(|tool| &tool.definition)).cloned();
        match self.dialect {
            Dialect::Gemini if self.tools.is_empty() => json!([]),
            Dialect::Gemini => json!([{"functionDeclarations": definitions.collect::<Vec<_>>()}]),
            _ => definitions.collect(),
        }
    }

    /// The tool that the model calls so.
    pub fn shown(&self, shown_name: &str) -> Option<&DialectTool> {
        self.by_shown.get(shown_name).map(|place| &self.tools[*place])
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&DialectTool> {
        self.by_name.get(name).map(|place| &self.tools[*place])
    }

    /// The calls in what a model answered, in its order: a response, a message, or a list of its items or parts. None where it calls
    /// nothing. What is unknown in it is passed over.
    ///
    /// Arguments that are no JSON are passed on: [`Toolbox::call`] tells the model what is wrong with them. A call without an id, or
    /// with that of another, gets one of its own. A name that no tool has is passed on too.
    ///
    /// # Errors
    ///
    /// When the provider says that it failed, or that it blocked the prompt. What is wrong with a call that is not of the dialect, and
    /// where; when there are more than [`MAX_CALLS`](super::MAX_CALLS), or
    /// arguments of more than [`MAX_ARGUMENT_BYTES`](super::MAX_ARGUMENT_BYTES); when the answer was cut off within a call.
    pub fn parse(&self, answer: &Value) -> Result<Vec<ToolCall>, CallFormatError> {
        Ok(self.calls(calls::find(self.dialect, answer)?))
    }

    /// Reads an answer that comes in fragments.
    pub fn stream(&self) -> CallStream {
        CallStream::new(self.clone())
    }

    /// Calls as the toolbox takes them.
    pub(super) fn calls(&self, found: Vec<Found>) -> Vec<ToolCall> {
        let mut ids = Ids::of(&found);
        let calls =
            found.into_iter().map(|Found { id, name, arguments }| self.call(ids.own(id), &name, arguments));
        calls.collect()
    }

    /// A call as the toolbox takes it, of the tool that the model calls so.
    pub(super) fn call(&self, id: String, shown_name: &str, arguments: CallArguments) -> ToolCall {
        let Some(tool) = self.shown(shown_name) else { return ToolCall::new(id, shown_name, arguments) };
        let arguments = match &tool.marked {
            None => arguments,
            Some(marked) => without_nulls(arguments, marked),
        };
        ToolCall::new(id, tool.name.clone(), arguments)
    }
}

/// Takes out what is `null` only since a strict schema wants it there. What is no JSON, or has a key twice, stays as it is.
fn without_nulls(arguments: CallArguments, marked: &Value) -> CallArguments {
    let parsed = match &arguments {
        CallArguments::Json(value) => Some(value.clone()),
        CallArguments::Text(text) => arguments::parse_unique(text),
    };
    let Some(mut value) = parsed else { return arguments };
    if read_back(&mut value, marked) { CallArguments::Json(value) } else { arguments }
}

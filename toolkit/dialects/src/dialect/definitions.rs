//! The tools of a toolbox in a dialect, and the conversion of the model's calls back to the tools.

use super::calls::{self, CallFormatError, Found, Ids};
use super::read_back::read_back;
use super::schema::SchemaLoss;
use super::{Dialect, names};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use toolkit_core::arguments;
use toolkit_core::call::{CallArguments, ToolCall};
use toolkit_core::definition::Definition;

/// The definitions of tools for a provider. They read the calls that the model makes, and write their results.
///
/// They are made from one toolbox, and belong to it: a tool's name for the model may differ from its own name. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Definitions {
    pub(super) dialect: Dialect,
    /// The provider's own tool search, if it is used.
    finder: Option<Value>,
    /// As the tools define themselves, in the same order.
    sources: Arc<[Definition]>,
    tools: Arc<[DialectTool]>,
    /// The indices of tools, by their names for the model.
    by_shown: Arc<HashMap<String, usize>>,
    /// The indices of tools, by their own names.
    by_name: Arc<HashMap<String, usize>>,
}

/// The definition of one tool for a provider.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DialectTool {
    /// The tool's own name.
    pub name: String,
    /// The name for the model: the same, if the provider accepts it.
    pub shown_name: String,
    /// The definition, as an entry of the request's list.
    pub definition: Value,
    /// The enforcement of the schema.
    pub strictness: Strictness,
    /// The parts of the schema that the definition does not express.
    pub loosened: Vec<SchemaLoss>,
    /// The schema with marks, if they are needed to convert arguments back.
    marked: Option<Value>,
    /// True if the results are structured, as declared in the Model Context Protocol.
    pub(super) is_structured: bool,
}

/// The enforcement of a tool's schema by the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strictness {
    /// The dialect is not strict.
    Plain,
    /// The schema is enforced.
    Strict,
    /// The schema is not enforced, although that was requested: it cannot be expressed strictly.
    NotPossible(SchemaLoss),
}

/// A tool as its definition for a provider is written.
pub(super) struct Described<'a> {
    /// The name for the model.
    pub(super) shown_name: &'a str,
    /// The tool's own definition.
    pub(super) definition: &'a Definition,
    /// The schema of the arguments, as far as the provider accepts it.
    pub(super) parameters: Value,
    /// True if the provider is asked to enforce the schema.
    pub(super) is_strict: bool,
}

impl Dialect {
    /// Returns these definitions in this dialect. Of two with the same name, the second is left out.
    pub fn definitions(self, definitions: impl IntoIterator<Item = Definition>) -> Definitions {
        let mut seen = HashSet::new();
        let definitions: Vec<Definition> =
            definitions.into_iter().filter(|definition| seen.insert(definition.name.clone())).collect();
        let own: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
        let shown = names::shown(self, &own);
        let sources: Arc<[Definition]> = definitions.into();
        let tools: Arc<[DialectTool]> =
            sources.iter().zip(shown).map(|(definition, shown)| self.tool(definition, shown)).collect();
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

    fn tool(self, definition: &Definition, shown_name: String) -> DialectTool {
        let schema = self.schema(&definition.input_schema);
        let strictness = match (self.is_strict(), schema.not_strict) {
            (false, _) => Strictness::Plain,
            (true, None) => Strictness::Strict,
            (true, Some(why)) => Strictness::NotPossible(why),
        };
        let is_strict = strictness == Strictness::Strict;
        let is_structured = definition.output_schema.is_some();
        let written = self.provider().definition(Described {
            shown_name: &shown_name,
            definition,
            parameters: schema.schema,
            is_strict,
        });
        DialectTool {
            name: definition.name.clone(),
            shown_name,
            definition: written,
            strictness,
            loosened: schema.loosened,
            marked: is_strict.then_some(schema.annotated),
            is_structured,
        }
    }
}

impl Definitions {
    /// Marks the tools of these names as ones that the provider is not to show from the beginning, and puts the provider's own tool
    /// that finds them before all others. Nothing changes where the provider has no such tool.
    #[doc(hidden)]
    #[must_use]
    pub fn deferring(mut self, names: &HashSet<String>) -> Self {
        let Some(finder) = self.dialect.provider().finder() else { return self };
        let mut tools = self.tools.to_vec();
        for tool in tools.iter_mut().filter(|tool| names.contains(&tool.name)) {
            if let Value::Object(definition) = &mut tool.definition {
                definition.insert("defer_loading".into(), true.into());
            }
        }
        self.tools = tools.into();
        self.finder = Some(finder);
        self
    }

    /// Returns the dialect.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the same tools in another dialect, for a model of another provider that goes on with a conversation. Every tool is shown there
    /// from the beginning.
    #[must_use]
    pub fn in_dialect(&self, dialect: Dialect) -> Self {
        if dialect == self.dialect { self.clone() } else { dialect.definitions(self.sources.iter().cloned()) }
    }

    /// Returns the tools, in their order.
    pub fn tools(&self) -> &[DialectTool] {
        &self.tools
    }

    /// Returns the list for `tools` in a request; for the Model Context Protocol, for the answer to `tools/list`. Leave `tools` out of a
    /// request if there are no tools: most providers refuse an empty list.
    pub fn to_json(&self) -> Value {
        let definitions = self.finder.iter().chain(self.tools.iter().map(|tool| &tool.definition)).cloned();
        self.dialect.provider().list(definitions.collect())
    }

    /// Returns the tool that the model knows by this name.
    pub fn shown(&self, shown_name: &str) -> Option<&DialectTool> {
        self.by_shown.get(shown_name).map(|place| &self.tools[*place])
    }

    /// Returns the tool with this name of its own.
    pub fn tool(&self, name: &str) -> Option<&DialectTool> {
        self.by_name.get(name).map(|place| &self.tools[*place])
    }

    /// Returns the calls in a model's answer, in its order: a response, a message, or a list of its items or parts. Empty if the model
    /// calls nothing. Unknown parts are ignored.
    ///
    /// Arguments that are no JSON are passed on: `Toolbox::call` tells the model what is wrong with them. A call without an id, or
    /// with that of another, gets one of its own. A name that no tool has is passed on too.
    ///
    /// # Errors
    ///
    /// When the provider reports that it failed, or that it blocked the prompt; when a call does not have the form of the dialect, with
    /// the place; when there are more than [`MAX_CALLS`](super::MAX_CALLS), or arguments of more than
    /// [`MAX_ARGUMENT_BYTES`](super::MAX_ARGUMENT_BYTES); when the answer was cut off within a call.
    pub fn parse(&self, answer: &Value) -> Result<Vec<ToolCall>, CallFormatError> {
        Ok(self.calls(calls::find(self.dialect, answer)?))
    }

    /// Converts found calls to calls of the toolbox.
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

/// Removes values that are `null` only because a strict schema requires them. Text that is no JSON, or has a duplicate key, is
/// unchanged.
fn without_nulls(arguments: CallArguments, marked: &Value) -> CallArguments {
    let parsed = match arguments.as_text() {
        Ok(text) => arguments::parse_unique(text),
        Err(value) => Some(value.clone()),
    };
    let Some(mut value) = parsed else { return arguments };
    if read_back(&mut value, marked) { CallArguments::Json(value) } else { arguments }
}

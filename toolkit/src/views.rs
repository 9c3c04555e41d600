//! Views of tools and their calls for user interfaces.

mod step;
mod steps;

pub use step::{Step, StepStatus, StepType};
pub use steps::{MAX_OPEN_STEPS, StepTypes, Steps};

use crate::tool::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit_core::definition::Definition;
use toolkit_core::error::ToolError;
use toolkit_core::schema::type_name;
use toolkit_core::source::Source;
use toolkit_dialects::dialect::for_people;

/// A tool in a list of a user interface.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::views::{ToolCategory, ToolDefinition};
///
/// /// Looks up the weather.
/// #[tool(read_only, title = "Weather")]
/// async fn weather(
///     /// Where.
///     city: String,
///     /// In how many days.
///     days: Option<u8>,
/// ) {}
///
/// # fn main() -> Result<(), ToolError> {
/// let view = ToolDefinition::of(&toolkit::tool_ref!(weather))?;
/// assert_eq!((view.id.as_str(), view.name.as_str()), ("weather", "Weather"));
/// assert_eq!(view.parameters[1].kind, "integer");
/// assert!(view.parameters[0].required && view.auto_execute && view.category == ToolCategory::Custom);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name of the tool.
    pub id: String,
    /// The display name.
    pub name: String,
    /// The description.
    pub description: String,
    /// The parameters.
    pub parameters: Vec<ToolParameter>,
    /// True if it can be used.
    pub enabled: bool,
    /// True if it runs without approval if no rule says otherwise.
    pub auto_execute: bool,
    /// The category of the tool.
    pub category: ToolCategory,
    /// An icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The source of the tool.
    pub source: Source,
    /// The id of its server, if it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// The name of that server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

/// A parameter of a tool in a user interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolParameter {
    /// Its name.
    pub name: String,
    /// Its type in a word, such as `string`; several are separated by `|`; `any` if it accepts every type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The description.
    pub description: String,
    /// True if it is required.
    pub required: bool,
    /// The allowed values, if they are enumerated.
    #[serde(rename = "enum", default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<Value>>,
}

/// The category of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolCategory {
    /// A tool of a core crate.
    Builtin,
    /// A tool of any other source.
    Custom,
    /// A tool of a server of the Model Context Protocol.
    Mcp,
}

impl From<&Source> for ToolCategory {
    fn from(source: &Source) -> Self {
        match source {
            Source::Core => Self::Builtin,
            Source::Mcp { .. } => Self::Mcp,
            _ => Self::Custom,
        }
    }
}

impl ToolDefinition {
    /// Creates the view of a tool.
    ///
    /// # Errors
    ///
    /// Returns an error if the types of its parameters produce an invalid schema.
    pub fn of(tool: &Tool) -> Result<Self, ToolError> {
        let source = tool.source().clone();
        let server = match &source {
            Source::Mcp { server } => Some(server.to_string()),
            _ => None,
        };
        Ok(Self {
            name: tool.title().to_owned(),
            // A server's or client's own attributes never let its tools run.
            auto_execute: !source.is_remote()
                && (tool.is_auto_execute() || tool.annotations().read_only_hint),
            category: ToolCategory::from(&source),
            icon: tool.icon().map(str::to_owned),
            server_id: server.clone(),
            server_name: server,
            source,
            ..Self::from(tool.definition()?)
        })
    }
}

impl From<Definition> for ToolDefinition {
    /// Creates the view of a tool of which only the definition is known: its source is the host.
    fn from(definition: Definition) -> Self {
        Self {
            name: definition.title.unwrap_or_else(|| definition.name.clone()),
            id: definition.name,
            description: definition.description,
            parameters: parameters(&definition.input_schema),
            enabled: true,
            auto_execute: definition.annotations.read_only_hint,
            category: ToolCategory::Custom,
            icon: None,
            source: Source::Runtime,
            server_id: None,
            server_name: None,
        }
    }
}

/// Returns the properties at the root of a schema, including those of its variants.
fn parameters(schema: &Value) -> Vec<ToolParameter> {
    let schema = for_people(schema);
    let is_required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|other| other == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| ToolParameter {
            name: name.clone(),
            kind: kind(property),
            description: property.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            required: is_required(name),
            options: options(property),
        })
        .collect()
}

fn options(property: &Value) -> Option<Vec<Value>> {
    match (property.get("const"), property.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn kind(property: &Value) -> String {
    let mut kinds: Vec<String> = Vec::new();
    add_kinds(property, &mut kinds);
    if kinds.is_empty() || kinds.iter().any(|kind| kind == "any") {
        "any".to_owned()
    } else {
        kinds.join(" | ")
    }
}

fn add_kinds(property: &Value, kinds: &mut Vec<String>) {
    let mut add = |kind: &str| {
        if !kinds.iter().any(|other| other == kind) {
            kinds.push(kind.to_owned());
        }
    };
    match property.get("type") {
        Some(Value::String(kind)) => return add(kind),
        Some(Value::Array(several)) => return several.iter().filter_map(Value::as_str).for_each(add),
        _ => {}
    }
    if let Some(values) = options(property) {
        for value in values {
            add(type_name(&value));
        }
        return;
    }
    let options = ["anyOf", "oneOf"].iter().find_map(|key| property.get(*key)?.as_array());
    match (options, property.get("allOf").and_then(Value::as_array)) {
        (Some(options), _) => options.iter().for_each(|option| add_kinds(option, kinds)),
        (None, Some(parts)) => {
            // Each part describes the property; the first with a type determines it.
            if let Some(part) = parts.iter().find(|part| part.get("type").is_some()) {
                add_kinds(part, kinds);
            }
        }
        (None, None) => add("any"),
    }
}

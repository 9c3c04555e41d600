//! Google's Gemini, through its own interface and Vertex AI.

mod calls;
mod failure;
mod render;

use super::Provider;
use crate::dialect::Definitions;
use crate::dialect::calls::{CallFormatError, Found, Reader};
use crate::dialect::definitions::Described;
use crate::dialect::names::NameRules;
use crate::dialect::render::{Said, content_parts};
use crate::dialect::schema::{Profile, Writing};
use serde_json::{Map, Value, json};
use toolkit_core::call::ToolResult;
use toolkit_core::content::Content;

/// Google's Gemini.
pub(in crate::dialect) struct Gemini;

/// "JSON Schema support" in the reference of the Gemini API: the keywords of `responseJsonSchema`, which are also those of
/// `parametersJsonSchema`. Gemini also accepts references, but they are replaced here: for a recursive reference its own,
/// undocumented limit of expansion would apply.
static PROFILE: Profile = Profile {
    writing: Writing::Flat { has_any_enum: false, has_places: true },
    keeps: &["minimum", "maximum", "minItems", "maxItems"],
    formats: Some(&["date-time", "date", "time"]),
    ..Profile::WHOLE
};

impl Provider for Gemini {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn names(&self) -> NameRules {
        NameRules { has_dots: true, begins_with_letter: true, ..NameRules::default() }
    }

    fn definition(&self, tool: Described<'_>) -> Value {
        let mut function = Map::new();
        function.insert("name".into(), tool.shown_name.into());
        function.insert("description".into(), tool.definition.description.as_str().into());
        let takes_nothing = tool.parameters.get("additionalProperties") == Some(&Value::Bool(false))
            && tool.parameters.get("properties").and_then(Value::as_object).is_some_and(Map::is_empty);
        // A function without parameters has no `parameters`: an object without properties would be refused.
        if !takes_nothing {
            function.insert("parametersJsonSchema".into(), tool.parameters);
        }
        function.into()
    }

    fn list(&self, definitions: Vec<Value>) -> Value {
        if definitions.is_empty() { json!([]) } else { json!([{"functionDeclarations": definitions}]) }
    }

    fn refuse_failure(&self, answer: &Value) -> Result<(), CallFormatError> {
        failure::refuse(answer)
    }

    fn find(&self, reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
        calls::find(reader, answer)
    }

    fn content(&self, content: &[Content]) -> Vec<Value> {
        content_parts(content).iter().map(render::part).collect()
    }

    fn results(&self, definitions: &Definitions, results: &[ToolResult]) -> Vec<Value> {
        render::results(definitions, results)
    }

    fn calls(&self, calls: Vec<Said<'_>>) -> Vec<Value> {
        render::calls(calls)
    }
}

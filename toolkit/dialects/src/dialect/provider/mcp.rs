//! The Model Context Protocol.

mod calls;
mod render;

use super::Provider;
use crate::dialect::Definitions;
use crate::dialect::calls::{CallFormatError, Found, Reader};
use crate::dialect::definitions::Described;
use crate::dialect::names::NameRules;
use crate::dialect::render::Said;
use crate::dialect::schema::{Profile, Writing};
use serde_json::Value;
use toolkit_core::call::ToolResult;
use toolkit_core::content::Content;

/// The Model Context Protocol.
pub(in crate::dialect) struct Mcp;

static PROFILE: Profile = Profile { writing: Writing::AsItIs, ..Profile::WHOLE };

impl Provider for Mcp {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn names(&self) -> NameRules {
        NameRules { max_bytes: 128, has_dots: true, ..NameRules::default() }
    }

    fn definition(&self, tool: Described<'_>) -> Value {
        let mut renamed = tool.definition.clone();
        tool.shown_name.clone_into(&mut renamed.name);
        renamed.input_schema = tool.parameters;
        serde_json::to_value(renamed).expect("a definition is JSON")
    }

    fn find(&self, reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
        calls::find(reader, answer)
    }

    fn content(&self, content: &[Content]) -> Vec<Value> {
        content.iter().filter_map(|block| serde_json::to_value(block).ok()).collect()
    }

    fn results(&self, definitions: &Definitions, results: &[ToolResult]) -> Vec<Value> {
        render::results(definitions, results)
    }

    fn calls(&self, calls: Vec<Said<'_>>) -> Vec<Value> {
        render::calls(calls)
    }
}

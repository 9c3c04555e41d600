//! Anthropic's Messages.

mod calls;
mod render;
mod stream;

use super::Provider;
use crate::dialect::Definitions;
use crate::dialect::calls::{CallFormatError, Found, Reader, error_of, failed};
use crate::dialect::definitions::Described;
use crate::dialect::render::{Said, content_parts};
use crate::dialect::schema::Profile;
use crate::dialect::stream::CallStream;
use serde_json::{Value, json};
use toolkit_core::call::ToolResult;
use toolkit_core::content::Content;

/// Anthropic's Messages.
pub(in crate::dialect) struct Anthropic;

/// "Tool use" in Anthropic's documentation: JSON Schema without references, without `oneOf`, `anyOf`, `allOf` at the root, and with
/// restricted property names.
static PROFILE: Profile = Profile {
    takes_name: |name| {
        (1..=64).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
    },
    ..Profile::WHOLE
};

impl Provider for Anthropic {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn definition(&self, tool: Described<'_>) -> Value {
        json!({"name": tool.shown_name, "description": tool.definition.description, "input_schema": tool.parameters})
    }

    /// "Tool search tool" in Anthropic's documentation, by BM25.
    fn finder(&self) -> Option<Value> {
        Some(json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}))
    }

    fn refuse_failure(&self, answer: &Value) -> Result<(), CallFormatError> {
        let Some(answer) = answer.as_object() else { return Ok(()) };
        let error = error_of(answer);
        let is_error = answer.get("type").and_then(Value::as_str) == Some("error");
        if is_error || error.is_some() { Err(failed(error)) } else { Ok(()) }
    }

    fn find(&self, reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
        calls::find(reader, answer)
    }

    fn push(&self, stream: &mut CallStream, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        stream.push_anthropic(reader, event)
    }

    fn distrusts_last_call(&self) -> bool {
        true
    }

    fn content(&self, content: &[Content]) -> Vec<Value> {
        content_parts(content).iter().map(render::block).collect()
    }

    fn results(&self, _: &Definitions, results: &[ToolResult]) -> Vec<Value> {
        render::results(results)
    }

    fn calls(&self, calls: Vec<Said<'_>>) -> Vec<Value> {
        render::calls(calls)
    }
}

//! OpenAI's Responses.

mod calls;
mod render;
mod stream;

use super::{Provider, openai};
use crate::dialect::Definitions;
use crate::dialect::calls::{CallFormatError, Found, Reader, error_of, failed, told};
use crate::dialect::definitions::Described;
use crate::dialect::render::{Said, content_parts};
use crate::dialect::schema::Profile;
use crate::dialect::stream::CallStream;
use serde_json::{Value, json};
use toolkit_core::call::ToolResult;
use toolkit_core::content::Content;

/// OpenAI's Responses.
pub(in crate::dialect) struct Responses {
    pub(in crate::dialect) is_strict: bool,
}

impl Provider for Responses {
    fn profile(&self) -> &'static Profile {
        openai::profile(self.is_strict)
    }

    fn definition(&self, tool: Described<'_>) -> Value {
        // In this interface, a definition without `strict` is strict.
        json!({
            "type": "function",
            "name": tool.shown_name,
            "description": tool.definition.description,
            "parameters": tool.parameters,
            "strict": tool.is_strict,
        })
    }

    /// "Tool search" in OpenAI's documentation, run by the provider.
    fn finder(&self) -> Option<Value> {
        Some(json!({"type": "tool_search"}))
    }

    fn refuse_failure(&self, answer: &Value) -> Result<(), CallFormatError> {
        let Some(answer) = answer.as_object() else { return Ok(()) };
        let kind = answer.get("type").and_then(Value::as_str).unwrap_or_default();
        let response = answer.get("response").and_then(Value::as_object);
        let has_failed = kind == "response.failed"
            || [Some(answer), response]
                .into_iter()
                .flatten()
                .any(|response| response.get("status").and_then(Value::as_str) == Some("failed"));
        match error_of(answer).or_else(|| response.and_then(error_of)) {
            Some(error) => Err(failed(Some(error))),
            None if kind == "error" => Err(told(answer)),
            None if has_failed => Err(failed(None)),
            None => Ok(()),
        }
    }

    fn find(&self, reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
        calls::find(reader, answer)
    }

    fn push(&self, stream: &mut CallStream, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        stream.push_responses(reader, event)
    }

    fn content(&self, content: &[Content]) -> Vec<Value> {
        content_parts(content).iter().map(render::part).collect()
    }

    fn results(&self, _: &Definitions, results: &[ToolResult]) -> Vec<Value> {
        render::results(results)
    }

    fn calls(&self, calls: Vec<Said<'_>>) -> Vec<Value> {
        render::calls(calls)
    }
}

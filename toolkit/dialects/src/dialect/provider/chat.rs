//! OpenAI's Chat Completions, and compatible interfaces.

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

/// OpenAI's Chat Completions.
pub(in crate::dialect) struct Chat {
    pub(in crate::dialect) is_strict: bool,
}

impl Provider for Chat {
    fn profile(&self) -> &'static Profile {
        openai::profile(self.is_strict)
    }

    fn definition(&self, tool: Described<'_>) -> Value {
        json!({
            "type": "function",
            "function": {
                "name": tool.shown_name,
                "description": tool.definition.description,
                "parameters": tool.parameters,
                "strict": tool.is_strict,
            },
        })
    }

    fn refuse_failure(&self, answer: &Value) -> Result<(), CallFormatError> {
        let Some(answer) = answer.as_object() else { return Ok(()) };
        match error_of(answer) {
            Some(error) => Err(failed(Some(error))),
            None if answer.get("object").and_then(Value::as_str) == Some("error") => Err(told(answer)),
            None => Ok(()),
        }
    }

    fn find(&self, reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
        calls::find(reader, answer)
    }

    fn push(&self, stream: &mut CallStream, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        stream.push_chat(reader, event)
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

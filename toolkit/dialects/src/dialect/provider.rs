//! The interfaces of model providers, each in a module of its own behind the trait [`Provider`]. No other module depends on a
//! provider.

mod anthropic;
mod chat;
mod gemini;
mod mcp;
mod openai;
mod responses;

pub(super) use anthropic::Anthropic;
pub(super) use chat::Chat;
pub(super) use gemini::Gemini;
pub(super) use mcp::Mcp;
pub(super) use responses::Responses;

use super::Definitions;
use super::calls::{CallFormatError, Found, Reader};
use super::definitions::Described;
use super::names::NameRules;
use super::render::Said;
use super::schema::Profile;
use super::stream::CallStream;
use serde_json::Value;
use toolkit_core::call::ToolResult;
use toolkit_core::content::Content;

/// The interface of a provider: how it takes definitions and results, and how its models call tools.
pub(super) trait Provider: Sync {
    /// Returns the JSON Schema features that the provider accepts.
    fn profile(&self) -> &'static Profile;

    /// Returns the rules for names of tools.
    fn names(&self) -> NameRules {
        NameRules::default()
    }

    /// Returns the definition of one tool.
    fn definition(&self, tool: Described<'_>) -> Value;

    /// Returns the list of a request, from the definitions of its tools.
    fn list(&self, definitions: Vec<Value>) -> Value {
        definitions.into()
    }

    /// Returns the provider's own tool that finds tools whose definitions are not shown, if it has one.
    fn finder(&self) -> Option<Value> {
        None
    }

    /// Returns an error if the provider reports a failure: in place of an answer, or in an event of a stream.
    fn refuse_failure(&self, answer: &Value) -> Result<(), CallFormatError> {
        let _ = answer;
        Ok(())
    }

    /// Finds the calls in a complete answer.
    fn find(&self, reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError>;

    /// Reads an event of a streamed answer. By default, an event contains complete calls, as an answer does.
    fn push(&self, stream: &mut CallStream, reader: Reader, event: &Value) -> Result<(), CallFormatError> {
        stream.push_found(self.find(reader, event)?)
    }

    /// Returns true if the last call of an answer that was cut off may be incomplete although its arguments are complete JSON.
    fn distrusts_last_call(&self) -> bool {
        false
    }

    /// Returns content as the parts of a message of the user.
    fn content(&self, content: &[Content]) -> Vec<Value>;

    /// Returns results as the next part of the conversation.
    fn results(&self, definitions: &Definitions, results: &[ToolResult]) -> Vec<Value>;

    /// Returns calls as the message of the model that made them. There is at least one call.
    fn calls(&self, calls: Vec<Said<'_>>) -> Vec<Value>;
}

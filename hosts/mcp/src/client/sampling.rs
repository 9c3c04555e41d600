//! Sampling: requests of a server to this end's model, in the versions of the protocol that have it.

#![expect(deprecated, reason = "servers ask for it in the versions up to 2025-11-25")]

use super::visible;
use rmcp::ErrorData;
use rmcp::model::{CreateMessageRequestParams, CreateMessageResult};
use serde_json::Value;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use toolkit::{Ask, Caller, ToolContext, descriptor::Source};

/// The kind of permission to use the model.
const KIND: &str = "mcp_sampling";
/// Maximum number of characters of a server's messages that the user is shown.
const MAX_SHOWN: usize = 8_000;

/// A model that servers may use, each time a person lets them.
pub trait Sampling: fmt::Debug + Send + Sync {
    /// Requests an answer from the model for the caller of the tool that the server works for. `request` has the parameters of the
    /// protocol's `sampling/createMessage`, and the returned value is its result.
    ///
    /// # Errors
    ///
    /// Why there is no answer. The server gets it.
    fn create_message<'a>(&'a self, caller: &'a Caller, request: &'a Value) -> SamplingAnswer<'a>;
}

/// Future returned by [`Sampling::create_message`].
pub type SamplingAnswer<'a> = Pin<Box<dyn Future<Output = Result<Value, String>> + Send + 'a>>;

/// Requests an answer from the model, with the user's approval.
pub(super) async fn answer(
    (source, server): (&Source, &str),
    model: &Arc<dyn Sampling>,
    context: &ToolContext,
    params: CreateMessageRequestParams,
) -> Result<CreateMessageResult, ErrorData> {
    let unreadable = |error| ErrorData::invalid_params(format!("the request cannot be read: {error}"), None);
    let mut request = serde_json::to_value(&params).map_err(unreadable)?;
    visible::json(&mut request);
    if request.get("tools").is_some_and(|tools| !tools.is_null()) || has_tool_blocks(&request["messages"]) {
        return Err(ErrorData::invalid_params("this client's model takes no tools", None));
    }
    let mut ask = Ask::new(KIND, format!("let {source} use your model"))
        .with_pattern(server)
        .with_text("says to it", said(&request["messages"]))
        .with_text("at most", format!("{} tokens", params.max_tokens))
        .raised()
        .once_only();
    if let Some(system) = &params.system_prompt {
        ask = ask.with_text("system prompt", shortened(system));
    }
    // The reason for a refusal is not sent to the server.
    context.ask_in_person(ask).await.map_err(|error| {
        tracing::info!(server, "it may not use the model: {error}");
        ErrorData::invalid_request("the user did not let this server use the model", None)
    })?;
    let answer = model.create_message(context.caller(), &request).await;
    let answer = answer.map_err(|why| ErrorData::internal_error(why, None))?;
    serde_json::from_value(answer).map_err(|error| {
        ErrorData::internal_error(format!("the model's answer is no message: {error}"), None)
    })
}

/// Returns true if a message has content about tools, which this client does not declare support for.
fn has_tool_blocks(messages: &Value) -> bool {
    let is_of_tools = |block: &Value| matches!(block["type"].as_str(), Some("tool_use" | "tool_result"));
    messages.as_array().into_iter().flatten().any(|message| match &message["content"] {
        Value::Array(blocks) => blocks.iter().any(is_of_tools),
        block => is_of_tools(block),
    })
}

/// Returns the text of the messages for the user to read.
fn said(messages: &Value) -> String {
    let blocks = |content: &Value| match content {
        Value::Array(blocks) => blocks.clone(),
        block => vec![block.clone()],
    };
    let text = |block: &Value| match block["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("[{}]", block["type"].as_str().unwrap_or("something else")),
    };
    let each = messages.as_array().into_iter().flatten().map(|message| {
        let texts: Vec<String> = blocks(&message["content"]).iter().map(text).collect();
        format!("{}: {}", message["role"].as_str().unwrap_or_default(), texts.join("\n"))
    });
    shortened(&each.collect::<Vec<_>>().join("\n"))
}

/// Truncates a text to its beginning and end, with a note on the omitted middle.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_SHOWN {
        return text.to_owned();
    }
    let half = MAX_SHOWN / 2;
    let begins: String = text.chars().take(half).collect();
    let ends: String = text.chars().skip(count - half).collect();
    format!("{begins}\n… {} characters …\n{ends}", count - 2 * half)
}

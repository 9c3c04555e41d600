//! Failures that a provider reports instead of an answer, or in the middle of one.

use super::CallFormatError;
use crate::dialect::Dialect;
use serde_json::{Map, Value};
use toolkit_core::escape::escape_line;

/// The most characters of a provider's message that are repeated.
const LONGEST: usize = 1000;

/// Refuses data in which the provider reports a failure: a body instead of an answer, an event of a stream, a choice with an
/// error.
pub(in crate::dialect) fn refuse_failure(dialect: Dialect, answer: &Value) -> Result<(), CallFormatError> {
    let answer = match (dialect, answer) {
        (_, Value::Object(members)) => members,
        // Gemini sends a list if an answer is streamed without server-sent events.
        (Dialect::Gemini, Value::Array(answers)) => {
            return answers.iter().try_for_each(|answer| match answer {
                Value::Object(_) => refuse_failure(dialect, answer),
                _ => Ok(()),
            });
        }
        _ => return Ok(()),
    };
    let error = answer.get("error").filter(|error| says_something(error));
    let kind = answer.get("type").and_then(Value::as_str).unwrap_or_default();
    match dialect {
        Dialect::OpenAiChat | Dialect::OpenAiChatStrict => match error {
            Some(error) => Err(failed(Some(error))),
            None if answer.get("object").and_then(Value::as_str) == Some("error") => Err(told(answer)),
            None => Ok(()),
        },
        Dialect::OpenAiResponses | Dialect::OpenAiResponsesStrict => {
            let response = answer.get("response").unwrap_or(&Value::Null);
            let has_failed = kind == "response.failed"
                || [Some(answer), response.as_object()]
                    .into_iter()
                    .flatten()
                    .any(|response| response.get("status").and_then(Value::as_str) == Some("failed"));
            match error.or_else(|| response.get("error").filter(|error| says_something(error))) {
                Some(error) => Err(failed(Some(error))),
                None if kind == "error" => Err(told(answer)),
                None if has_failed => Err(failed(None)),
                None => Ok(()),
            }
        }
        Dialect::Anthropic if kind == "error" || error.is_some() => Err(failed(error)),
        Dialect::Anthropic | Dialect::Mcp => Ok(()),
        Dialect::Gemini => match error {
            Some(error) => Err(failed(Some(error))),
            None => refuse_blocked(answer).and_then(|()| refuse_unread(answer)),
        },
    }
}

/// Refuses the empty answer that Gemini sends to a prompt that it blocks.
fn refuse_blocked(answer: &Map<String, Value>) -> Result<(), CallFormatError> {
    let of = |value: &Value, keys: [&str; 2]| -> Option<String> {
        keys.iter().find_map(|key| value.get(*key)?.as_str().map(str::to_owned))
    };
    let feedback = ["promptFeedback", "prompt_feedback"].iter().find_map(|key| answer.get(*key));
    let Some(feedback) = feedback else { return Ok(()) };
    let Some(reason) = of(feedback, ["blockReason", "block_reason"]) else { return Ok(()) };
    let message = match of(feedback, ["blockReasonMessage", "block_reason_message"]) {
        Some(text) if !text.is_empty() => format!("the prompt was blocked: {text} ({reason})"),
        _ => format!("the prompt was blocked ({reason})"),
    };
    Err(CallFormatError::Provider { message: line(&message) })
}

/// Refuses an answer with a call that Gemini could not parse, which it leaves out. Of several candidates, only the first is
/// read.
fn refuse_unread(answer: &Map<String, Value>) -> Result<(), CallFormatError> {
    let candidate = match answer.get("candidates") {
        Some(candidates) => candidates.get(0).and_then(Value::as_object),
        None => Some(answer),
    };
    let text =
        |keys: [&str; 2]| keys.iter().find_map(|key| candidate?.get(*key)?.as_str()).unwrap_or_default();
    let reason = text(["finishReason", "finish_reason"]);
    let what = match reason {
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => "the model's call of a tool cannot be read",
        "TOO_MANY_TOOL_CALLS" => "the model called too many tools",
        "MALFORMED_RESPONSE" => "the model's answer cannot be read",
        "MISSING_THOUGHT_SIGNATURE" => "the signature of a thought is missing from the request",
        _ => return Ok(()),
    };
    let message = match text(["finishMessage", "finish_message"]) {
        "" => format!("{what} ({reason})"),
        text => format!("{what}: {text} ({reason})"),
    };
    Err(CallFormatError::Provider { message: line(&message) })
}

/// Returns true if there is an error: some servers send an empty error if there is none.
fn says_something(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    }
}

/// Returns the error that a provider reports.
pub(in crate::dialect) fn failed(error: Option<&Value>) -> CallFormatError {
    match error {
        Some(Value::Object(members)) => told(members),
        Some(Value::String(text)) => CallFormatError::Provider { message: line(text) },
        _ => CallFormatError::Provider { message: "it does not say which".to_owned() },
    }
}

/// Returns the text of an error object with a message and a code.
fn told(error: &Map<String, Value>) -> CallFormatError {
    let text = |key: &str| match error.get(key)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    // The name of a status is more informative than its number.
    let kind = || text("type").filter(|kind| kind != "error");
    let code = text("status").or_else(|| text("code")).or_else(kind);
    let message = match (text("message"), code) {
        (Some(message), Some(code)) => format!("{message} ({code})"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => "it does not say which".to_owned(),
    };
    CallFormatError::Provider { message: line(&message) }
}

fn line(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    let rest = if short.len() < text.len() { "…" } else { "" };
    format!("{}{rest}", escape_line(&short))
}

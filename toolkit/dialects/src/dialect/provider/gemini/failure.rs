//! Failures that Gemini reports instead of an answer.

use crate::dialect::calls::{CallFormatError, error_of, failed, provider_error};
use serde_json::{Map, Value};

/// Refuses data in which Gemini reports a failure. It sends a list if an answer is streamed without server-sent events.
pub(super) fn refuse(answer: &Value) -> Result<(), CallFormatError> {
    match answer {
        Value::Array(answers) => answers.iter().filter_map(Value::as_object).try_for_each(refuse_one),
        Value::Object(answer) => refuse_one(answer),
        _ => Ok(()),
    }
}

fn refuse_one(answer: &Map<String, Value>) -> Result<(), CallFormatError> {
    match error_of(answer) {
        Some(error) => Err(failed(Some(error))),
        None => refuse_blocked(answer).and_then(|()| refuse_unread(answer)),
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
    Err(provider_error(&message))
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
    Err(provider_error(&message))
}

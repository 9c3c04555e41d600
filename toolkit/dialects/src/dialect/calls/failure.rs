//! Failures that a provider reports instead of an answer, or in the middle of one.

use super::CallFormatError;
use serde_json::{Map, Value};
use toolkit_core::escape::escape_line;

/// The most characters of a provider's message that are repeated.
const LONGEST: usize = 1000;

/// Returns the error that an answer contains: some servers send an empty error if there is none.
pub(in crate::dialect) fn error_of(answer: &Map<String, Value>) -> Option<&Value> {
    answer.get("error").filter(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => true,
    })
}

/// Returns the error that a provider reports.
pub(in crate::dialect) fn failed(error: Option<&Value>) -> CallFormatError {
    match error {
        Some(Value::Object(members)) => told(members),
        Some(Value::String(text)) => provider_error(text),
        _ => provider_error("it does not say which"),
    }
}

/// Returns the error of an error object with a message and a code.
pub(in crate::dialect) fn told(error: &Map<String, Value>) -> CallFormatError {
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
    provider_error(&message)
}

/// Returns an error with this message, in one line of bounded length.
pub(in crate::dialect) fn provider_error(message: &str) -> CallFormatError {
    let short: String = message.chars().take(LONGEST).collect();
    let rest = if short.len() < message.len() { "…" } else { "" };
    CallFormatError::Provider { message: format!("{}{rest}", escape_line(&short)) }
}

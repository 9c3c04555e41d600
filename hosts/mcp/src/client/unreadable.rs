//! Answers of servers that cannot be read: each becomes an error of the request that it answers.

use super::surrogates;
use crate::scan::{MAX_LEVELS, Scan};
use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use serde_json::error::Category;
use serde_json::json;

/// The key in the data of an error that marks it as made here, with the reason as its value.
const MARK: &str = "toolkit/unreadable";

/// Parses a message.
///
/// # Errors
///
/// Why it cannot be read, to go after "the answer".
pub(super) fn parse(bytes: &[u8]) -> Result<RxJsonRpcMessage<RoleClient>, String> {
    let parsed = serde_json::from_slice(bytes).or_else(|error| match surrogates::replaced(bytes) {
        Some(repaired) => serde_json::from_slice(&repaired),
        None => Err(error),
    });
    parsed.map_err(|error| {
        if let Err(error) = std::str::from_utf8(bytes) {
            return format!("is not valid UTF-8 (at byte {})", error.valid_up_to());
        }
        match error.classify() {
            _ if Scan::of(bytes).is_too_deep() => too_deep(),
            Category::Data => "is not a message of JSON-RPC".to_owned(),
            _ => format!("is not valid JSON ({error})"),
        }
    })
}

/// Returns the reason for which a message that is too long is not read.
pub(super) fn too_long(limit: usize) -> String {
    format!("has more than {limit} bytes, the limit for one message")
}

/// Returns the reason for which a message with too many levels is not read.
pub(super) fn too_deep() -> String {
    format!("has more than {MAX_LEVELS} levels of nested JSON")
}

/// Creates the error for a request whose answer cannot be read.
pub(super) fn error(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    let data = json!({ MARK: why });
    let message = format!("the answer {why}");
    JsonRpcMessage::error(ErrorData::new(ErrorCode::PARSE_ERROR, message, Some(data)), Some(id))
}

/// Returns the reason for which an answer could not be read, if this error was created for one.
pub(super) fn reason(error: &ErrorData) -> Option<&str> {
    error.data.as_ref()?.get(MARK)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_does_not_discard_the_message() {
        let text = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a\ud83d b"}]}}"#;
        let message = serde_json::to_string(&parse(text).unwrap()).unwrap();
        assert!(message.contains("a\u{fffd} b"), "{message}");
    }

    #[test]
    fn reasons_are_words() {
        let deep = format!(r#"{{"id":1,"result":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        for (text, expected) in [
            (deep.as_bytes(), "has more than 127 levels of nested JSON"),
            (b"{\"a\": \"\xff\"}", "is not valid UTF-8 (at byte 7)"),
            (br#"{"id": 1, "result""#, "is not valid JSON (EOF while parsing an object at line 1 column 18)"),
            (br#"{"id": 1}"#, "is not a message of JSON-RPC"),
            (b"[]", "is not a message of JSON-RPC"),
        ] {
            assert_eq!(parse(text).unwrap_err(), expected);
        }
        let ServerJsonRpcMessage::Error(made) = error(RequestId::Number(3), "is bad") else { panic!() };
        assert_eq!((reason(&made.error), made.id), (Some("is bad"), Some(RequestId::Number(3))));
    }
}

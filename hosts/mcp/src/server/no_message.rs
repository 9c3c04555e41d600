//! The error for text from a client that is not a message of the protocol.

use super::faults::{INITIALIZE, refusal};
use crate::scan::{MAX_LEVELS, Scan};
use rmcp::model::{CustomRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::{Map, Value};
use toolkit::memory::{self, OutOfMemory};

/// The size of a message from which on its memory is looked at. Smaller ones take at most some megabytes, however they are made.
const SMALL: usize = 64 << 10;

/// Returns the number of bytes that a message may take once it is read. Nothing is looked at for a small one.
pub(crate) fn memory_of(message: &[u8]) -> u64 {
    if message.len() < SMALL { 0 } else { memory::of_json(message) }
}

/// Returns the response to text that rmcp does not read as a message: the error of a request if it is one, else an error without ID.
pub(crate) fn response(bytes: &[u8]) -> ServerJsonRpcMessage {
    let (error, id) = match serde_json::from_slice(bytes) {
        Ok(Value::Object(message)) => of_object(message),
        Ok(Value::Array(_)) => (invalid("batches are not supported; send each message alone"), None),
        Ok(_) => (invalid("a message is a JSON object"), None),
        Err(error) => {
            let scan = Scan::of(bytes);
            let why = if scan.is_too_deep() {
                format!("it has more than {MAX_LEVELS} levels of nested JSON")
            } else {
                format!("it is not valid JSON: {error}")
            };
            (unreadable(&why), id_of_request(&scan))
        }
    };
    ServerJsonRpcMessage::error(error, id)
}

/// Returns the response to a message with more bytes than `limit`, of which `scan` read all.
pub(crate) fn too_long(scan: &Scan, limit: usize) -> ServerJsonRpcMessage {
    let why = format!("it has more than {limit} bytes, the limit for one message");
    ServerJsonRpcMessage::error(unreadable(&why), id_of_request(scan))
}

/// Returns the response to a message for which there is not enough memory.
pub(crate) fn no_memory(scan: &Scan, full: OutOfMemory) -> ServerJsonRpcMessage {
    let error =
        ErrorData::internal_error(format!("there is not enough memory for the message: {full}"), None);
    ServerJsonRpcMessage::error(error, id_of_request(scan))
}

/// Returns the ID, unless the message is a response: the ID then belongs to a request of this server.
fn id_of_request(scan: &Scan) -> Option<RequestId> {
    scan.id().filter(|_| scan.has_method).cloned()
}

fn of_object(mut message: Map<String, Value>) -> (ErrorData, Option<RequestId>) {
    let Some(Value::String(method)) = message.remove("method") else {
        return (invalid("it has no `method`, and is not a response to a request of this server"), None);
    };
    let id = match message.remove("id").map(serde_json::from_value) {
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return (invalid("`id` must be a string or an integer"), None),
        None => None,
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return (invalid("`jsonrpc` must be \"2.0\""), id);
    }
    // rmcp reads a request with any object as parameters, of unknown methods too.
    let params = message.remove("params");
    let is_request = id.is_some() && params.as_ref().is_some_and(|params| !params.is_object());
    if is_request || method == INITIALIZE {
        return (refusal(&CustomRequest::new(method, params)), id);
    }
    (invalid("it is neither a request nor a notification of the protocol"), id)
}

fn invalid(why: &str) -> ErrorData {
    ErrorData::invalid_request(format!("invalid message: {why}"), None)
}

fn unreadable(why: &str) -> ErrorData {
    ErrorData::new(ErrorCode::PARSE_ERROR, format!("the message cannot be read: {why}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_memory_of_a_small_message_is_not_looked_at() {
        let text = |count: usize| format!("[{}0]", "0,".repeat(count));
        assert_eq!(memory_of(text(1).as_bytes()), 0);
        let large = text(SMALL);
        assert_eq!(memory_of(large.as_bytes()), memory::of_json(large.as_bytes()));
    }

    #[test]
    fn the_error_says_what_is_wrong_and_belongs_to_the_request() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"a","arguments":{{"a":{}1{}}}}}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        for (text, code, id, said) in [
            (
                r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[1]}"#,
                -32602,
                json!(4),
                "invalid parameters of `tools/call`: an object is expected",
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":5}"#,
                -32602,
                json!("a"),
                "invalid parameters of `ping`",
            ),
            (
                r#"{"jsonrpc":"2.0","id":4,"method":"nope","params":[]}"#,
                -32601,
                json!(4),
                "there is no method `nope`",
            ),
            (r#"{"jsonrpc":"1.0","id":4,"method":"ping"}"#, -32600, json!(4), "`jsonrpc` must be \"2.0\""),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                -32600,
                Value::Null,
                "`id` must be a string or an integer",
            ),
            (r#"{"jsonrpc":"2.0","id":4,"result":5}"#, -32600, Value::Null, "it has no `method`"),
            ("{}", -32600, Value::Null, "it has no `method`"),
            ("[]", -32600, Value::Null, "batches are not supported"),
            ("5", -32600, Value::Null, "a message is a JSON object"),
            ("{bad", -32700, Value::Null, "it is not valid JSON"),
            (r#"{"id":7,"method":"ping","params":{"#, -32700, json!(7), "it is not valid JSON"),
            (r#"{"id":7,"result":{"#, -32700, Value::Null, "it is not valid JSON"),
            (&deep, -32700, json!(9), "it has more than 127 levels of nested JSON"),
        ] {
            let response = serde_json::to_value(response(text.as_bytes())).unwrap();
            assert_eq!(
                (&response["error"]["code"], &response["id"]),
                (&json!(code), &id),
                "{text}: {response}"
            );
            assert!(response["error"]["message"].as_str().unwrap().contains(said), "{text}: {response}");
        }
        let scan = Scan::of(br#"{"id":3,"method":"tools/call","params":{"#);
        let response = serde_json::to_value(too_long(&scan, 10)).unwrap();
        assert_eq!((&response["error"]["code"], &response["id"]), (&json!(-32700), &json!(3)), "{response}");
    }
}

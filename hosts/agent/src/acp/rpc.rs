//! JSON-RPC 2.0: the kinds of messages, and errors.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A message of the editor.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        outcome: Result<Value, Fault>,
    },
    /// It is no message; the answer says why.
    Invalid {
        id: Value,
        fault: Fault,
    },
}

/// An error of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) code: i64,
    pub(super) message: String,
}

impl Fault {
    pub(super) const PARSE: i64 = -32700;
    pub(super) const REQUEST: i64 = -32600;
    pub(super) const METHOD: i64 = -32601;
    pub(super) const PARAMS: i64 = -32602;
    pub(super) const INTERNAL: i64 = -32603;
    /// A session or another thing that the request names does not exist.
    pub(super) const NOT_FOUND: i64 = -32002;

    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::new(Self::PARAMS, message)
    }
}

/// Reads a line.
pub(super) fn parse(line: &[u8]) -> Incoming {
    let invalid =
        |id: Value, code, message: String| Incoming::Invalid { id, fault: Fault::new(code, message) };
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return invalid(Value::Null, Fault::PARSE, format!("the line is not JSON: {error}")),
    };
    let Value::Object(mut message) = value else {
        return invalid(Value::Null, Fault::REQUEST, "a message is a JSON object, one a line".to_owned());
    };
    let id = message.remove("id");
    let shown = id.clone().filter(is_id).unwrap_or_default();
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return invalid(shown, Fault::REQUEST, "`id` has to be a string or a number".to_owned());
    }
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(shown, Fault::REQUEST, "`jsonrpc` has to be \"2.0\"".to_owned());
    }
    match (message.remove("method"), id) {
        (Some(Value::String(method)), id) => {
            let params = message.remove("params").unwrap_or_default();
            match id {
                Some(id) => Incoming::Request { id, method, params },
                None => Incoming::Notification { method, params },
            }
        }
        (None, Some(id)) if message.contains_key("result") || message.contains_key("error") => {
            let outcome = match message.remove("error").filter(|error| !error.is_null()) {
                Some(error) => Err(Fault {
                    code: error.get("code").and_then(Value::as_i64).unwrap_or(Fault::INTERNAL),
                    message: error.get("message").and_then(Value::as_str).unwrap_or("no message").to_owned(),
                }),
                None => Ok(message.remove("result").unwrap_or_default()),
            };
            Incoming::Response { id, outcome }
        }
        _ => invalid(shown, Fault::REQUEST, "a message has a `method`, or a `result` or `error`".to_owned()),
    }
}

fn is_id(id: &Value) -> bool {
    matches!(id, Value::String(_) | Value::Number(_) | Value::Null)
}

/// Reads the parameters of a method. Absent ones are an empty object.
pub(super) fn params<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, Fault> {
    let params = if params.is_null() { Value::Object(Map::new()) } else { params };
    serde_json::from_value(params)
        .map_err(|error| Fault::params(format!("the parameters of `{method}` do not fit: {error}")))
}

pub(super) fn answer(id: &Value, outcome: &Result<Value, Fault>) -> String {
    let message = match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": fault.code, "message": fault.message}})
        }
    };
    message.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_says_why() {
        for (line, id, code) in [
            ("{", Value::Null, Fault::PARSE),
            ("\u{0}", Value::Null, Fault::PARSE),
            ("[]", Value::Null, Fault::REQUEST),
            ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}]", Value::Null, Fault::REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"x\"}", Value::Null, Fault::REQUEST),
            ("{\"id\":7,\"method\":\"x\"}", json!(7), Fault::REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":8}", json!(7), Fault::REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":\"a\"}", json!("a"), Fault::REQUEST),
            ("{\"jsonrpc\":\"2.0\"}", Value::Null, Fault::REQUEST),
        ] {
            match parse(line.as_bytes()) {
                Incoming::Invalid { id: found, fault } => {
                    assert_eq!((found, fault.code), (id, code), "{line}");
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn messages_are_told_apart() {
        let parsed = |value: Value| parse(value.to_string().as_bytes());
        let (method, params) = ("x".to_owned(), json!([1]));
        assert_eq!(
            parsed(json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": [1]})),
            Incoming::Request { id: json!(1), method: method.clone(), params: params.clone() }
        );
        assert_eq!(
            parsed(json!({"jsonrpc": "2.0", "method": "x"})),
            Incoming::Notification { method, params: Value::Null }
        );
        assert_eq!(
            parsed(json!({"jsonrpc": "2.0", "id": 1, "result": null})),
            Incoming::Response { id: json!(1), outcome: Ok(Value::Null) }
        );
        assert_eq!(
            parsed(json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}})),
            Incoming::Response { id: json!(1), outcome: Err(Fault::new(-1, "no")) }
        );
    }
}

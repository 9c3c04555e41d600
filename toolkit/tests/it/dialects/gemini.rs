//! Answers of Gemini: lists of whole responses, and ends that mean that a call failed.

use super::properties::definition;
use serde_json::{Value, json};
use toolkit::dialects::{CallFormatError, Dialect};

fn names(answer: &Value) -> Result<Vec<String>, CallFormatError> {
    let definitions = Dialect::Gemini.definitions([definition("t", &json!({"type": "object"}))]);
    Ok(definitions.parse(answer)?.into_iter().map(|call| call.name).collect())
}

/// A candidate that calls a tool.
fn calling(name: &str) -> Value {
    json!({"content": {"role": "model", "parts": [{"text": "hm"}, {"functionCall": {"name": name, "args": {}}}]}})
}

#[test]
fn the_calls_of_each_response_of_a_list_are_found() {
    let call = |name: &str| json!({"functionCall": {"name": name}});
    for (answer, expected) in [
        (json!([{"candidates": [calling("a")]}, {"candidates": [calling("b")]}]), vec!["a", "b"]),
        (json!([{"candidates": [calling("a"), calling("c")]}, {"usageMetadata": {}}]), vec!["a"]),
        (json!([calling("a"), calling("b")]), vec!["a", "b"]),
        (json!([{"role": "model", "parts": [call("a"), call("b")]}]), vec!["a", "b"]),
        (json!([call("a"), {"text": "hm"}, call("b")]), vec!["a", "b"]),
        (json!([{"candidates": null}, {"content": null}, {"candidates": []}]), vec![]),
    ] {
        assert_eq!(names(&answer).unwrap(), expected, "{answer}");
    }
    let wrong = json!([{"candidates": [calling("a")]}, {"candidates": [{"content": {"parts": 5}}]}]);
    let error = names(&wrong).unwrap_err().to_string();
    assert!(error.contains("`/1/candidates/0/content/parts` should be a list"), "{error}");
}

#[test]
fn an_end_that_means_a_failed_call_is_an_error() {
    for reason in [
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
    ] {
        let mut failed = calling("a");
        failed["finishReason"] = reason.into();
        for answer in [
            json!({"candidates": [failed, calling("b")]}),
            json!([{"candidates": [calling("b")]}, {"candidates": [failed]}]),
            failed.clone(),
        ] {
            let error = names(&answer).unwrap_err();
            assert!(matches!(error, CallFormatError::Provider { .. }), "{answer}: {error:?}");
            assert!(error.to_string().contains(reason), "{answer}: {error}");
        }
        // Only the first candidate is read.
        assert_eq!(names(&json!({"candidates": [calling("b"), failed]})).unwrap(), ["b"]);
    }
    for reason in ["STOP", "MAX_TOKENS", "SAFETY"] {
        let mut ended = calling("a");
        ended["finishReason"] = reason.into();
        assert_eq!(names(&json!({"candidates": [ended]})).unwrap(), ["a"], "{reason}");
    }
}

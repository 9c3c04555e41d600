//! Checks what a tool returns.

use super::Findings;
use serde_json::Value;

/// Reports lists of bytes: in JSON, each byte is a number of its own.
pub(super) fn check(schema: &Value, findings: &mut Findings) {
    if has_bytes(schema) {
        let message = "it returns bytes as a list of numbers, which a model reads one by one; return an `Image`, `Content` \
                       such as `Content::audio(bytes, \"audio/wav\")`, or a text in base64";
        findings.add("bytes-as-numbers", "output", message.to_owned());
    }
}

fn has_bytes(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.get("items").is_some_and(is_byte) || members.values().any(has_bytes)
        }
        Value::Array(items) => items.iter().any(has_bytes),
        _ => false,
    }
}

/// Returns true for the schema of an `u8`.
fn is_byte(schema: &Value) -> bool {
    let is = |key: &str, value: u64| schema.get(key).and_then(Value::as_u64) == Some(value);
    schema.get("type").is_some_and(|kind| kind == "integer") && is("minimum", 0) && is("maximum", 255)
}

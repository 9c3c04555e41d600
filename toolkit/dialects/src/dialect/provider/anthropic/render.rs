//! Anthropic's Messages: all results in one message of the user.

use crate::dialect::render::{Part, Said, non_empty, object, parts};
use data_encoding::BASE64;
use serde_json::{Value, json};
use toolkit_core::call::ToolResult;

pub(super) fn results(results: &[ToolResult]) -> Vec<Value> {
    if results.is_empty() {
        return Vec::new();
    }
    let blocks: Vec<Value> = results
        .iter()
        .map(|result| {
            let mut content: Vec<Value> = parts(result).iter().map(block).collect();
            if content.is_empty() {
                content.push(json!({"type": "text", "text": non_empty("")}));
            }
            let mut block = object([
                ("type", "tool_result".into()),
                ("tool_use_id", result.id.as_str().into()),
                ("content", content.into()),
            ]);
            if result.is_error() {
                block.insert("is_error".into(), true.into());
            }
            block.into()
        })
        .collect();
    vec![json!({"role": "user", "content": blocks})]
}

pub(super) fn block(part: &Part<'_>) -> Value {
    let source =
        |data: &[u8], kind: &str| json!({"type": "base64", "media_type": kind, "data": BASE64.encode(data)});
    match part {
        Part::Image(data, kind) if takes_picture(kind) => {
            json!({"type": "image", "source": source(data, kind)})
        }
        Part::File(data, kind, uri) if kind == "application/pdf" => {
            json!({"type": "document", "source": source(data, kind), "title": uri})
        }
        other => json!({"type": "text", "text": non_empty(&other.named())}),
    }
}

pub(super) fn calls(calls: Vec<Said<'_>>) -> Vec<Value> {
    let blocks: Vec<Value> = calls
        .into_iter()
        .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.object()}))
        .collect();
    vec![json!({"role": "assistant", "content": blocks})]
}

/// Returns true if Anthropic accepts a picture, by "Vision" in its documentation.
fn takes_picture(kind: &str) -> bool {
    matches!(kind, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

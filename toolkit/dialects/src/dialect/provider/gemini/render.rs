//! Gemini: all results in one content, followed by pictures and sounds as separate parts.

use crate::dialect::Definitions;
use crate::dialect::calls::is_made;
use crate::dialect::render::{Part, Said, non_empty, object, parts};
use data_encoding::BASE64;
use serde_json::{Value, json};
use toolkit_core::call::ToolResult;

pub(super) fn results(definitions: &Definitions, results: &[ToolResult]) -> Vec<Value> {
    if results.is_empty() {
        return Vec::new();
    }
    let mut shown = Vec::new();
    let mut all: Vec<Value> = results
        .iter()
        .map(|result| {
            let mut texts = Vec::new();
            for part in parts(result) {
                match media(&part) {
                    None => texts.push(part.named()),
                    Some(media) => {
                        texts.push("[it follows these results as a part of its own]".to_owned());
                        shown.push(media);
                    }
                }
            }
            let key = if result.is_error() { "error" } else { "output" };
            let response = object([(key, non_empty(&texts.join("\n")).into())]);
            let mut function = object([("name", definitions.shown_name(&result.name).as_ref().into())]);
            if !is_made(&result.id) {
                function.shift_insert(0, "id".into(), result.id.as_str().into());
            }
            function.insert("response".into(), response.into());
            json!({ "functionResponse": function })
        })
        .collect();
    all.append(&mut shown);
    vec![json!({"role": "user", "parts": all})]
}

fn media(part: &Part<'_>) -> Option<Value> {
    match part {
        Part::Image(data, kind) | Part::Audio(data, kind) if takes_file(kind) => Some(inline(data, kind)),
        Part::File(data, kind, _) if kind == "application/pdf" => Some(inline(data, kind)),
        Part::Text(_) | Part::Image(..) | Part::Audio(..) | Part::File(..) => None,
    }
}

pub(super) fn part(part: &Part<'_>) -> Value {
    media(part).unwrap_or_else(|| json!({"text": part.named()}))
}

fn inline(data: &[u8], kind: &str) -> Value {
    json!({"inlineData": {"mimeType": kind, "data": BASE64.encode(data)}})
}

pub(super) fn calls(calls: Vec<Said<'_>>) -> Vec<Value> {
    let parts: Vec<Value> = calls
        .into_iter()
        .map(|call| {
            let mut function = object([("name", call.name.as_ref().into()), ("args", call.object())]);
            if !is_made(call.id) {
                function.shift_insert(0, "id".into(), call.id.into());
            }
            json!({ "functionCall": function })
        })
        .collect();
    vec![json!({"role": "model", "parts": parts})]
}

/// Returns true if Gemini accepts a file, by "Image understanding" and "Audio understanding" in its
/// documentation, and that of Vertex AI.
fn takes_file(kind: &str) -> bool {
    matches!(
        kind,
        "image/png"
            | "image/jpeg"
            | "image/webp"
            | "image/heic"
            | "image/heif"
            | "audio/wav"
            | "audio/mpeg"
            | "audio/aiff"
            | "audio/aac"
            | "audio/ogg"
            | "audio/flac"
            | "audio/m4a"
            | "audio/mp4"
            | "audio/opus"
            | "audio/pcm"
            | "audio/webm"
    )
}

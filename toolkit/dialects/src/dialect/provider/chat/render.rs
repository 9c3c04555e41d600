//! OpenAI's Chat Completions. A tool message contains text only, so pictures and sounds are sent in a user message, which must
//! follow all tool messages.

use crate::dialect::provider::openai::takes_picture;
use crate::dialect::render::{Part, Said, data_url, file_name, non_empty, parts};
use data_encoding::BASE64;
use serde_json::{Value, json};
use toolkit_core::call::ToolResult;

pub(super) fn results(results: &[ToolResult]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut shown = Vec::new();
    for result in results {
        let mut texts = Vec::new();
        let mut own = Vec::new();
        for part in parts(result) {
            match (&part, media(&part)) {
                (_, None) => texts.push(part.named()),
                (part, Some(media)) => {
                    let what = if matches!(part, Part::Audio(..)) { "sound" } else { "picture" };
                    texts.push(format!("[a {what}; it follows in a message of the user]"));
                    own.push(media);
                }
            }
        }
        if !own.is_empty() {
            let from = format!("From the result of `{}` ({}):", result.name, result.id);
            shown.push(json!({"type": "text", "text": from}));
            shown.append(&mut own);
        }
        let text = non_empty(&texts.join("\n"));
        messages.push(json!({"role": "tool", "tool_call_id": result.id, "content": text}));
    }
    if !shown.is_empty() {
        messages.push(json!({"role": "user", "content": shown}));
    }
    messages
}

fn media(part: &Part<'_>) -> Option<Value> {
    match part {
        Part::Image(data, kind) if takes_picture(data, kind) => {
            Some(json!({"type": "image_url", "image_url": {"url": data_url(data, kind)}}))
        }
        Part::Audio(data, kind) => {
            let format = match kind.as_str() {
                "audio/wav" => "wav",
                "audio/mpeg" => "mp3",
                _ => return None,
            };
            let data = BASE64.encode(data);
            Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
        }
        Part::Text(_) | Part::Image(..) | Part::File(..) => None,
    }
}

/// A part of a message of the user.
pub(super) fn part(part: &Part<'_>) -> Value {
    match part {
        Part::File(data, kind, uri) if kind == "application/pdf" => {
            json!({"type": "file", "file": {"filename": file_name(uri), "file_data": data_url(data, kind)}})
        }
        part => media(part).unwrap_or_else(|| json!({"type": "text", "text": part.named()})),
    }
}

pub(super) fn calls(calls: Vec<Said<'_>>) -> Vec<Value> {
    let calls: Vec<Value> = calls
        .into_iter()
        .map(|call| {
            let function = json!({"name": call.name, "arguments": call.text()});
            json!({"id": call.id, "type": "function", "function": function})
        })
        .collect();
    vec![json!({"role": "assistant", "content": null, "tool_calls": calls})]
}

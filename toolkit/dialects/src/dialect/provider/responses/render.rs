//! OpenAI's Responses: an item for each result.

use crate::dialect::provider::openai::takes_picture;
use crate::dialect::render::{Part, Said, data_url, file_name, non_empty, parts};
use serde_json::{Value, json};
use toolkit_core::call::ToolResult;

pub(super) fn results(results: &[ToolResult]) -> Vec<Value> {
    results
        .iter()
        .map(|result| json!({"type": "function_call_output", "call_id": result.id, "output": output(&parts(result))}))
        .collect()
}

fn output(parts: &[Part<'_>]) -> Value {
    if parts.iter().all(|part| media(part).is_none()) {
        let texts: Vec<String> = parts.iter().map(Part::named).collect();
        return non_empty(&texts.join("\n")).into();
    }
    parts.iter().map(part).collect()
}

pub(super) fn part(part: &Part<'_>) -> Value {
    media(part).unwrap_or_else(|| json!({"type": "input_text", "text": part.named()}))
}

fn media(part: &Part<'_>) -> Option<Value> {
    match part {
        Part::Image(data, kind) if takes_picture(data, kind) => {
            Some(json!({"type": "input_image", "image_url": data_url(data, kind), "detail": "auto"}))
        }
        Part::File(data, kind, uri) if kind == "application/pdf" => {
            Some(json!({"type": "input_file", "filename": file_name(uri), "file_data": data_url(data, kind)}))
        }
        Part::Text(_) | Part::Image(..) | Part::Audio(..) | Part::File(..) => None,
    }
}

pub(super) fn calls(calls: Vec<Said<'_>>) -> Vec<Value> {
    calls
        .into_iter()
        .map(|call| {
            json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.text()})
        })
        .collect()
}

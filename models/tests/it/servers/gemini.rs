//! `streamGenerateContent`, by the reference of the Gemini API and its guides to function calling and thought signatures.

use super::{
    Faults, IMAGES, Issued, Received, Said, SaidPart, SaidStop, event, is_base64, items, pieces, str_of,
};
use serde_json::{Value, json};

/// The placeholder for a missing signature, as the provider's documentation names it.
const SKIP: &str = "skip_thought_signature_validator";

pub(crate) fn check(request: &Received, issued: &Issued, faults: &mut Faults) {
    let body = &request.body;
    faults.unless(request.path.ends_with(":streamGenerateContent?alt=sse"), || {
        format!("path {}", request.path)
    });
    faults.unless(request.path.contains("/models/"), || format!("path {}", request.path));
    for tools in items(&body["tools"]) {
        faults.unless(!items(&tools["functionDeclarations"]).is_empty(), || format!("tools {tools}"));
    }
    let contents = items(&body["contents"]);
    let is_of = |place: usize, role: &str| contents.get(place).is_some_and(|content| content["role"] == role);
    faults.unless(is_of(0, "user") && is_of(contents.len().wrapping_sub(1), "user"), || {
        "the user is not first and last".to_owned()
    });
    for (place, content) in contents.iter().enumerate() {
        faults.unless(is_of(place, if place % 2 == 0 { "user" } else { "model" }), || {
            format!("roles do not alternate at {place}")
        });
        let parts = items(&content["parts"]);
        faults.unless(!parts.is_empty(), || format!("content {place} is empty"));
        for part in parts {
            check_part(part, content["role"] == "user", faults);
        }
        let of = |parts: &[Value], key: &str| -> Vec<(Value, Value)> {
            parts
                .iter()
                .filter_map(|part| part.get(key))
                .map(|call| (call["id"].clone(), call["name"].clone()))
                .collect()
        };
        let calls = of(parts, "functionCall");
        if content["role"] == "model" {
            let next = contents.get(place + 1).map(|next| items(&next["parts"])).unwrap_or_default();
            let results = of(&next[..calls.len().min(next.len())], "functionResponse");
            faults.unless(results == calls, || format!("calls {calls:?}, results {results:?}"));
            faults.unless(of(next, "functionResponse").len() == calls.len(), || {
                format!("results without calls at {place}")
            });
            let first = parts.iter().find(|part| part.get("functionCall").is_some());
            if let Some(first) = first {
                let signature = str_of(first, "thoughtSignature");
                let expected =
                    issued.reasoning.get(str_of(&first["functionCall"], "id")).and_then(|all| all.last());
                let is_right = match expected {
                    Some((_, expected)) => signature == expected,
                    None => {
                        signature == SKIP
                            || signature.is_empty()
                                && issued.reasoning.contains_key(str_of(&first["functionCall"], "id"))
                    }
                };
                faults.unless(is_right, || format!("signature `{signature}` of {first}"));
            }
        } else if place == 0 {
            faults.unless(of(parts, "functionResponse").is_empty(), || "results without calls".to_owned());
        }
    }
}

fn check_part(part: &Value, is_users: bool, faults: &mut Faults) {
    let inline = &part["inlineData"];
    let is_right = if part.get("text").is_some() {
        !str_of(part, "text").is_empty() || part.get("thoughtSignature").is_some()
    } else if part.get("inlineData").is_some() {
        IMAGES.contains(&str_of(inline, "mimeType")) && is_base64(str_of(inline, "data"))
    } else if let Some(call) = part.get("functionCall") {
        !is_users && call["name"].is_string() && call["args"].is_object()
    } else if let Some(result) = part.get("functionResponse") {
        let response = &result["response"];
        is_users
            && result["name"].is_string()
            && (response["output"].is_string() || response["error"].is_string())
    } else {
        false
    };
    faults.unless(is_right, || format!("part {part}"));
}

/// The events of an answer. `bytes` is the size of fragments. The signature of reasoning stands with the first call, else with the text.
pub(crate) fn events(said: &Said, bytes: usize) -> Vec<String> {
    let send = |parts: Vec<Value>| {
        event(None, &json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "m"}).to_string())
    };
    let mut signature = None;
    let mut events = Vec::new();
    for part in &said.parts {
        match part {
            SaidPart::Text(text) => {
                events
                    .extend(pieces(text, bytes).into_iter().map(|piece| send(vec![json!({"text": piece})])));
            }
            SaidPart::Reasoning(text, own) => {
                events.extend(
                    pieces(text, bytes)
                        .into_iter()
                        .map(|piece| send(vec![json!({"text": piece, "thought": true})])),
                );
                signature = Some(own);
            }
            SaidPart::Image(data) => {
                events.push(send(vec![json!({"inlineData": {"mimeType": "image/png", "data": data}})]));
            }
            SaidPart::Call(id, name, arguments) => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
                let mut part = json!({"functionCall": {"id": id, "name": name, "args": arguments}});
                if let Some(signature) = signature.take() {
                    part["thoughtSignature"] = signature.as_str().into();
                }
                events.push(send(vec![part]));
            }
        }
    }
    if let Some(signature) = signature {
        events.push(send(vec![json!({"text": "", "thoughtSignature": signature})]));
    }
    let finish = match said.stop {
        SaidStop::End => "STOP",
        SaidStop::Limit => "MAX_TOKENS",
        SaidStop::Filter => "SAFETY",
    };
    let mut last = json!({"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": finish, "index": 0}]});
    if let Some((input, cached, output)) = said.usage {
        last["usageMetadata"] = json!({"promptTokenCount": input, "cachedContentTokenCount": cached, "candidatesTokenCount": output - 1,
            "thoughtsTokenCount": 1, "totalTokenCount": input + output});
    }
    events.push(event(None, &last.to_string()));
    events
}

pub(crate) fn error() -> String {
    event(
        None,
        &json!({"error": {"code": 503, "message": "The model is overloaded", "status": "UNAVAILABLE"}})
            .to_string(),
    )
}

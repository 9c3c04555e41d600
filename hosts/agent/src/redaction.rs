//! Removal of the configuration's secrets, such as the key of a model, from transcripts, events and accounts: a server may repeat a
//! key in an answer, and a tool may read one.

use data_encoding::BASE64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolkit::text::Redactor;

/// The words for a secret.
const REDACTED: &str = "[redacted]";
/// The members that identify something or say of which kind it is. Without them, a line could not be read, or a result would lose its call.
const FIXED: [&str; 20] = [
    "callId",
    "dialect",
    "digest",
    "how",
    "id",
    "insteadOf",
    "kind",
    "messageId",
    "open",
    "parent",
    "record",
    "role",
    "run",
    "session",
    "sessionId",
    "status",
    "stop",
    "stopReason",
    "toolCallId",
    "transcript",
];
/// The members of a provider's own message that do so.
const FIXED_RAW: [&str; 6] = ["call_id", "id", "role", "status", "tool_call_id", "tool_use_id"];
/// The members that have any JSON value, in which a number may be a secret, too.
const ANY: [&str; 4] = ["arguments", "args", "input", "toolAgentResult"];

/// A secret is in something that cannot be read any more without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret of the configuration is in it and cannot be redacted")]
pub(crate) struct Unredactable;

/// Returns a value without named secrets; `None` if it has none. Ids, and what says of which kind something is, stay as they are.
pub(crate) fn without_secrets<T: Serialize + DeserializeOwned>(
    redactor: &Redactor,
    value: &T,
) -> Result<Option<T>, Unredactable> {
    if !redactor.has_named() {
        return Ok(None);
    }
    let text = serde_json::to_string(value).map_err(|_| Unredactable)?;
    if !redactor.finds_named(&text) {
        return Ok(None);
    }
    // Not from the text: that may be nested deeper than a parser allows.
    let mut json = serde_json::to_value(value).map_err(|_| Unredactable)?;
    redact(redactor, &mut json, Part::Own);
    serde_json::from_value(json).map(Some).map_err(|_| Unredactable)
}

/// Whose members an object has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Those of this program: numbers are counts and ids.
    Own,
    /// Those of a provider.
    Raw,
}

fn redact(redactor: &Redactor, value: &mut Value, part: Part) {
    match value {
        Value::Object(members) => redact_members(redactor, members, part),
        Value::Array(items) => items.iter_mut().for_each(|item| redact(redactor, item, part)),
        Value::Number(_) if part == Part::Own => {}
        _ => redactor.redact_named(value),
    }
}

fn redact_members(redactor: &Redactor, members: &mut Map<String, Value>, part: Part) {
    // The kind of a failure.
    let has_kind_of_error = members.get("record").is_some_and(|record| record == "result");
    for (name, value) in members {
        let fixed = if part == Part::Own { &FIXED[..] } else { &FIXED_RAW[..] };
        match (&**name, &mut *value) {
            (name, Value::String(_)) if name == "type" || fixed.contains(&name) => {}
            ("error", Value::String(_)) if has_kind_of_error => {}
            // Lists of ids.
            ("consumes" | "consumed" | "ids", Value::Array(_)) if part == Part::Own => {}
            // Pairs of an id and what it is of.
            ("ended", Value::Array(ended)) if part == Part::Own => {
                let of_ids = ended.iter_mut().filter_map(|pair| pair.get_mut(1));
                of_ids.for_each(|of_id| redact(redactor, of_id, part));
            }
            ("data" | "blob", Value::String(text)) if part == Part::Own => {
                if redactor.finds_named(text) {
                    *text = BASE64.encode(REDACTED.as_bytes());
                }
            }
            (name, _) if ANY.contains(&name) => redactor.redact_named(value),
            ("raw", Value::Object(raw)) if part == Part::Own => {
                if let Some(message) = raw.get_mut("value") {
                    redact(redactor, message, Part::Raw);
                }
            }
            _ => redact(redactor, value, part),
        }
    }
}

/// Redacts a text that comes in pieces, a secret that crosses pieces included.
#[derive(Debug, Default)]
pub(crate) struct StreamRedaction {
    /// The end of the text so far, if it may be the beginning of a secret.
    held: String,
}

impl StreamRedaction {
    /// Takes a piece, and returns the text that can be shown now.
    pub(crate) fn push(&mut self, redactor: &Redactor, piece: String) -> String {
        if !redactor.has_named() {
            return piece;
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(&piece);
        let mut text = serde_json::Value::String(text);
        redactor.redact_named(&mut text);
        let serde_json::Value::String(mut text) = text else { return String::new() };
        let begun = redactor.begun_named(&text);
        self.held = text.split_off(text.len() - begun);
        text
    }

    /// Returns the rest at the end of the text.
    pub(crate) fn end(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Kind, Record};
    use serde_json::json;

    #[test]
    fn a_secret_in_pieces_is_never_shown() {
        let redactor = Redactor::new().value("sk-123456");
        let text = "the key is sk-123456, not sk-12 nor s";
        for size in 1..text.len() {
            let mut stream = StreamRedaction::default();
            let pieces = text.as_bytes().chunks(size).map(|piece| String::from_utf8(piece.to_vec()).unwrap());
            let mut shown: String = pieces.map(|piece| stream.push(&redactor, piece)).collect();
            shown.push_str(&stream.end());
            assert_eq!(shown, "the key is [redacted], not sk-12 nor s", "{size}");
        }
    }

    #[test]
    fn a_value_without_secrets_is_left_alone() {
        let redactor = Redactor::new().value("sk-\"123");
        let with = vec!["a sk-\"123".to_owned(), "b".to_owned()];
        let redacted = vec!["a [redacted]".to_owned(), "b".to_owned()];
        assert_eq!(without_secrets(&redactor, &with), Ok(Some(redacted)));
        assert_eq!(without_secrets(&redactor, &vec!["a".to_owned()]), Ok(None));
        assert_eq!(without_secrets(&Redactor::new(), &with), Ok(None));
    }

    /// The record of an answer with one call, as its JSON.
    fn answer(id: &str, arguments: &Value) -> Value {
        let call = toolkit::ToolCall::new(id, "look", arguments.clone());
        let answer = toolkit_models::Answer::calls([call]);
        serde_json::to_value(Record::Answer { id: 1, turn: 0, answer: Box::new(answer) }).unwrap()
    }

    fn redacted(redactor: &Redactor, record: Value) -> Value {
        let record: Record = serde_json::from_value(record).unwrap();
        serde_json::to_value(without_secrets(redactor, &record).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn a_secret_is_found_at_any_depth() {
        let redactor = Redactor::new().value("sk-123456");
        for depth in [10, 127, 128, 500] {
            let deep = (0..depth).fold(json!("sk-123456"), |inner, _| json!([inner]));
            let text = redacted(&redactor, answer("1", &deep)).to_string();
            assert!(!text.contains("123456") && text.contains("[redacted]"), "{depth}: {text}");
        }
    }

    #[test]
    fn a_secret_that_is_a_number_is_redacted_in_arguments_alone() {
        let redactor = Redactor::new().value("123456");
        let mut record = answer("1", &json!({"pin": 123_456, "123456": "a"}));
        record["answer"]["usage"] = json!({"inputTokens": 123_456, "outputTokens": 1});
        let redacted = redacted(&redactor, record);
        let call = &redacted["answer"]["message"]["content"][0];
        assert_eq!(call["arguments"], json!({"pin": "[redacted]", "[redacted]": "a"}));
        assert_eq!(redacted["answer"]["usage"]["inputTokens"], 123_456);
    }

    #[test]
    fn ids_and_kinds_stay_as_they_are() {
        // Words of the format, and parts of ids, are bad passwords, but somebody's.
        for secret in ["answer", "tool_call", "call-7"] {
            let redactor = Redactor::new().value(secret);
            let record = redacted(&redactor, answer("call-7", &json!({"text": format!("it is {secret}")})));
            let call = &record["answer"]["message"]["content"][0];
            assert_eq!((&record["record"], &call["id"]), (&json!("answer"), &json!("call-7")));
            assert_eq!(call["arguments"]["text"], "it is [redacted]");
        }
    }

    #[test]
    fn a_providers_own_message_keeps_its_ids() {
        let redactor = Redactor::new().value("call-7");
        let mut record = answer("call-7", &json!({}));
        let input = json!({"id": "call-7", "pin": "call-7"});
        let block =
            json!({"type": "tool_use", "id": "call-7", "name": "look", "input": input, "text": "call-7"});
        record["answer"]["message"]["raw"] =
            json!({"dialect": "anthropic", "model": "m", "value": {"role": "assistant", "content": [block]}});
        let redacted = redacted(&redactor, record);
        let block = &redacted["answer"]["message"]["raw"]["value"]["content"][0];
        assert_eq!((&block["id"], &block["text"]), (&json!("call-7"), &json!("[redacted]")));
        assert_eq!(block["input"], json!({"id": "[redacted]", "pin": "[redacted]"}));
    }

    #[test]
    fn a_picture_with_a_secret_in_its_code_is_left_out() {
        let redactor = Redactor::new().value("AQIDBA");
        let message = toolkit_models::Message::User(toolkit_models::UserMessage {
            content: vec![toolkit::Content::image([1, 2, 3, 4], "image/png")],
        });
        let record = Record::Message { id: 1, kind: Kind::Task, message, consumes: Vec::new() };
        let record = without_secrets(&redactor, &record).unwrap().unwrap();
        let json = serde_json::to_value(record).unwrap();
        let data = json["message"]["content"][0]["data"].as_str().unwrap();
        assert_eq!(BASE64.decode(data.as_bytes()).unwrap(), REDACTED.as_bytes());
    }
}

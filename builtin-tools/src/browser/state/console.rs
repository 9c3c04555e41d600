//! Messages of a page's console.

use super::cut;
use serde_json::Value;
use std::collections::VecDeque;

/// The most messages that are kept of a tab.
const MAX_MESSAGES: usize = 200;

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::browser) enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

impl Level {
    pub(in crate::browser) fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::browser) struct Message {
    pub(in crate::browser) level: Level,
    pub(in crate::browser) text: String,
}

/// The last messages of a tab.
#[derive(Debug, Default)]
pub(in crate::browser) struct Console {
    messages: VecDeque<Message>,
    /// How many were dropped, being too old.
    pub(in crate::browser) dropped: usize,
}

impl Console {
    fn push(&mut self, level: Level, text: &str) {
        if self.messages.len() == MAX_MESSAGES {
            self.messages.pop_front();
            self.dropped += 1;
        }
        self.messages.push_back(Message { level, text: cut(text) });
    }

    /// Takes all messages.
    pub(in crate::browser) fn take(&mut self) -> Vec<Message> {
        self.dropped = 0;
        self.messages.drain(..).collect()
    }

    pub(in crate::browser) fn errors(&self) -> usize {
        self.messages.iter().filter(|message| message.level == Level::Error).count()
    }

    /// Of `Runtime.consoleAPICalled`.
    pub(super) fn called(&mut self, params: &Value) {
        let level = match params["type"].as_str().unwrap_or_default() {
            "error" | "assert" => Level::Error,
            "warning" => Level::Warning,
            "debug" => Level::Debug,
            "clear" | "endGroup" | "profile" | "profileEnd" => return,
            _ => Level::Info,
        };
        let arguments = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
        let words: Vec<String> = arguments.iter().map(shown).collect();
        self.push(level, &words.join(" "));
    }

    /// Of `Runtime.exceptionThrown`.
    pub(super) fn thrown(&mut self, params: &Value) {
        self.push(Level::Error, &exception(&params["exceptionDetails"]));
    }

    /// Of `Log.entryAdded`.
    pub(super) fn logged(&mut self, entry: &Value) {
        let level = match entry["level"].as_str().unwrap_or_default() {
            "error" => Level::Error,
            "warning" => Level::Warning,
            "verbose" => Level::Debug,
            _ => Level::Info,
        };
        let text = entry["text"].as_str().unwrap_or_default();
        match entry["url"].as_str() {
            Some(url) if !url.is_empty() => self.push(level, &format!("{text} ({url})")),
            _ => self.push(level, text),
        }
    }
}

/// An exception as a console shows it.
pub(in crate::browser) fn exception(details: &Value) -> String {
    let description = details["exception"]["description"].as_str();
    let value = || match &details["exception"]["value"] {
        Value::Null => None,
        value => Some(format!("uncaught {value}")),
    };
    let text = description.map(ToOwned::to_owned).or_else(value);
    text.unwrap_or_else(|| details["text"].as_str().unwrap_or("an exception").to_owned())
}

/// A value of the page as a console shows it.
fn shown(argument: &Value) -> String {
    if let Some(text) = argument["value"].as_str() {
        return text.to_owned();
    }
    if let Some(properties) = argument["preview"]["properties"].as_array() {
        let pairs: Vec<String> = properties
            .iter()
            .map(|property| {
                let text = |key: &str| property[key].as_str().unwrap_or_default();
                format!("{}: {}", text("name"), text("value"))
            })
            .collect();
        return format!("{{{}}}", pairs.join(", "));
    }
    match (&argument["value"], &argument["unserializableValue"], &argument["description"]) {
        (Value::Null, Value::String(text), _) | (Value::Null, _, Value::String(text)) => text.clone(),
        (Value::Null, ..) => argument["type"].as_str().unwrap_or("null").replace("object", "null"),
        (value, ..) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn messages_are_shown_as_a_console_shows_them() {
        let mut console = Console::default();
        console.called(&json!({ "type": "log", "args": [
            { "type": "string", "value": "a" }, { "type": "number", "value": 5 }, { "type": "undefined" },
            { "type": "object", "subtype": "null", "value": null }, { "type": "number", "unserializableValue": "NaN", "description": "NaN" },
            { "type": "object", "preview": { "properties": [{ "name": "k", "value": "1" }] } },
            { "type": "function", "description": "f() {}" },
        ] }));
        console.called(&json!({ "type": "clear", "args": [] }));
        console.thrown(&json!({ "exceptionDetails": { "text": "Uncaught", "exception": { "description": "Error: x\n at y" } } }));
        console.thrown(&json!({ "exceptionDetails": { "text": "Uncaught", "exception": { "value": 7 } } }));
        console.logged(&json!({ "level": "warning", "text": "slow", "url": "http://a.test/" }));
        assert_eq!(console.errors(), 2);
        let texts: Vec<(Level, String)> =
            console.take().into_iter().map(|message| (message.level, message.text)).collect();
        assert_eq!(
            texts,
            [
                (Level::Info, "a 5 undefined null NaN {k: 1} f() {}".to_owned()),
                (Level::Error, "Error: x\n at y".to_owned()),
                (Level::Error, "uncaught 7".to_owned()),
                (Level::Warning, "slow (http://a.test/)".to_owned()),
            ]
        );
        assert_eq!(console.take(), []);
    }

    #[test]
    fn the_last_messages_are_kept_and_each_is_cut() {
        let mut console = Console::default();
        for number in 0..MAX_MESSAGES + 5 {
            console.push(Level::Info, &format!("{number} {}", "x".repeat(100_000)));
        }
        assert_eq!(console.dropped, 5);
        let messages = console.take();
        assert!(messages.len() == MAX_MESSAGES && messages[0].text.starts_with("5 "));
        assert!(messages.iter().all(|message| message.text.len() <= super::super::MAX_URL_CHARS));
    }
}

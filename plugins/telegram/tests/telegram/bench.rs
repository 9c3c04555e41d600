//! A server that knows the Bot API as it is documented, and a toolkit that calls it.

use serde_json::{Value, json};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    Builder, Toolbox,
    approval::{Answer as Reply, ScriptedApprover},
    config::{Configuration, LoadOptions},
    history::MemoryHistory,
    text::Redactor,
};
use toolkit_loopback::{Answer, Request};

pub(super) const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
pub(super) const CHAT: &str = "-1001234567890";

/// The body of a method as the Bot API documents it, with nothing else in it.
pub(super) fn documented(method: &str) -> Option<Value> {
    let chat =
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string", "pattern": "^@[A-Za-z]\\w{3,}$" }] });
    match method {
        "sendPoll" => Some(json!({
            "type": "object",
            "required": ["chat_id", "question", "options"],
            "additionalProperties": false,
            "properties": {
                "chat_id": chat,
                "message_thread_id": { "type": "integer" },
                "question": { "type": "string", "minLength": 1, "maxLength": 300 },
                "options": {
                    "type": "array", "minItems": 1, "maxItems": 12,
                    "items": {
                        "type": "object", "required": ["text"], "additionalProperties": false,
                        "properties": { "text": { "type": "string", "minLength": 1, "maxLength": 100 } },
                    },
                },
                "is_anonymous": { "type": "boolean" },
                "type": { "enum": ["regular", "quiz"] },
                "allows_multiple_answers": { "type": "boolean" },
                "correct_option_ids": { "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1 },
                "explanation": { "type": "string", "maxLength": 200 },
                "open_period": { "type": "integer", "minimum": 5, "maximum": 2_628_000 },
                "disable_notification": { "type": "boolean" },
            },
        })),
        "pinChatMessage" => Some(json!({
            "type": "object",
            "required": ["chat_id", "message_id"],
            "additionalProperties": false,
            "properties": {
                "chat_id": chat,
                "message_id": { "type": "integer" },
                "disable_notification": { "type": "boolean" },
            },
        })),
        _ => None,
    }
}

pub(super) fn refused(code: u16, description: &str) -> Answer {
    Answer::json(code, &json!({ "ok": false, "error_code": code, "description": description }))
}

/// The Bot API for one bot, which is a member of one chat.
pub(super) fn bot_api(request: &Request) -> Answer {
    let Some(method) = request.path.strip_prefix(&format!("/bot{TOKEN}/")) else {
        return refused(404, "Not Found");
    };
    let Some(schema) = documented(method) else { return refused(404, "Not Found") };
    let body = request.json();
    if request.method != "POST" || request.header("content-type") != Some("application/json") {
        return refused(400, "Bad Request: no parameters");
    }
    if let Err(error) = jsonschema::validate(&schema, &body) {
        return refused(400, &format!("Bad Request: {error}"));
    }
    let chat = match &body["chat_id"] {
        Value::String(name) if name == "@toolkit_news" => -1_001_234_567_890_i64,
        Value::Number(id) if id.to_string() == CHAT => -1_001_234_567_890,
        _ => return refused(400, "Bad Request: chat not found"),
    };
    if method == "pinChatMessage" {
        return match body["message_id"].as_i64() {
            Some(7) => Answer::json(200, &json!({ "ok": true, "result": true })),
            Some(8) => refused(400, "Bad Request: not enough rights to manage pinned messages in the chat"),
            _ => refused(400, "Bad Request: message to pin not found"),
        };
    }
    let options: Vec<Value> = body["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| json!({ "text": option["text"], "voter_count": 0 }))
        .collect();
    Answer::json(
        200,
        &json!({ "ok": true, "result": {
        "message_id": 42, "date": 1_790_000_000, "chat": { "id": chat, "type": "supergroup", "title": "Team" },
        "poll": { "id": "5253", "question": body["question"], "options": options, "total_voter_count": 0 },
    } }),
    )
}

pub(super) struct Bench {
    pub(super) toolkit: Toolkit,
    pub(super) history: Arc<MemoryHistory>,
}

impl Bench {
    pub(super) fn new(url: &str, settings: &[&str], reply: Reply) -> Self {
        let options = LoadOptions::new().set(format!("plugins.telegram.baseUrl={url}"));
        Self::load(Toolkit::builder(), options, settings, reply)
    }

    /// With what the host provides.
    pub(super) fn of(builder: Builder, settings: &[&str], reply: Reply) -> Self {
        Self::load(builder, LoadOptions::new(), settings, reply)
    }

    pub(super) fn load(builder: Builder, options: LoadOptions, settings: &[&str], reply: Reply) -> Self {
        let options = settings.iter().fold(options, |options, setting| options.set(*setting));
        let history = Arc::new(MemoryHistory::new(Redactor::new()));
        let toolkit = builder
            .configuration(Configuration::load(options).unwrap())
            .approver(ScriptedApprover::new([reply]))
            .history(Arc::clone(&history))
            .build()
            .unwrap();
        Self { toolkit, history }
    }

    /// With a bot, and everything allowed.
    pub(super) fn ready(url: &str) -> Self {
        Self::new(url, &[&token(), "permission.message=allow"], Reply::deny())
    }

    pub(super) async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new().with_channel("telegram").with_conversation(CHAT)).await
    }

    pub(super) async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("1", name, arguments)).await
    }

    pub(super) async fn error(&self, name: &str, arguments: Value) -> ToolError {
        self.call(name, arguments).await.outcome.unwrap_err()
    }
}

pub(super) fn token() -> String {
    format!("plugins.telegram.token={TOKEN}")
}

pub(super) fn poll() -> Value {
    json!({ "question": "Where?", "options": ["Here", "There"] })
}

pub(super) fn with(mut value: Value, more: Value) -> Value {
    let Value::Object(more) = more else { unreachable!("an object") };
    value.as_object_mut().unwrap().extend(more);
    value
}

//! A server that knows Chat Completions as they are documented, and a toolkit that calls it.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::prelude::*;
use toolkit::{
    Builder, Toolbox,
    approval::{Answer as Reply, ScriptedApprover},
    config::{Configuration, LoadOptions},
    history::MemoryHistory,
    text::Redactor,
};
use toolkit_loopback::{Answer, Loopback, Request};

pub(super) const KEY: &str = "test-key-Zm9vYmFyYmF6";

pub(super) fn completion(content: &str, finish_reason: &str) -> Answer {
    Answer::json(
        200,
        &json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": "small-1",
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": content, "refusal": null }, "finish_reason": finish_reason }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13 },
        }),
    )
}

pub(super) fn failed(status: u16, message: &str) -> Answer {
    Answer::json(
        status,
        &json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": null } }),
    )
}

/// An endpoint that gives these answers, the last one for ever, to requests as they are documented.
pub(super) async fn endpoint(answers: Vec<Answer>) -> Loopback {
    let next = AtomicUsize::new(0);
    Loopback::start(move |request: &Request| {
        let body = request.json();
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let is_message = |message: &Value| {
            matches!(message["role"].as_str(), Some("system" | "user" | "assistant"))
                && message["content"].is_string()
        };
        let is_format = match body.get("response_format") {
            None => true,
            Some(format) => match format["type"].as_str() {
                Some("json_object") => true,
                Some("json_schema") => {
                    format["json_schema"]["name"] == "answer" && format["json_schema"]["schema"].is_object()
                }
                _ => false,
            },
        };
        if request.method != "POST" || request.path != "/v1/chat/completions" {
            return failed(404, "Unknown request URL");
        }
        if request.header("authorization") != Some(&format!("Bearer {KEY}")) {
            return failed(401, "Incorrect API key provided");
        }
        let is_body = request.header("content-type") == Some("application/json")
            && body["model"] == "small-1"
            && body["max_completion_tokens"].is_u64()
            && body["stream"] == false
            && is_format
            && !messages.is_empty()
            && messages.iter().all(is_message);
        if !is_body {
            return failed(400, &format!("Invalid body: {body}"));
        }
        let number = next.fetch_add(1, Ordering::SeqCst);
        answers[number.min(answers.len() - 1)].clone()
    })
    .await
}

pub(super) struct Bench {
    pub(super) toolkit: Toolkit,
    pub(super) history: Arc<MemoryHistory>,
}

impl Bench {
    pub(super) fn new(settings: &[&str], reply: Reply) -> Self {
        Self::load(Toolkit::builder(), settings, reply)
    }

    pub(super) fn load(builder: Builder, settings: &[&str], reply: Reply) -> Self {
        let options = settings.iter().fold(LoadOptions::new(), |options, setting| options.set(*setting));
        let history = Arc::new(MemoryHistory::new(Redactor::new()));
        let toolkit = builder
            .configuration(Configuration::load(options).unwrap())
            .approver(ScriptedApprover::new([reply]))
            .history(Arc::clone(&history))
            .build()
            .unwrap();
        Self { toolkit, history }
    }

    /// With a model, and the tool there.
    pub(super) fn with(url: &str, settings: &[&str]) -> Self {
        let url = format!("plugins.llm-task.baseUrl={url}/v1/");
        let key = format!("plugins.llm-task.apiKey={KEY}");
        let mine =
            [url.as_str(), key.as_str(), "plugins.llm-task.model=small-1", "tools.alsoAllow=[\"llm_task\"]"];
        Self::new(&[&mine, settings].concat(), Reply::deny())
    }

    /// With everything allowed.
    pub(super) fn ready(url: &str) -> Self {
        Self::with(url, &["permission.llm_task=allow"])
    }

    pub(super) async fn toolbox(&self) -> Toolbox {
        self.toolkit.toolbox(&Caller::new()).await
    }

    pub(super) async fn call(&self, arguments: Value) -> ToolResult {
        self.toolbox().await.call(ToolCall::new("1", "llm_task", arguments)).await
    }

    pub(super) async fn error(&self, arguments: Value) -> ToolError {
        self.call(arguments).await.outcome.unwrap_err()
    }
}

pub(super) fn schema() -> Value {
    json!({
        "type": "object", "required": ["mood"], "additionalProperties": false,
        "properties": { "mood": { "enum": ["good", "bad"] } },
    })
}

pub(super) fn task() -> Value {
    json!({ "prompt": "Which mood?", "input": { "text": "I am happy" }, "schema": schema() })
}

//! Answers in the form of the Bot API.

use crate::Answer;
use serde_json::{Value, json};

/// A request that is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) description: String,
    pub(super) parameters: Option<Value>,
    /// True if no correct client makes such a request.
    pub(super) is_violation: bool,
}

impl Refusal {
    /// A request that may fail so for any client.
    pub(super) fn new(code: u16, description: impl Into<String>) -> Self {
        Self { code, description: description.into(), parameters: None, is_violation: false }
    }

    /// A request that a correct client does not make.
    pub(super) fn violation(description: impl Into<String>) -> Self {
        Self { is_violation: true, ..Self::new(400, format!("Bad Request: {}", description.into())) }
    }

    /// A request beyond a limit.
    pub(super) fn too_many(seconds: u64) -> Self {
        let description = format!("Too Many Requests: retry after {seconds}");
        Self::new(429, description).with_parameters(json!({ "retry_after": seconds }))
    }

    pub(super) fn with_parameters(mut self, parameters: Value) -> Self {
        self.parameters = Some(parameters);
        self
    }

    /// The answer.
    pub(super) fn answer(&self) -> Answer {
        let mut body = json!({ "ok": false, "error_code": self.code, "description": self.description });
        if let Some(parameters) = &self.parameters {
            body["parameters"] = parameters.clone();
        }
        Answer::json(self.code, &body)
    }
}

/// The answer with a result, which is JSON.
pub(super) fn ok(result: &str) -> Answer {
    Answer::bytes(200, format!("{{\"ok\":true,\"result\":{result}}}"))
        .with_header("content-type", "application/json")
}

//! Models with a server of the test's behind them, and the requests that they make.

use crate::servers::{self, Faults, Issued, Received, Said, Server};
use serde_json::{Value, json};
use std::sync::Arc;
use toolkit::{
    descriptor::Definition,
    dialects::{Definitions, Dialect},
};
use toolkit_models::{Answer, Model, ModelError, ModelEvent, Models, Request};

pub(crate) const KEY: &str = "sk-planted-3f9c";

/// The four interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Wire {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

impl Wire {
    pub(crate) const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini];

    pub(crate) const fn provider(self) -> &'static str {
        match self {
            Self::Chat => "openai-chat",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    pub(crate) const fn dialect(self) -> Dialect {
        match self {
            Self::Chat => Dialect::OpenAiChat,
            Self::Responses => Dialect::OpenAiResponses,
            Self::Anthropic => Dialect::Anthropic,
            Self::Gemini => Dialect::Gemini,
        }
    }

    pub(crate) fn events(self, said: &Said, bytes: usize) -> Vec<String> {
        match self {
            Self::Chat => servers::chat::events(said, bytes),
            Self::Responses => servers::responses::events(said, bytes),
            Self::Anthropic => servers::anthropic::events(said, bytes),
            Self::Gemini => servers::gemini::events(said, bytes),
        }
    }

    pub(crate) fn stream(self, said: &Said) -> String {
        self.events(said, 5).concat()
    }

    /// The event with which the provider fails within an answer.
    pub(crate) fn error(self) -> String {
        match self {
            Self::Chat => servers::chat::error(),
            Self::Responses => servers::responses::error(),
            Self::Anthropic => servers::anthropic::error(),
            Self::Gemini => servers::gemini::error(),
        }
    }

    /// How many events stand before the one that ends the answer.
    pub(crate) fn before_end(self, said: &Said, events: &[String]) -> usize {
        match self {
            Self::Chat => events.len() - 2 - usize::from(said.usage.is_some()),
            Self::Anthropic => events.len() - 2,
            Self::Responses | Self::Gemini => events.len() - 1,
        }
    }

    pub(crate) fn check(self, request: &Received, issued: &Issued, faults: &mut Faults) {
        match self {
            Self::Chat => servers::chat::check(request, issued, faults),
            Self::Responses => servers::responses::check(request, issued, faults),
            Self::Anthropic => servers::anthropic::check(request, issued, faults),
            Self::Gemini => servers::gemini::check(request, issued, faults),
        }
    }

    /// A model at an address, with further settings.
    pub(crate) fn model_at(self, url: &str, more: Value) -> Arc<dyn Model> {
        let mut settings = json!({"provider": self.provider(), "model": "m", "baseUrl": url, "apiKey": KEY, "maxRetries": 2});
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        models(json!({ "test": settings })).get(Some("test")).unwrap()
    }

    pub(crate) fn model(self, server: &Server) -> Arc<dyn Model> {
        self.model_at(server.url(), json!({}))
    }
}

pub(crate) fn models(settings: Value) -> Models {
    Models::from_settings(serde_json::from_value(settings).unwrap()).unwrap()
}

/// Two tools, one of a name that most providers do not take.
pub(crate) fn tools(dialect: Dialect) -> Definitions {
    let definition = |name: &str| -> Definition {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "line": {"type": "integer"}}, "required": ["path"],
            "additionalProperties": false});
        let wire = json!({"name": name, "description": "Reads.", "inputSchema": schema,
            "annotations": {"readOnlyHint": true, "idempotentHint": true}});
        serde_json::from_value(wire).unwrap()
    };
    dialect.definitions([definition("read"), definition("files.list")])
}

/// The answer to a request, and the events.
pub(crate) async fn ask(
    model: &dyn Model,
    request: &Request,
) -> (Result<Answer, ModelError>, Vec<ModelEvent>) {
    let mut events = Vec::new();
    let answer = model.respond(request, &mut |event| events.push(event)).await;
    (answer, events)
}

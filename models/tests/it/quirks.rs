//! Parameters that servers do not take.

use crate::clients::{Wire, ask};
use crate::servers::{Reply, Said, Server};
use serde_json::{Value, json};
use toolkit_models::{Answer, Message, Model, Request, Thinking};

/// A server that refuses a request for as long as it has something at a pointer.
async fn refusing(wire: Wire, pointer: &'static str, message: &'static str) -> Server {
    Server::start(move |request| match request.body.pointer(pointer) {
        Some(_) => Reply::json(400, &json!({"error": {"message": message, "type": "invalid_request_error"}})),
        None => Reply::stream(&wire.stream(&Said::text("{\"a\": null}"))),
    })
    .await
}

fn full() -> Request {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}, "additionalProperties": false});
    Request::new([Message::user("Hi")])
        .temperature(0.5)
        .max_tokens(64)
        .thinking(Thinking::Low)
        .response_schema(schema)
}

async fn answer(model: &dyn Model) -> Answer {
    ask(model, &full()).await.0.unwrap()
}

#[tokio::test]
async fn a_parameter_that_is_refused_is_left_out_from_then_on() {
    for (wire, pointer, message) in [
        (Wire::Chat, "/stream_options", "extra fields not permitted: stream_options"),
        (
            Wire::Chat,
            "/max_tokens",
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        (Wire::Chat, "/temperature", "temperature is deprecated for this model"),
        (Wire::Chat, "/reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"),
        (Wire::Responses, "/include", "Encrypted content is not supported with this model."),
        (
            Wire::Responses,
            "/reasoning/summary",
            "Your organization must be verified to generate reasoning summaries.",
        ),
        (
            Wire::Responses,
            "/reasoning",
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        ),
        (Wire::Anthropic, "/output_config/effort", "This model does not support the effort parameter."),
        (Wire::Anthropic, "/thinking", "thinking is not supported by this model"),
        (Wire::Gemini, "/generationConfig/thinkingConfig", "Thinking is not enabled for this model"),
    ] {
        let server = refusing(wire, pointer, message).await;
        let model = wire.model(&server);
        assert!(!answer(&*model).await.message.to_text().is_empty(), "{wire:?} {pointer}");
        let before = server.requests().len();
        answer(&*model).await;
        assert_eq!(server.requests().len(), before + 1, "{wire:?} {pointer}: it is known");
        let last = &server.requests()[before].body;
        assert_eq!(last.pointer(pointer), None);
    }
}

#[tokio::test]
async fn a_schema_that_is_refused_stands_in_the_prompt_of_that_request() {
    for (wire, pointer) in [
        (Wire::Chat, "/response_format"),
        (Wire::Responses, "/text/format"),
        (Wire::Anthropic, "/output_config/format"),
        (Wire::Gemini, "/generationConfig/responseJsonSchema"),
    ] {
        let server = refusing(wire, pointer, "Invalid schema: it is too complex").await;
        let model = wire.model(&server);
        answer(&*model).await;
        answer(&*model).await;
        let requests = server.requests();
        assert_eq!(requests.len(), 4, "{wire:?}: another schema may be taken");
        assert!(requests[1].body.to_string().contains("It fits this JSON Schema"), "{wire:?}");
    }
}

#[tokio::test]
async fn the_schema_of_an_answer_is_told_in_the_form_of_each_provider() {
    let plain = full().response_schema.unwrap();
    let strict = json!({"type": "object", "properties": {"a": {"type": ["integer", "null"], "minimum": 3}}, "required": ["a"],
        "additionalProperties": false});
    let mut unbounded = strict.clone();
    unbounded["properties"]["a"].as_object_mut().unwrap().remove("minimum");
    for (wire, more, pointer, expected, text) in [
        (
            Wire::Chat,
            json!({}),
            "/response_format",
            json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": plain, "strict": false}}),
            "{\"a\": null}",
        ),
        (
            Wire::Chat,
            json!({"strict": true}),
            "/response_format",
            json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": strict, "strict": true}}),
            "{}",
        ),
        (
            Wire::Chat,
            json!({"responseFormat": "json_object"}),
            "/response_format",
            json!({"type": "json_object"}),
            "{\"a\": null}",
        ),
        (
            Wire::Responses,
            json!({}),
            "/text/format",
            json!({"type": "json_schema", "name": "answer", "schema": strict, "strict": true}),
            "{}",
        ),
        (
            Wire::Anthropic,
            json!({}),
            "/output_config/format",
            json!({"type": "json_schema", "schema": unbounded}),
            "{}",
        ),
        (
            Wire::Gemini,
            json!({}),
            "/generationConfig/responseMimeType",
            json!("application/json"),
            "{\"a\": null}",
        ),
    ] {
        let body = wire.stream(&Said::text("{\"a\": null}"));
        let server = Server::start(move |_| Reply::stream(&body)).await;
        let answer = answer(&*wire.model_at(server.url(), more)).await;
        assert_eq!(server.requests()[0].body.pointer(pointer), Some(&expected), "{wire:?}");
        // Values that are `null` only because the strict schema requires them are gone.
        assert_eq!(answer.message.to_text(), text, "{wire:?}");
    }
    let body = Wire::Chat.stream(&Said::text("{}"));
    let server = Server::start(move |_| Reply::stream(&body)).await;
    answer(&*Wire::Chat.model_at(server.url(), json!({"responseFormat": "none"}))).await;
    let body: &Value = &server.requests()[0].body;
    assert!(
        body.get("response_format").is_none()
            && body["messages"][0]["content"].as_str().unwrap().contains("JSON Schema"),
        "{body}"
    );
}

#[tokio::test]
async fn the_form_of_thinking_is_that_of_the_model() {
    for (wire, model, pointer, expected) in [
        (Wire::Anthropic, "claude-opus-4-7", "/thinking", json!({"type": "adaptive"})),
        (
            Wire::Anthropic,
            "claude-sonnet-4-5-20250929",
            "/thinking",
            json!({"type": "enabled", "budget_tokens": 2048}),
        ),
        (
            Wire::Gemini,
            "gemini-2.5-flash",
            "/generationConfig/thinkingConfig",
            json!({"includeThoughts": true, "thinkingBudget": 1024}),
        ),
        (
            Wire::Gemini,
            "gemini-3-pro",
            "/generationConfig/thinkingConfig",
            json!({"includeThoughts": true, "thinkingLevel": "LOW"}),
        ),
        (Wire::Responses, "gpt-5", "/reasoning", json!({"effort": "low", "summary": "auto"})),
        (Wire::Chat, "gpt-oss", "/reasoning_effort", json!("low")),
    ] {
        let body = wire.stream(&Said::text("{}"));
        let server = Server::start(move |_| Reply::stream(&body)).await;
        answer(&*wire.model_at(server.url(), json!({"model": model}))).await;
        let body = &server.requests()[0].body;
        assert_eq!(body.pointer(pointer), Some(&expected), "{model}");
        if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
            assert!(body["max_tokens"].as_u64().unwrap() > budget, "{body}");
        }
    }
}

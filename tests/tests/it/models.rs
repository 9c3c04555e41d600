//! Requests to models held against the libraries of the providers.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use toolkit::{Content, ToolCall, descriptor::Definition, dialects::Dialect};
use toolkit_loopback::{Answer, Loopback};
use toolkit_models::{
    AssistantMessage, AssistantPart, Message, Models, ModelsSettings, Request, Thinking, ToolChoice,
    ToolOutput, UserMessage,
};
use toolkit_tests::{repository, run};

/// The interfaces, and an answer of each that has all that goes back: reasoning, text and two calls.
fn interfaces() -> [(&'static str, Dialect, Vec<Value>); 4] {
    let item = |place: usize, item: Value| json!({"type": "response.output_item.done", "output_index": place, "item": item});
    let start = |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    [
        (
            "openai-chat",
            Dialect::OpenAiChat,
            vec![
                json!({"choices": [{"index": 0, "delta": {"content": "I read.", "tool_calls": [
                    {"index": 0, "id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a\"}"}},
                    {"index": 1, "id": "call_2", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            ],
        ),
        (
            "openai-responses",
            Dialect::OpenAiResponses,
            vec![
                item(
                    0,
                    json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}], "encrypted_content": "xyz"}),
                ),
                item(
                    1,
                    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary",
                    "content": [{"type": "output_text", "text": "I read.", "annotations": []}]}),
                ),
                item(
                    2,
                    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "{\"path\": \"a\"}", "status": "completed"}),
                ),
                item(
                    3,
                    json!({"type": "function_call", "id": "fc_2", "call_id": "call_2", "name": "read", "arguments": "{}", "status": "completed"}),
                ),
                json!({"type": "response.completed", "response": {"status": "completed", "output": []}}),
            ],
        ),
        (
            "anthropic",
            Dialect::Anthropic,
            vec![
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}}),
                start(0, json!({"type": "thinking", "thinking": "Hm", "signature": "xyz"})),
                start(1, json!({"type": "redacted_thinking", "data": "abc"})),
                start(2, json!({"type": "text", "text": "I read."})),
                start(3, json!({"type": "tool_use", "id": "call_1", "name": "read", "input": {"path": "a"}})),
                json!({"type": "content_block_stop", "index": 3}),
                start(4, json!({"type": "tool_use", "id": "call_2", "name": "read", "input": {}})),
                json!({"type": "content_block_stop", "index": 4}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
            ],
        ),
        (
            "gemini",
            Dialect::Gemini,
            vec![
                json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hm", "thought": true}, {"text": "I read."},
                {"functionCall": {"id": "call_1", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "eHl6"},
                {"functionCall": {"id": "call_2", "name": "read", "args": {}}}]}, "finishReason": "STOP"}]}),
            ],
        ),
    ]
}

fn read() -> Definition {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false});
    let wire = json!({"name": "read", "description": "Reads.", "inputSchema": schema,
        "annotations": {"readOnlyHint": true, "idempotentHint": true}});
    serde_json::from_value(wire).expect("it is a definition")
}

/// Requests of every kind, of which each goes on after an answer that has all there is.
fn requests(dialect: Dialect, answer: Option<AssistantMessage>) -> Vec<Request> {
    let schema = json!({"type": "object", "properties": {"done": {"type": "boolean"}, "why": {"type": "string", "minLength": 1}},
        "required": ["done"], "additionalProperties": false});
    let content = vec![
        Content::text("Look"),
        Content::image(*b"abc", "image/png"),
        Content::Resource {
            resource: toolkit::output::Resource::blob("x://a.pdf", *b"abc").with_mime_type("application/pdf"),
        },
    ];
    let mut messages = vec![Message::User(UserMessage { content })];
    // A conversation that another model had, and one that is this model's own.
    let calls =
        [ToolCall::new("call_8", "read", json!({"path": "a"})), ToolCall::new("call_9", "read", "no JSON")];
    let mut other = AssistantMessage::calls(calls);
    other.content.insert(0, AssistantPart::Text { text: "I begin.".to_owned() });
    other.content.push(AssistantPart::Image {
        data: toolkit::output::Bytes(b"abc".to_vec()),
        mime_type: "image/png".to_owned(),
    });
    for message in [Some(other), answer].into_iter().flatten() {
        let results: Vec<ToolOutput> = message
            .tool_calls()
            .enumerate()
            .map(|(number, call)| match number {
                0 => {
                    let mut result = ToolOutput::text(call, "text");
                    result.content.push(Content::image(*b"abc", "image/png"));
                    result
                }
                _ => ToolOutput::error(call, "it went wrong"),
            })
            .collect();
        messages.extend([Message::Assistant(message), Message::tools(results), Message::user("Go on")]);
    }
    let request = Request::new(messages).system("Be brief.").tools(dialect.definitions([read()])).cache(true);
    let mut without_tools = request.clone();
    without_tools.tools = None;
    vec![
        request.clone().thinking(Thinking::Medium).max_tokens(2_000),
        request.clone().tool_choice(ToolChoice::Named("read".to_owned())),
        request.clone().tool_choice(ToolChoice::Required),
        request.tool_choice(ToolChoice::None).response_schema(schema),
        without_tools,
        Request::new([Message::user("Hi")]),
    ]
}

#[tokio::test]
#[ignore = "needs the Python libraries of the providers: cargo xtask test"]
async fn the_libraries_of_the_providers_take_every_kind_of_request() {
    let mut bodies: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (provider, dialect, events) in interfaces() {
        let stream = events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat();
        let server = Loopback::start(move |_| {
            Answer::bytes(200, stream.clone()).with_header("content-type", "text/event-stream")
        })
        .await;
        // The two forms in which Anthropic and Gemini are asked to think.
        for model in ["gpt-5", "claude-sonnet-4-5", "claude-opus-4-7", "gemini-2.5-flash", "gemini-3-pro"] {
            let settings = json!({"m": {"provider": provider, "model": model, "baseUrl": server.url(), "strict": model == "gpt-5"}});
            let settings: ModelsSettings = serde_json::from_value(settings).expect("they are settings");
            let model =
                Models::from_settings(settings).and_then(|models| models.get(None)).expect("it is a model");
            let mut own = None;
            for _ in 0..2 {
                for request in requests(dialect, own.take()) {
                    let answer = model.respond(&request, &mut |_| {}).await;
                    own = Some(answer.unwrap_or_else(|error| panic!("{provider}: {error}")).message);
                }
            }
        }
        bodies.insert(provider, server.requests().iter().map(toolkit_loopback::Request::json).collect());
    }
    assert!(
        bodies.values().all(|bodies| bodies.len() == 60),
        "{:?}",
        bodies.values().map(Vec::len).collect::<Vec<_>>()
    );
    let directory = tempfile::tempdir().expect("there is room");
    let file = directory.path().join("bodies.json");
    fs::write(&file, json!(bodies).to_string()).expect("it can be written");
    let python = repository().join("target/tools/python/bin/python");
    let script = repository().join("tests/tests/it/models/counterparts.py");
    let checked = run(Command::new(python).arg(script).arg(&file)).success();
    assert_eq!(checked.trim(), "240");
}

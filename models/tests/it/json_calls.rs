//! Tool calls as a JSON text.

use crate::clients::ask;
use crate::servers::{Reply, Said, Server};
use serde_json::{Value, json};
use std::sync::Arc;
use toolkit::config::{Configuration, LoadOptions};
use toolkit::{ToolCall, descriptor::Definition, dialects::Dialect};
use toolkit_models::{
    Answer, AssistantMessage, AssistantPart, JsonToolCalls, Message, ModelError, ModelEvent, Models, Request,
    Scripted, StopReason, ToolChoice, ToolOutput,
};

fn tool(name: &str, schema: Value) -> Definition {
    serde_json::from_value(json!({ "name": name, "description": format!("The tool {name}."), "inputSchema": schema, "annotations": { "readOnlyHint": true, "idempotentHint": true } })).unwrap()
}

/// A request with two tools, of which one has a recursive schema.
fn request(messages: impl Into<Vec<Message>>) -> Request {
    let read = json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"], "additionalProperties": false });
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } }, "additionalProperties": false });
    let walk = json!({ "type": "object", "properties": { "from": { "$ref": "#/$defs/Node" } }, "$defs": { "Node": node }, "additionalProperties": false });
    let tools = Dialect::Anthropic.definitions([tool("read", read), tool("walk", walk)]);
    Request::new(messages).system("Be brief.").tools(tools)
}

/// The answer to a text of the model, its events, and the request that the model got.
async fn answered(text: &str, stop: StopReason, request: &Request) -> (Answer, Vec<ModelEvent>, Request) {
    let scripted = Arc::new(Scripted::new([Answer::text(text).with_stop(stop)]));
    let model = JsonToolCalls::new(scripted.clone());
    let (answer, events) = ask(&model, request).await;
    (answer.unwrap(), events, scripted.requests().pop().unwrap())
}

#[tokio::test]
async fn a_text_becomes_a_call_or_the_last_word() {
    let asked = request([Message::user("What is in a?")]);
    for (text, call) in [
        (r#"{"step": {"tool": "read", "arguments": {"path": "a"}}}"#, Some(json!({ "path": "a" }))),
        (r#" {"tool": "read", "arguments": {"path": "a"}} "#, Some(json!({ "path": "a" }))),
        ("```json\n{\"step\": {\"tool\": \"read\"}}\n```", Some(json!({}))),
        (r#"{"step": {"answer": "42"}}"#, None),
        // From a server that enforces nothing.
        ("42", None),
    ] {
        let (answer, events, _) = answered(text, StopReason::End, &asked).await;
        match call {
            Some(arguments) => {
                let calls: Vec<&ToolCall> = answer.message.tool_calls().collect();
                assert_eq!(
                    (calls.len(), &*calls[0].name, answer.stop),
                    (1, "read", StopReason::ToolCalls),
                    "{text}"
                );
                assert_eq!(
                    serde_json::from_str::<Value>(calls[0].arguments.as_text().unwrap()).unwrap(),
                    arguments
                );
                assert!(!calls[0].id.is_empty());
                assert_eq!(events[1..], [ModelEvent::ToolCall(calls[0].clone())], "{text}");
            }
            None => {
                assert_eq!(
                    (answer.message.to_text().as_str(), answer.stop),
                    ("42", StopReason::End),
                    "{text}"
                );
                assert_eq!(events[1..], [ModelEvent::Text("42".to_owned())], "{text}");
            }
        }
    }
}

#[tokio::test]
async fn of_an_answer_that_was_cut_off_only_text_is_left() {
    let asked = request([Message::user("Tell me")]);
    for (text, expected) in [
        (r#"{"step": {"answer": "Once upon a ti"#, vec!["Once upon a ti"]),
        (r#"{"step": {"tool": "read", "arguments": {"path": "a"#, vec![]),
        (r#"{"step": {"tool": "read", "arguments": {"path": "a"}"#, vec![]),
        ("Once upon", vec!["Once upon"]),
    ] {
        let (answer, _, _) = answered(text, StopReason::MaxTokens, &asked).await;
        assert_eq!(answer.stop, StopReason::MaxTokens, "{text}");
        let texts: Vec<AssistantPart> =
            expected.into_iter().map(|text| AssistantPart::Text { text: text.to_owned() }).collect();
        assert_eq!(answer.message.content, texts, "{text}");
    }
}

#[tokio::test]
async fn the_model_gets_the_tools_and_the_conversation_as_texts() {
    let call = ToolCall::new("1", "read", json!({ "path": "a" }));
    let messages = [
        Message::user("What is in a?"),
        Message::Assistant(AssistantMessage {
            content: vec![
                AssistantPart::Text { text: "Let me see.".to_owned() },
                AssistantPart::ToolCall(call.clone()),
            ],
            raw: None,
        }),
        Message::tools([ToolOutput::error(&call, "no such file")]),
    ];
    let (_, _, got) =
        answered(r#"{"step": {"answer": "Nothing."}}"#, StopReason::End, &request(messages.clone())).await;
    assert!(got.tools.is_none());
    assert!(
        got.system.starts_with("Be brief.\n\n") && got.system.contains("\"name\":\"walk\""),
        "{}",
        got.system
    );
    let texts: Vec<String> = got
        .messages
        .iter()
        .map(|message| match message {
            Message::User(user) => {
                user.content.iter().filter_map(|part| part.as_text()).collect::<Vec<_>>().join("\n")
            }
            Message::Assistant(assistant) => assistant.to_text(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        texts,
        [
            "What is in a?",
            "{\"step\":{\"answer\":\"Let me see.\"}}\n{\"step\":{\"tool\":\"read\",\"arguments\":{\"path\":\"a\"}}}",
            "Error of `read`:\nno such file",
        ]
    );
    // A request without tools, such as one for a summary, is a usual one.
    let plain = Request::new(messages);
    let (answer, _, got) = answered("{\"x\": 1}", StopReason::End, &plain).await;
    assert_eq!((answer.message.to_text().as_str(), got.response_schema), ("{\"x\": 1}", None));
}

#[tokio::test]
async fn the_schema_allows_calls_with_arguments_that_fit_and_nothing_else() {
    let text = r#"{"step": {"answer": "x"}}"#;
    for (choice, fits) in [
        (ToolChoice::Auto, [true, true, true]),
        (ToolChoice::Required, [true, true, false]),
        (ToolChoice::Named("walk".to_owned()), [false, true, false]),
    ] {
        let (_, _, got) =
            answered(text, StopReason::End, &request([Message::user("x")]).tool_choice(choice.clone())).await;
        let schema = jsonschema::validator_for(&got.response_schema.unwrap()).unwrap();
        let steps = [
            json!({ "step": { "tool": "read", "arguments": { "path": "a" } } }),
            json!({ "step": { "tool": "walk", "arguments": { "from": { "next": { "next": {} } } } } }),
            json!({ "step": { "answer": "x" } }),
        ];
        assert_eq!(steps.map(|step| schema.is_valid(&step)), fits, "{choice:?}");
        for step in [
            json!({ "step": { "tool": "read", "arguments": {} } }),
            json!({ "step": { "tool": "walk", "arguments": { "from": { "next": { "last": {} } } } } }),
            json!({ "step": { "tool": "write", "arguments": {} } }),
            json!({ "step": { "tool": "read", "arguments": { "path": "a" }, "answer": "x" } }),
            json!({ "answer": "x" }),
        ] {
            assert!(!schema.is_valid(&step), "{step}");
        }
    }
    let none = request([Message::user("x")]).tool_choice(ToolChoice::None);
    assert_eq!(answered(text, StopReason::End, &none).await.2.response_schema, None);
    let unknown = request([Message::user("x")]).tool_choice(ToolChoice::Named("fly".to_owned()));
    let error = ask(&JsonToolCalls::new(Arc::new(Scripted::new(["x"]))), &unknown).await.0.unwrap_err();
    assert!(matches!(&error, ModelError::Request { message, .. } if message.contains("`fly`")), "{error}");
}

#[tokio::test]
async fn it_is_a_setting_of_a_model() {
    let stream = crate::clients::Wire::Chat
        .stream(&Said::text(r#"{"step": {"tool": "read", "arguments": {"path": "a"}}}"#));
    let server = Server::start(move |_| Reply::stream(&stream)).await;
    let settings = json!({ "models": { "small": { "baseUrl": format!("{}/v1", server.url()), "model": "m", "toolCalls": "json" } } });
    let configuration = Configuration::load(LoadOptions::new().program(settings)).unwrap();
    let model = Models::new(&configuration).unwrap().get(None).unwrap();
    let (answer, _) = ask(&*model, &request([Message::user("What is in a?")])).await;
    assert_eq!(answer.unwrap().message.tool_calls().count(), 1);
    let body = server.requests().pop().unwrap().body;
    assert_eq!(body["response_format"]["type"], "json_schema");
    assert!(body.get("tools").is_none(), "{body}");
}

//! Conversations as they are sent.

use crate::clients::{Wire, ask, tools};
use crate::servers::{Faults, Issued, Reply, Said, SaidPart, Server, anthropic};
use serde_json::{Value, json};
use toolkit::{Content, ToolCall};
use toolkit_models::{
    AssistantMessage, AssistantPart, Message, Request, Thinking, ToolChoice, ToolOutput, UserMessage,
};

/// The body that is sent, after the server has found nothing wrong with it.
async fn body(wire: Wire, request: &Request) -> Value {
    let answer = wire.stream(&Said::text("ok"));
    let server = Server::start(move |_| Reply::stream(&answer)).await;
    ask(&*wire.model(&server), request).await.0.unwrap();
    let mut requests = server.requests();
    let mut faults = Faults::default();
    wire.check(&requests[0], &Issued::default(), &mut faults);
    assert_eq!(faults.0, [] as [String; 0], "{wire:?}");
    requests.remove(0).body
}

fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "read", "{\"path\": \"a\"}")
}

#[tokio::test]
async fn each_provider_gets_its_own_form() {
    let image = Content::image(*b"abc", "image/png");
    let request = Request::new([
        Message::User(UserMessage { content: vec![Content::text("Look"), image.clone()] }),
        Message::Assistant(AssistantMessage {
            content: vec![
                AssistantPart::Reasoning { text: "Hm".to_owned(), signature: Some("s".to_owned()) },
                AssistantPart::Text { text: "I read.".to_owned() },
                AssistantPart::ToolCall(call("c1")),
            ],
            raw: None,
        }),
        Message::tools([ToolOutput::text(&call("c1"), "text")]),
        Message::user("And now?"),
    ])
    .system("Be brief.")
    .temperature(0.2)
    .max_tokens(50);
    let expected = [
        (
            Wire::Chat,
            json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 50, "temperature": 0.2,
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": [{"type": "text", "text": "Look"},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,YWJj"}}]},
                    {"role": "assistant", "content": "I read.", "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a\"}"}}]},
                    {"role": "tool", "tool_call_id": "c1", "content": "text"},
                    {"role": "user", "content": "And now?"}]}),
        ),
        (
            Wire::Responses,
            json!({"model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"], "max_output_tokens": 50,
                "temperature": 0.2, "instructions": "Be brief.", "input": [
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look"},
                        {"type": "input_image", "image_url": "data:image/png;base64,YWJj", "detail": "auto"}]},
                    {"type": "message", "role": "assistant", "content": "I read."},
                    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"path\": \"a\"}"},
                    {"type": "function_call_output", "call_id": "c1", "output": "text"},
                    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And now?"}]}]}),
        ),
        (
            Wire::Anthropic,
            json!({"model": "m", "stream": true, "max_tokens": 50, "system": [{"type": "text", "text": "Be brief."}],
                "tools": [{"name": "read", "description": "No longer available.", "input_schema": {"type": "object"}}],
                "tool_choice": {"type": "none"}, "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "Look"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YWJj"}}]},
                    {"role": "assistant", "content": [{"type": "text", "text": "I read."},
                        {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "text"}]},
                        {"type": "text", "text": "And now?"}]}]}),
        ),
        (
            Wire::Gemini,
            json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}, "generationConfig": {"maxOutputTokens": 50, "temperature": 0.2},
                "contents": [
                    {"role": "user", "parts": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png", "data": "YWJj"}}]},
                    {"role": "model", "parts": [{"text": "I read."},
                        {"functionCall": {"id": "c1", "name": "read", "args": {"path": "a"}},
                            "thoughtSignature": "skip_thought_signature_validator"}]},
                    {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "read", "response": {"output": "text"}}},
                        {"text": "And now?"}]}]}),
        ),
    ];
    for (wire, expected) in expected {
        assert_eq!(body(wire, &request).await, expected, "{wire:?}");
    }
}

#[tokio::test]
async fn what_has_no_counterpart_is_repaired() {
    let orphan = ToolOutput::text(&call("nobody"), "orphan");
    let late = ToolOutput::text(&call("late"), "late");
    let messages = [
        Message::assistant("I begin."),
        Message::tools([orphan]),
        Message::Assistant(AssistantMessage::calls([call("lost"), call("late"), call("late")])),
        Message::user("Meanwhile"),
        Message::tools([late.clone(), late]),
        Message::user(" "),
        Message::Assistant(AssistantMessage::default()),
        Message::assistant("I end."),
    ];
    for wire in Wire::ALL {
        let body = body(wire, &Request::new(messages.clone()).tools(tools(wire.dialect()))).await;
        let text = body.to_string();
        assert!(text.contains("there is no result") && !text.contains("orphan"), "{wire:?}: {text}");
        assert_eq!(text.matches("Meanwhile").count(), 1, "{wire:?}: {text}");
        // The order of the conversation stays.
        assert!(text.find("\"late\"") < text.find("Meanwhile"), "{wire:?}: {text}");
    }
    for wire in Wire::ALL {
        body(wire, &Request::new([])).await;
    }
}

#[tokio::test]
async fn reasoning_goes_back_to_the_model_that_wrote_it_and_to_no_other() {
    for wire in Wire::ALL {
        let said = Said {
            parts: vec![
                SaidPart::Reasoning("think".to_owned(), "signature-1".to_owned()),
                SaidPart::Call("c1".to_owned(), "read".to_owned(), "{}".to_owned()),
            ],
            ..Said::default()
        };
        let answer = wire.stream(&said);
        let server = Server::start(move |_| Reply::stream(&answer)).await;
        let model = wire.model(&server);
        let first = Request::new([Message::user("Hi")]).tools(tools(wire.dialect()));
        let message = ask(&*model, &first).await.0.unwrap().message;
        let again = |message: AssistantMessage| {
            let results = Message::tools(
                message.tool_calls().map(|call| ToolOutput::text(call, "x")).collect::<Vec<_>>(),
            );
            Request::new([Message::user("Hi"), Message::Assistant(message), results])
                .tools(tools(wire.dialect()))
                .thinking(Thinking::Low)
        };
        let sign = if wire == Wire::Chat { "\"reasoning_content\":\"think\"" } else { "signature-1" };
        let last = |server: &Server| server.requests().last().unwrap().body.clone();
        // The same model.
        let _ = ask(&*model, &again(message.clone())).await;
        assert!(last(&server).to_string().contains(sign), "{wire:?}: {}", last(&server));
        // Another one of the same provider.
        let _ = ask(&*wire.model_at(server.url(), json!({"model": "n"})), &again(message.clone())).await;
        assert!(!last(&server).to_string().contains(sign), "{wire:?}");
        if wire == Wire::Anthropic {
            assert_eq!(last(&server).get("thinking"), None, "the chain of calls began without thoughts");
        }
        // A message whose calls are not those of the provider's own message.
        let mut edited = message.clone();
        edited.content.push(AssistantPart::ToolCall(call("new")));
        let _ = ask(&*model, &again(edited)).await;
        assert!(!last(&server).to_string().contains(sign), "{wire:?}");
        // Values that are none of the provider's messages at all.
        for value in [json!(5), json!({}), json!([]), json!({"content": "x", "parts": 3})] {
            let mut broken = message.clone();
            broken.raw.as_mut().unwrap().value = value;
            broken.content.retain(|part| !matches!(part, AssistantPart::ToolCall(_)));
            broken.content.push(AssistantPart::Text { text: "kept".to_owned() });
            let _ = ask(&*model, &again(broken)).await;
            assert!(last(&server).to_string().contains("kept"), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn marks_stand_where_the_next_request_finds_them() {
    let mut messages = vec![Message::user("one")];
    for round in 0..4 {
        let request = Request::new(messages.clone())
            .system("system")
            .tools(tools(Wire::Anthropic.dialect()))
            .cache(true);
        let body = body(Wire::Anthropic, &request).await;
        let mut faults = Faults::default();
        anthropic::check_marks(&body, &mut faults);
        assert_eq!(faults.0, [] as [String; 0], "round {round}");
        let call = call(&format!("c{round}"));
        messages.push(Message::Assistant(AssistantMessage::calls([call.clone()])));
        messages.push(Message::tools([ToolOutput::text(&call, "x")]));
    }
}

#[tokio::test]
async fn a_request_begins_with_the_bytes_of_the_one_before() {
    for wire in Wire::ALL {
        let mut messages = vec![Message::user("one")];
        let mut before: Option<Vec<Value>> = None;
        for round in 0..5 {
            let request = Request::new(messages.clone()).system("system").tools(tools(wire.dialect()));
            let body = body(wire, &request).await;
            let key =
                ["messages", "input", "contents"].into_iter().find(|key| body.get(*key).is_some()).unwrap();
            let list = body[key].as_array().unwrap().clone();
            if let Some(before) = before.replace(list.clone()) {
                assert_eq!(list[..before.len()], before, "{wire:?} round {round}");
            }
            // Ids that the provider does not take become others, always the same.
            let call = call(&format!("functions.read:{}", round / 2));
            messages.push(Message::Assistant(AssistantMessage::calls([call.clone()])));
            messages.push(Message::tools([ToolOutput::text(&call, "x")]));
        }
    }
}

#[tokio::test]
async fn choices_of_tools_are_told_in_each_form() {
    for (choice, expected) in [
        (ToolChoice::Auto, [json!(null), json!(null), json!(null), json!(null)]),
        (
            ToolChoice::None,
            [
                json!("none"),
                json!("none"),
                json!({"type": "none"}),
                json!({"functionCallingConfig": {"mode": "NONE"}}),
            ],
        ),
        (
            ToolChoice::Required,
            [
                json!("required"),
                json!("required"),
                json!({"type": "any"}),
                json!({"functionCallingConfig": {"mode": "ANY"}}),
            ],
        ),
        (
            ToolChoice::Named("read".to_owned()),
            [
                json!({"type": "function", "function": {"name": "read"}}),
                json!({"type": "function", "name": "read"}),
                json!({"type": "tool", "name": "read"}),
                json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}}),
            ],
        ),
    ] {
        for (wire, expected) in Wire::ALL.into_iter().zip(expected) {
            let request =
                Request::new([Message::user("Hi")]).tools(tools(wire.dialect())).tool_choice(choice.clone());
            let body = body(wire, &request).await;
            let key = if wire == Wire::Gemini { "toolConfig" } else { "tool_choice" };
            assert_eq!(body[key], expected, "{wire:?} {choice:?}");
        }
    }
}

#[tokio::test]
async fn an_image_of_the_model_is_shown_to_the_next_model() {
    let image = AssistantPart::Image {
        data: toolkit::output::Bytes(b"abc".to_vec()),
        mime_type: "image/png".to_owned(),
    };
    let made = AssistantMessage {
        content: vec![AssistantPart::Text { text: "Here.".to_owned() }, image],
        raw: None,
    };
    for wire in Wire::ALL {
        let messages = [Message::user("Draw"), Message::Assistant(made.clone()), Message::user("Bluer")];
        let body = body(wire, &Request::new(messages)).await.to_string();
        assert!(body.contains("YWJj") && body.contains("Bluer"), "{wire:?}: {body}");
    }
}

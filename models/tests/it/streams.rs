//! Answers as servers stream them, also those that do it in ways of their own.

use crate::clients::{Wire, ask, tools};
use crate::servers::{End, Reply, Said, SaidPart, Server};
use serde_json::{Value, json};
use toolkit::{ToolCall, arguments::CallArguments};
use toolkit_models::{Answer, AssistantPart, Message, ModelError, ModelEvent, Request, StopReason, Usage};

/// The answer of a server that says this, as Chat Completions.
async fn chat(body: String) -> (Result<Answer, ModelError>, Vec<ModelEvent>) {
    let server = Server::start(move |_| Reply::stream(&body)).await;
    let request = Request::new([Message::user("Hi")]).tools(tools(Wire::Chat.dialect()));
    ask(&*Wire::Chat.model_at(server.url(), json!({"maxRetries": 0})), &request).await
}

fn chunks(choices: &[Value]) -> String {
    let events: Vec<String> =
        choices.iter().map(|choice| format!("data: {}\n\n", json!({"choices": [choice]}))).collect();
    events.concat()
}

#[tokio::test]
async fn an_answer_is_read_wherever_its_bytes_are_cut() {
    let said = Said {
        parts: vec![
            SaidPart::Reasoning("Hm é.".to_owned(), "s1".to_owned()),
            SaidPart::Text("Grüße 😀".to_owned()),
            SaidPart::Call("c1".to_owned(), "read".to_owned(), "{\"path\": \"ü\"}".to_owned()),
        ],
        ..Said::default()
    };
    for wire in Wire::ALL {
        let body = wire.stream(&said);
        for cut in (0..body.len()).step_by(37) {
            let reply = Reply::stream(&body).cut_at(&[cut, cut + 1, cut + 2]);
            let server = Server::start(move |_| reply.clone()).await;
            let request = Request::new([Message::user("Hi")]).tools(tools(wire.dialect()));
            let (answer, events) = ask(&*wire.model(&server), &request).await;
            let answer = answer.unwrap();
            assert_eq!(answer.message.to_text(), "Grüße 😀", "{wire:?} cut at {cut}");
            assert_eq!(answer.stop, StopReason::ToolCalls);
            assert_eq!(answer.model, "test");
            let call = answer.message.tool_calls().next().unwrap();
            assert_eq!((call.id.as_str(), call.name.as_str()), ("c1", "read"));
            assert!(events.contains(&ModelEvent::ToolCall(call.clone())), "{events:?}");
            let AssistantPart::Reasoning { text, .. } = &answer.message.content[0] else {
                panic!("{answer:?}")
            };
            assert_eq!(text, "Hm é.");
        }
    }
}

#[tokio::test]
async fn the_end_is_known_without_done_without_a_reason_and_without_the_end_of_the_connection() {
    let text = json!({"delta": {"content": "Hi"}});
    let stop = json!({"delta": {}, "finish_reason": "stop"});
    // `[DONE]` is missing.
    let (answer, _) = chat(chunks(&[text.clone(), stop.clone()])).await;
    assert_eq!(answer.unwrap().stop, StopReason::End);
    // The reason is missing.
    let (answer, _) = chat(format!("{}data: [DONE]\n\n", chunks(std::slice::from_ref(&text)))).await;
    assert_eq!(answer.unwrap().message.to_text(), "Hi");
    // Both are: the answer may have lost its end.
    let (answer, _) = chat(chunks(std::slice::from_ref(&text))).await;
    let error = answer.unwrap_err();
    assert!(matches!(error, ModelError::Stream { .. }), "{error:?}");
    assert_eq!(error.partial().unwrap().to_text(), "Hi");
    // The connection breaks when all is said.
    let body = chunks(&[text, stop]);
    let server = Server::start(move |_| Reply::stream(&body).ending(End::Cut)).await;
    let (answer, _) = ask(&*Wire::Chat.model(&server), &Request::new([Message::user("Hi")])).await;
    assert_eq!(answer.unwrap().message.to_text(), "Hi");
}

#[tokio::test]
async fn a_server_that_keeps_the_connection_after_done_is_left() {
    let body = format!(
        "{}data: [DONE]\n\n",
        chunks(&[json!({"delta": {"content": "Hi"}, "finish_reason": "stop"})])
    );
    let server = Server::start(move |_| Reply::stream(&body).ending(End::Stall)).await;
    let (answer, _) = ask(&*Wire::Chat.model(&server), &Request::new([Message::user("Hi")])).await;
    assert_eq!(answer.unwrap().message.to_text(), "Hi");
    server.left().await;
}

#[tokio::test]
async fn calls_are_read_as_servers_write_them() {
    let call = |members: Value| json!({"delta": {"tool_calls": [members]}});
    let function = |arguments: Value| json!({"name": "read", "arguments": arguments});
    let text = || CallArguments::from("{\"path\":\"a\"}");
    for (what, choices, expected) in [
        (
            "without an id, whole in one chunk, and `stop`",
            vec![
                json!({"delta": {"tool_calls": [{"index": 0, "type": "function", "function": function("{\"path\":\"a\"}".into())}]}, "finish_reason": "stop"}),
            ],
            vec![text()],
        ),
        (
            "arguments as an object",
            vec![
                call(json!({"index": 0, "id": "x", "function": function(json!({"path": "a"}))})),
                json!({"finish_reason": "tool_calls"}),
            ],
            vec![CallArguments::from(json!({"path": "a"}))],
        ),
        (
            "all with one index",
            vec![
                call(json!({"index": 0, "id": "x", "function": function("{\"path\":\"a\"}".into())})),
                call(json!({"index": 0, "id": "y", "function": function("{\"path\":\"a\"}".into())})),
                json!({"delta": {}, "finish_reason": "tool_calls"}),
            ],
            vec![text(), text()],
        ),
        (
            "twice the same, in pieces and then whole",
            vec![
                call(json!({"index": 0, "id": "x", "function": function("{\"path\"".into())})),
                call(json!({"index": 0, "function": {"arguments": ":\"a\"}"}})),
                call(json!({"index": 0, "id": "x", "function": function("{\"path\":\"a\"}".into())})),
                json!({"delta": {}, "finish_reason": "tool_calls"}),
            ],
            vec![text()],
        ),
        (
            "without arguments",
            vec![
                call(json!({"index": 0, "id": "x", "function": function("".into())})),
                json!({"delta": {"content": ""}, "finish_reason": "stop"}),
            ],
            vec![CallArguments::default()],
        ),
    ] {
        let (answer, _) = chat(format!("{}data: [DONE]\n\n", chunks(&choices))).await;
        let answer = answer.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(answer.stop, StopReason::ToolCalls, "{what}");
        let calls: Vec<&ToolCall> = answer.message.tool_calls().collect();
        assert!(calls.iter().all(|call| !call.id.is_empty() && call.name == "read"), "{what}: {calls:?}");
        assert_eq!(calls.iter().map(|call| call.arguments.clone()).collect::<Vec<_>>(), expected, "{what}");
    }
}

#[tokio::test]
async fn a_malformed_call_is_no_call_and_the_answer_is_an_error() {
    for delta in [
        json!({"tool_calls": [{"index": 0, "id": "x", "function": {"arguments": "{}"}}]}),
        json!({"tool_calls": "read"}),
        json!({"tool_calls": [{"index": -1, "function": {"name": "read"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"name": "read", "arguments": 5}}]}),
    ] {
        let (answer, _) = chat(chunks(&[
            json!({"delta": {"content": "Hi"}}),
            json!({"delta": delta, "finish_reason": "tool_calls"}),
        ]))
        .await;
        let error = answer.unwrap_err();
        assert!(matches!(error, ModelError::Format { .. }), "{delta}: {error:?}");
        assert_eq!(error.partial().unwrap().to_text(), "Hi");
        assert!(error.to_string().contains("models.test.provider"), "{error}");
    }
}

#[tokio::test]
async fn reasoning_usage_and_images_are_found_in_the_members_of_each_server() {
    let choices = [
        json!({"delta": {"reasoning": "think", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "think"}]}}),
        json!({"delta": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "ing"}]}, {"type": "text", "text": "Hi"}]}}),
        json!({"delta": {"images": [{"type": "image_url", "image_url": {"url": "data:image/webp;base64,YWJj"}}]}, "finish_reason": "stop",
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 8}}),
    ];
    let (answer, _) = chat(chunks(&choices)).await;
    let answer = answer.unwrap();
    assert_eq!(answer.usage, Some(Usage::new(10, 2).with_cached_tokens(8)));
    let [
        AssistantPart::Reasoning { text: reasoning, .. },
        AssistantPart::Text { text },
        AssistantPart::Image { mime_type, .. },
    ] = &answer.message.content[..]
    else {
        panic!("{answer:?}")
    };
    assert_eq!((reasoning.as_str(), text.as_str(), mime_type.as_str()), ("thinking", "Hi", "image/webp"));
    let (answer, _) = chat(chunks(&[json!({"delta": {"refusal": "No."}, "finish_reason": "stop"})])).await;
    assert_eq!(answer.unwrap().stop, StopReason::Refusal);
}

#[tokio::test]
async fn an_answer_of_a_server_that_does_not_stream_is_read_too() {
    let bodies = [
        (
            Wire::Chat,
            json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant",
                "content": "Hi", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                    {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
        ),
        (
            Wire::Responses,
            json!({"object": "response", "status": "completed", "output": [
                {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Hi"}]},
                {"type": "function_call", "id": "f", "call_id": "a", "name": "read", "arguments": "{}"},
                {"type": "function_call", "id": "g", "call_id": "b", "name": "read", "arguments": "{}"}],
                "usage": {"input_tokens": 3, "output_tokens": 4}}),
        ),
        (
            Wire::Anthropic,
            json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {}}, {"type": "tool_use", "id": "b", "name": "read", "input": {}}],
                "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}}),
        ),
        (
            Wire::Gemini,
            json!([{"candidates": [{"content": {"parts": [{"text": "Hi"}, {"functionCall": {"id": "a", "name": "read", "args": {}}}]}}]},
                {"candidates": [{"content": {"parts": [{"functionCall": {"id": "b", "name": "read", "args": {}}}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}]),
        ),
    ];
    for (wire, body) in bodies {
        let reply = Reply::json(200, &body).cut_at(&[1, 9]);
        let server = Server::start(move |_| reply.clone()).await;
        let request = Request::new([Message::user("Hi")]).tools(tools(wire.dialect()));
        let (answer, events) = ask(&*wire.model(&server), &request).await;
        let answer = answer.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
        assert_eq!(answer.message.to_text(), "Hi", "{wire:?}");
        let ids: Vec<&str> = answer.message.tool_calls().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"], "{wire:?}");
        assert_eq!(answer.usage, Some(Usage::new(3, 4)), "{wire:?}");
        assert!(events.contains(&ModelEvent::Text("Hi".to_owned())), "{wire:?}: {events:?}");
    }
}

#[tokio::test]
async fn gemini_has_no_ids_blocks_prompts_and_makes_images() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let body = json!({"candidates": [{"content": {"parts": [call("read"), call("read"),
        {"inlineData": {"mimeType": "image/png", "data": "YWJj"}, "thoughtSignature": "s"}]}, "finishReason": "STOP"}]});
    let server = Server::start(move |_| Reply::stream(&format!("data: {body}\n\n"))).await;
    let model = Wire::Gemini.model(&server);
    let request = Request::new([Message::user("Hi")]).tools(tools(Wire::Gemini.dialect()));
    let answer = ask(&*model, &request).await.0.unwrap();
    let calls: Vec<ToolCall> = answer.message.tool_calls().cloned().collect();
    assert_ne!(calls[0].id, calls[1].id);
    assert!(matches!(answer.message.content[2], AssistantPart::Image { .. }));
    // They go back as they came: without ids, and in order.
    let results = calls.iter().map(|call| toolkit_models::ToolOutput::text(call, call.id.clone()));
    let request = Request::new([
        Message::user("Hi"),
        Message::Assistant(answer.message.clone()),
        Message::tools(results),
    ]);
    let _ = ask(&*model, &request.tools(tools(Wire::Gemini.dialect()))).await;
    let contents = &server.requests()[1].body["contents"];
    assert_eq!(contents[1]["parts"][2]["thoughtSignature"], "s");
    for (place, call) in calls.iter().enumerate() {
        assert_eq!(contents[1]["parts"][place]["functionCall"].get("id"), None);
        let result = &contents[2]["parts"][place]["functionResponse"];
        assert_eq!((result.get("id"), &result["response"]["output"]), (None, &json!(call.id)));
    }

    let body = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let server = Server::start(move |_| Reply::stream(&format!("data: {body}\n\n"))).await;
    let error = ask(&*Wire::Gemini.model(&server), &Request::new([Message::user("Hi")])).await.0.unwrap_err();
    assert!(matches!(&error, ModelError::Refused { message, .. } if message == "SAFETY"), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

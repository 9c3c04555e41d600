//! The scripted model.

use crate::clients::ask;
use serde_json::json;
use toolkit::{CancellationToken, ToolCall, dialects::Dialect};
use toolkit_models::{
    Answer, AssistantMessage, AssistantPart, Message, Model as _, ModelError, ModelEvent, Request, Scripted,
    ScriptedReply, StopReason,
};

#[tokio::test]
async fn it_answers_as_it_is_told_and_says_when_the_script_ends() {
    let call = ToolCall::new("1", "read", json!({"path": "a"}));
    let error =
        ModelError::RateLimited { model: "m".to_owned(), message: "busy".to_owned(), retry_after: None };
    let replies: [ScriptedReply; 4] = [
        "Hi".into(),
        Answer::calls([call.clone()]).into(),
        error.clone().into(),
        ScriptedReply::Events(vec![ModelEvent::Text("a".to_owned())], Box::new("b".into())),
    ];
    let model = Scripted::new(replies).named("m").with_dialect(Dialect::Gemini).with_context_tokens(100);
    assert_eq!((model.name(), model.dialect(), model.context_tokens()), ("m", Dialect::Gemini, Some(100)));
    let request = Request::new([Message::user("Hi")]);
    let (answer, events) = ask(&model, &request).await;
    assert_eq!(answer.unwrap(), Answer::text("Hi").with_model("m"));
    assert_eq!(events, [ModelEvent::Started, ModelEvent::Text("Hi".to_owned())]);
    let (answer, events) = ask(&model, &request).await;
    assert_eq!(answer.unwrap().stop, StopReason::ToolCalls);
    assert_eq!(events[1], ModelEvent::ToolCall(call));
    assert_eq!(ask(&model, &request).await.0.unwrap_err(), error);
    let (answer, events) = ask(&model, &request).await;
    assert_eq!((answer.unwrap().message.to_text().as_str(), events.len()), ("b", 3));
    let error = ask(&model, &request).await.0.unwrap_err().to_string();
    assert!(error.contains("no reply to request 5"), "{error}");
    assert_eq!(model.requests().len(), 5);
}

#[tokio::test]
async fn a_stall_lasts_until_it_is_cancelled() {
    let model = Scripted::with(|_| ScriptedReply::Stall);
    let cancel = CancellationToken::new();
    let request = Request::new([Message::user("Hi")]).cancel(cancel.clone());
    let (answer, ()) = tokio::join!(ask(&model, &request), async { cancel.cancel() });
    assert!(matches!(answer.0, Err(ModelError::Cancelled { .. })));
}

#[test]
fn messages_are_written_and_read_back() {
    let call = ToolCall::new("1", "read", "{\"path\": \"a\"}");
    let messages = vec![
        Message::user("Hi"),
        Message::Assistant(AssistantMessage {
            content: vec![
                AssistantPart::Reasoning { text: "Hm".to_owned(), signature: Some("s".to_owned()) },
                AssistantPart::Text { text: "x".to_owned() },
                AssistantPart::ToolCall(call.clone()),
                AssistantPart::Image {
                    data: toolkit::output::Bytes(b"abc".to_vec()),
                    mime_type: "image/png".to_owned(),
                },
            ],
            raw: None,
        }),
        Message::tools([toolkit_models::ToolOutput::error(&call, "no")]),
    ];
    let value = serde_json::to_value(&messages).unwrap();
    assert_eq!(
        value,
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": [
                {"type": "reasoning", "text": "Hm", "signature": "s"},
                {"type": "text", "text": "x"},
                {"type": "tool_call", "id": "1", "name": "read", "arguments": "{\"path\": \"a\"}"},
                {"type": "image", "data": "YWJj", "mimeType": "image/png"}]},
            {"role": "tools", "results": [{"callId": "1", "name": "read", "isError": true, "content": [{"type": "text", "text": "no"}]}]},
        ])
    );
    assert_eq!(serde_json::from_value::<Vec<Message>>(value).unwrap(), messages);
}

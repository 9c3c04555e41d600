//! Failures between a client and a server.

use crate::clients::{KEY, Wire, ask, models, tools};
use crate::servers::{End, Reply, Said, Server};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use toolkit::{CancellationToken, dialects::Dialect};
use toolkit_models::{
    Answer, Fallback, MAX_RETRY_WAIT, Message, ModelError, ModelEvent, Models, Request, Scripted,
    ScriptedReply, ToolChoice,
};

pub(crate) fn hello() -> Request {
    Request::new([Message::user("Hi")])
}

/// Gives these answers, one after the other, and the last one again.
pub(crate) async fn server(replies: Vec<Reply>) -> Server {
    let mut replies = replies.into_iter().peekable();
    Server::start(move |_| {
        let reply = if replies.len() > 1 { replies.next() } else { replies.peek().cloned() };
        reply.unwrap()
    })
    .await
}

fn busy(status: u16) -> Reply {
    Reply::json(status, &json!({"error": {"message": "busy", "type": "overloaded_error"}}))
        .with_header("retry-after-ms", "1")
}

#[tokio::test]
async fn a_request_is_sent_again_until_an_answer_begins() {
    for wire in Wire::ALL {
        let good = Reply::stream(&wire.stream(&Said::text("Hi")));
        // A connection that ends without an answer, and answers that end before they begin.
        let replies = vec![busy(429), Reply::stream(&wire.error()), good];
        let server = server(replies).await;
        let (answer, events) = ask(&*wire.model(&server), &hello()).await;
        assert_eq!(answer.unwrap().message.to_text(), "Hi", "{wire:?}");
        assert_eq!(server.requests().len(), 3);
        let [
            ModelEvent::Retrying { attempt: 2, after, reason },
            ModelEvent::Retrying { attempt: 3, .. },
            ModelEvent::Started,
            ..,
        ] = &events[..]
        else {
            panic!("{wire:?}: {events:?}")
        };
        assert_eq!(*after, Duration::from_millis(1));
        assert!(reason.contains("busy"), "{reason}");
    }
}

#[tokio::test]
async fn a_connection_that_ends_without_an_answer_is_made_again() {
    let good = Reply::stream(&Wire::Chat.stream(&Said::text("Hi")));
    let server = server(vec![good.clone().ending(End::Refuse), good]).await;
    let (answer, events) = ask(&*Wire::Chat.model(&server), &hello()).await;
    assert_eq!(answer.unwrap().message.to_text(), "Hi");
    assert!(
        matches!(&events[0], ModelEvent::Retrying { reason, .. } if reason.contains("no connection")),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_request_is_not_sent_again_once_an_answer_has_begun() {
    for wire in Wire::ALL {
        let events = wire.events(&Said::text("Hello there"), 4);
        let broken = Reply::stream(&events[..2].concat()).ending(End::Cut);
        let server = server(vec![broken]).await;
        let (answer, events) = ask(&*wire.model(&server), &hello()).await;
        let error = answer.unwrap_err();
        assert!(matches!(error, ModelError::Stream { .. }) && error.is_retryable(), "{wire:?}: {error:?}");
        assert_eq!(server.requests().len(), 1, "{wire:?}");
        assert_eq!(events[0], ModelEvent::Started);
    }
}

#[tokio::test]
async fn what_does_not_help_is_not_tried_again() {
    let long = (MAX_RETRY_WAIT.as_secs() + 1).to_string();
    for (reply, expected) in [
        (Reply::json(401, &json!({"error": {"message": "bad key"}})), "models.test.apiKey"),
        (Reply::json(404, &json!({"error": {"message": "no such model"}})), "models.test.model"),
        (Reply::json(400, &json!({"error": {"message": "no"}})), "the provider does not take the request"),
        (
            Reply::json(429, &json!({"error": {"message": "x", "code": "insufficient_quota"}})),
            "check the account",
        ),
        (
            Reply::json(429, &json!({"error": {"message": "x"}})).with_header("retry-after", &long),
            "try again after 61 seconds",
        ),
        (
            Reply::json(503, &json!({"error": {"message": "x"}})).with_header("x-should-retry", "false"),
            "status 503",
        ),
        (Reply::json(307, &json!({})).with_header("location", "http://127.0.0.1:1/"), "status 307"),
    ] {
        let server = server(vec![reply]).await;
        let error = ask(&*Wire::Chat.model(&server), &hello()).await.0.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(server.requests().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn a_date_is_waited_for_and_the_number_of_retries_is_limited() {
    let past = busy(503).with_header("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
    let server = server(vec![past]).await;
    let (answer, events) = ask(&*Wire::Chat.model_at(server.url(), json!({"maxRetries": 1})), &hello()).await;
    assert!(matches!(answer, Err(ModelError::Status { status: 503, .. })), "{answer:?}");
    assert_eq!((server.requests().len(), events.len()), (2, 1));
    let Err(error) = answer else { unreachable!() };
    assert_eq!(error.retry_after(), Some(Duration::from_millis(1)), "the more precise header counts");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let error = ask(&*Wire::Chat.model_at(&url, json!({"maxRetries": 0})), &hello()).await.0.unwrap_err();
    let place = url.trim_end_matches("/v1");
    assert!(matches!(&error, ModelError::Connect { place: named, .. } if named == place), "{error:?}");
    assert!(error.to_string().contains("models.test.baseUrl"), "{error}");
}

#[tokio::test]
async fn a_stall_is_a_timeout_wherever_it_is() {
    let events = Wire::Chat.events(&Said::text("Hello"), 2);
    for (reply, partial) in [
        (Reply::stream("").ending(End::Stall), None),
        (Reply::stream(&events[..2].concat()).ending(End::Stall), Some("He")),
    ] {
        let server = server(vec![reply]).await;
        let model = Wire::Chat.model_at(server.url(), json!({"idleTimeoutSeconds": 1}));
        let error = ask(&*model, &hello()).await.0.unwrap_err();
        assert!(matches!(error, ModelError::Timeout { .. }), "{error:?}");
        assert_eq!(error.partial().map(toolkit_models::AssistantMessage::to_text).as_deref(), partial);
        assert!(error.to_string().contains("models.test.idleTimeoutSeconds"), "{error}");
        server.left().await;
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn cancelling_ends_the_connection_at_any_point() {
    // Before the request.
    let cancel = CancellationToken::new();
    cancel.cancel();
    let good = server(vec![Reply::stream(&Wire::Chat.stream(&Said::text("Hi")))]).await;
    let error = ask(&*Wire::Chat.model(&good), &hello().cancel(cancel)).await.0.unwrap_err();
    assert!(matches!(error, ModelError::Cancelled { .. }) && good.requests().is_empty(), "{error:?}");
    for wire in Wire::ALL {
        // Before the answer, and within it.
        let events = wire.events(&Said::text("Hello"), 2);
        for beginning in [0, 3] {
            let server = server(vec![Reply::stream(&events[..beginning].concat()).ending(End::Stall)]).await;
            let model = wire.model(&server);
            let cancel = CancellationToken::new();
            let request = hello().cancel(cancel.clone());
            let asked = async {
                let mut events = Vec::new();
                let answer = model
                    .respond(&request, &mut |event| {
                        if beginning > 0 {
                            cancel.cancel();
                        }
                        events.push(event);
                    })
                    .await;
                (answer, events)
            };
            let waits = async {
                server.received(1).await;
                if beginning == 0 {
                    cancel.cancel();
                }
            };
            let ((answer, _), ()) = tokio::join!(asked, waits);
            assert!(matches!(answer, Err(ModelError::Cancelled { .. })), "{wire:?}: {answer:?}");
            server.left().await;
        }
    }
    // While it waits to send again.
    let server = server(vec![Reply::json(503, &json!({})).with_header("retry-after", "50")]).await;
    let cancel = CancellationToken::new();
    let request = hello().cancel(cancel.clone());
    let answer = Wire::Chat.model(&server).respond(&request, &mut |_| cancel.cancel()).await;
    assert!(matches!(answer, Err(ModelError::Cancelled { .. })), "{answer:?}");
}

#[tokio::test]
async fn dropping_the_future_ends_the_connection() {
    let server = server(vec![Reply::stream("").ending(End::Stall)]).await;
    let model = Wire::Chat.model(&server);
    let request = hello();
    let mut events = |_| {};
    let mut asked = model.respond(&request, &mut events);
    tokio::select! {
        answer = &mut asked => panic!("{answer:?}"),
        () = server.received(1) => {}
    }
    drop(asked);
    server.left().await;
}

#[tokio::test]
async fn no_error_shows_a_secret() {
    let header = "planted-in-a-header";
    for (status, body) in [
        (401, json!({"error": {"message": format!("Incorrect API key provided: {KEY}; {header}")}})),
        (500, json!({"error": format!("{KEY} {header}")})),
        (200, json!({"error": {"message": format!("no {KEY} {header}")}})),
        (400, json!({"detail": [{"input": KEY, "other": header}]})),
    ] {
        for wire in Wire::ALL {
            let server = server(vec![Reply::json(status, &body)]).await;
            let model = wire.model_at(server.url(), json!({"maxRetries": 0, "headers": {"x-extra": header}}));
            let error = ask(&*model, &hello()).await.0.unwrap_err();
            for text in [error.to_string(), format!("{error:?}")] {
                assert!(!text.contains(KEY) && !text.contains(header), "{wire:?}: {text}");
                assert!(text.contains("[redacted]"), "{wire:?}: {text}");
            }
            let request = &server.requests()[0];
            assert_eq!(request.header("x-extra"), Some(header));
            let key = match wire {
                Wire::Chat | Wire::Responses => {
                    request.header("authorization").map(|key| key.trim_start_matches("Bearer "))
                }
                Wire::Anthropic => request.header("x-api-key"),
                Wire::Gemini => request.header("x-goog-api-key"),
            };
            assert_eq!(key, Some(KEY), "{wire:?}");
            assert!(!request.path.contains(KEY));
        }
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_told_apart_in_a_stream_too() {
    let body = json!({"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}});
    for reply in [
        Reply::json(400, &body),
        Reply::stream(&format!("error: {}\n\n", body["error"])),
        Reply::stream(&format!("data: {body}\n\n")),
    ] {
        let server = server(vec![reply]).await;
        let error = ask(&*Wire::Chat.model(&server), &hello()).await.0.unwrap_err();
        assert!(matches!(error, ModelError::ContextTooLong { .. }), "{error:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn what_is_no_stream_is_an_error_of_bounded_length() {
    for body in ["<html>not found</html>", "data: nonsense\n\n", "{\"half\": ", ""] {
        let server = server(vec![Reply::stream(body)]).await;
        let error =
            ask(&*Wire::Chat.model_at(server.url(), json!({"maxRetries": 0})), &hello()).await.0.unwrap_err();
        assert!(
            matches!(error, ModelError::Format { .. } | ModelError::Stream { .. }),
            "{body:?}: {error:?}"
        );
        assert!(error.to_string().len() < 1000, "{error}");
    }
}

#[tokio::test]
async fn another_model_answers_where_the_first_one_fails() {
    let failing = server(vec![busy(503)]).await;
    let stalled = server(vec![Reply::stream("").ending(End::Stall)]).await;
    let good = server(vec![Reply::stream(&Wire::Anthropic.stream(&Said::call("c1", "read", "{}")))]).await;
    let models: Models = models(json!({
        "default": "first",
        "first": {"baseUrl": failing.url(), "model": "a", "maxRetries": 1, "fallback": ["second", "third"], "contextTokens": 9000},
        "second": {"baseUrl": stalled.url(), "model": "b", "idleTimeoutSeconds": 1},
        "third": {"provider": "anthropic", "baseUrl": good.url(), "model": "c", "contextTokens": 8000},
    }));
    let model = models.get(None).unwrap();
    assert_eq!((model.name(), model.context_tokens()), ("first", Some(8000)));
    let request =
        hello().tools(tools(Dialect::OpenAiChat)).tool_choice(ToolChoice::Named("files.list".to_owned()));
    let (answer, events) = ask(&*model, &request).await;
    let answer = answer.unwrap();
    assert_eq!((answer.model.as_str(), answer.message.tool_calls().count()), ("third", 1));
    let fallbacks: Vec<(&str, &str)> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Fallback { from, to, .. } => Some((from.as_str(), to.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(fallbacks, [("first", "second"), ("second", "third")]);
    // The tools are those of the provider that is asked.
    let body = &good.requests()[0].body;
    assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
    assert_eq!(body["tool_choice"]["name"], body["tools"][1]["name"]);
}

#[tokio::test]
async fn no_other_model_is_asked_once_an_answer_has_begun_or_where_the_request_is_at_fault() {
    let error =
        || ModelError::Stream { model: "a".to_owned(), message: "broke".to_owned(), partial: Box::default() };
    let begun = ScriptedReply::Events(vec![ModelEvent::Text("Hi".to_owned())], Box::new(error().into()));
    let wrong = ModelError::Status {
        model: "a".to_owned(),
        status: 400,
        message: "no".to_owned(),
        retry_after: None,
    };
    for reply in [begun, wrong.into()] {
        let other = Arc::new(Scripted::new(["never"]));
        let model = Fallback::new(
            Arc::new(Scripted::new([reply])),
            [Arc::clone(&other) as Arc<dyn toolkit_models::Model>],
        );
        assert!(ask(&model, &hello()).await.0.is_err());
        assert!(other.requests().is_empty());
    }
    let other: Arc<dyn toolkit_models::Model> = Arc::new(Scripted::new(["other"]).named("b"));
    let model = Fallback::new(Arc::new(Scripted::new([error()])), [other]);
    let answer: Answer = ask(&model, &hello()).await.0.unwrap();
    assert_eq!(answer.model, "b");
}

#[tokio::test]
async fn a_tool_that_is_demanded_and_not_there_is_an_error_before_anything_is_sent() {
    for wire in Wire::ALL {
        let server = server(vec![busy(500)]).await;
        let request = hello().tools(tools(wire.dialect())).tool_choice(ToolChoice::Named("write".to_owned()));
        let error = ask(&*wire.model(&server), &request).await.0.unwrap_err();
        assert!(
            matches!(error, ModelError::Request { .. }) && error.to_string().contains("`write`"),
            "{error}"
        );
        assert!(server.requests().is_empty());
    }
}

#[tokio::test]
async fn an_answer_without_end_is_ended() {
    let chunk = json!({"choices": [{"delta": {"content": "x".repeat(1 << 20)}}]});
    let piece = format!("data: {chunk}\n\n").into_bytes();
    let mut reply = Reply::stream("");
    reply.pieces = vec![piece; 66];
    let server = server(vec![reply]).await;
    let error = ask(&*Wire::Chat.model(&server), &hello()).await.0.unwrap_err();
    assert!(
        matches!(&error, ModelError::Format { message, .. } if message.contains("longer than")),
        "{}",
        error.to_string()
    );
}

//! Endpoints that fail: who is asked next, and what is said.

use super::{KEY, audio, provider, speaking, toolbox, wav};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolkit::testing::TestToolbox;
use toolkit::{ToolErrorKind, output::Retry, tool_ref};
use toolkit_loopback::{Answer, Loopback, Request};

/// An endpoint that gives one answer.
async fn answering(answer: Answer) -> Loopback {
    Loopback::start(move |_: &Request| answer.clone()).await
}

async fn good() -> Loopback {
    answering(Answer::bytes(200, wav(10, 1)).with_header("content-type", "audio/wav")).await
}

fn both(first: &str, second: &str) -> TestToolbox {
    let mut named = provider(first);
    named["name"] = json!("the first");
    let settings = json!({ "tts": { "providers": [named, provider(second)] } });
    toolbox(tool_ref!(builtin_tools::media::tts), &settings)
}

fn error(message: &str, code: &str) -> Value {
    json!({ "error": { "message": message, "code": code, "type": "invalid_request_error", "param": null } })
}

#[tokio::test]
async fn another_endpoint_is_asked_where_the_first_refused() {
    for answer in [
        Answer::json(401, &error("Incorrect API key provided", "invalid_api_key")),
        Answer::json(403, &json!({})),
        Answer::json(404, &error("no such model", "model_not_found")),
        Answer::json(429, &error("slow down", "rate_limit_exceeded")),
        Answer::json(429, &error("You exceeded your current quota", "insufficient_quota")),
        Answer::json(402, &json!({})),
        Answer::json(503, &json!({})),
        Answer::bytes(302, "").with_header("location", "http://127.0.0.1:1/"),
    ] {
        let (first, second) = (answering(answer.clone()).await, good().await);
        let call = both(first.url(), second.url()).call(json!({ "text": "Hello." })).await;
        assert_eq!(audio(&call).0, wav(10, 1), "{answer:?}");
        assert_eq!((first.requests().len(), second.requests().len()), (1, 1), "{answer:?}");
    }
    // Nothing listens there.
    let second = good().await;
    let call = both("http://127.0.0.1:2", second.url()).call(json!({ "text": "Hello." })).await;
    assert_eq!(audio(&call).0, wav(10, 1));
}

#[tokio::test]
async fn nobody_else_is_asked_where_it_may_have_been_charged() {
    for (answer, kind, expected) in [
        (
            Answer::json(500, &error("oops", "server_error")),
            ToolErrorKind::Unavailable,
            "the first answered 500: oops. It may have been charged",
        ),
        (
            Answer::json(504, &json!({})),
            ToolErrorKind::Unavailable,
            "It may have been charged, so it is not asked again",
        ),
        (
            Answer::json(400, &error("unknown voice", "invalid_value")),
            ToolErrorKind::Failed,
            "the first answered 400: unknown voice",
        ),
        (
            Answer::json(400, &error("Your request was rejected", "content_policy_violation")),
            ToolErrorKind::Failed,
            "Its rules do not allow this; ask for something else",
        ),
        (Answer::Close, ToolErrorKind::Failed, "it may have been charged, so it is not asked again"),
        (
            Answer::json(200, &json!({ "audio": "no" })),
            ToolErrorKind::Failed,
            "gave an answer that cannot be used: it is not wav audio",
        ),
        (Answer::bytes(200, "RIFF nothing"), ToolErrorKind::Failed, "cannot be used: it is not a WAV file"),
    ] {
        let (first, second) = (answering(answer.clone()).await, good().await);
        let call = both(first.url(), second.url()).call(json!({ "text": "Hello." })).await;
        let error = call.expect_error(kind);
        assert!(error.message().contains(expected), "{answer:?}: {error}");
        assert_eq!(error.retry(), Retry::Never, "{answer:?}");
        assert_eq!((first.requests().len(), second.requests().len()), (1, 0), "{answer:?}");
    }
}

#[tokio::test]
async fn an_answer_that_ends_early_is_not_asked_for_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let mut requests = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            requests += 1;
            assert_eq!(requests, 1, "it was asked again");
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await;
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: 1000\r\n\r\nRIFF")
                .await;
        }
    });
    let call = speaking(&url).call(json!({ "text": "Hello." })).await;
    let error = call.expect_error(ToolErrorKind::Failed);
    assert!(
        error.message().contains("ended early") && error.message().contains("it may have been charged"),
        "{error}"
    );
    assert!(!serving.is_finished());
    serving.abort();
}

#[tokio::test]
async fn the_wait_that_an_endpoint_asks_for_is_told() {
    for status in [429, 503] {
        let server =
            answering(Answer::json(status, &error("slow down", "x")).with_header("retry-after", "17")).await;
        let call = speaking(server.url()).call(json!({ "text": "Hello." })).await;
        let error = call.expect_error(ToolErrorKind::Unavailable);
        assert_eq!(error.retry(), Retry::After(Duration::from_secs(17)));
        assert!(error.message().contains("Try again after 17 seconds"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn all_refusals_are_told() {
    let first = answering(Answer::json(401, &error("bad key", "invalid_api_key"))).await;
    let second = answering(Answer::json(404, &error("no model", "model_not_found"))).await;
    let call = both(first.url(), second.url()).call(json!({ "text": "Hello." })).await;
    let error = call.expect_error(ToolErrorKind::Unavailable);
    assert!(error.message().contains("the first answered 401: bad key"), "{error}");
    assert!(error.message().contains("answered 404: no model"), "{error}");
    assert!(error.message().contains("check the `apiKey` in `tools.tts`"), "{error}");
}

#[tokio::test]
async fn the_key_is_told_to_nobody() {
    for answer in [
        Answer::json(401, &error(&format!("Incorrect API key provided: {KEY}"), "invalid_api_key")),
        Answer::bytes(400, format!("what is {KEY}?")),
    ] {
        let server = answering(answer).await;
        let call = speaking(server.url()).call(json!({ "text": "Hello." })).await;
        let told = format!("{call:?}");
        assert!(!told.contains(KEY) && told.contains("[redacted]"), "{told}");
    }
}

#[tokio::test]
async fn what_a_page_for_people_says_is_not_told() {
    let server = answering(Answer::bytes(502, "<html>Bad gateway\u{1b}[2J</html>")).await;
    let call = speaking(server.url()).call(json!({ "text": "Hello." })).await;
    let error = call.expect_error(ToolErrorKind::Unavailable);
    assert!(error.message().contains("answered 502: it gives no reason"), "{error}");
}

#[tokio::test]
async fn a_time_out_is_told_with_its_setting() {
    let server = answering(Answer::Hang).await;
    let settings = json!({ "tts": { "providers": [provider(server.url())], "timeoutSeconds": 1 } });
    let toolbox = toolbox(tool_ref!(builtin_tools::media::tts), &settings);
    let call = toolbox.call(json!({ "text": "Hello." })).await;
    let error = call.expect_error(ToolErrorKind::TimedOut);
    assert!(error.message().contains("within 1 seconds (`tools.tts.timeoutSeconds`)"), "{error}");
    assert_eq!(error.retry(), Retry::Never);
}

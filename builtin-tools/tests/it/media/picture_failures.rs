//! Errors of endpoints for pictures: refusals, limits, and answers that end early.

use super::pictures::{painter, red, settings};
use super::{KEY, provider, toolbox};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use toolkit::testing::TestToolbox;
use toolkit::{CallOptions, CancellationToken, ToolErrorKind, output::Retry, tool_ref};
use toolkit_loopback::{Answer, Loopback, Request};

/// A call for each path of the interface.
fn calls() -> [Value; 3] {
    [
        json!({ "prompt": "A boat" }),
        json!({ "action": "edit", "prompt": "Make it blue", "image": "in.png" }),
        json!({ "action": "describe", "image": "in.png" }),
    ]
}

/// A toolbox with two endpoints for all actions, and the picture `in.png`.
fn both(first: &str, second: &str) -> TestToolbox {
    let mut named = provider(first);
    named["name"] = json!("the first");
    let list = json!([named, provider(second)]);
    let settings = json!({ "image": { "providers": list, "vision": list } });
    toolbox(tool_ref!(builtin_tools::media::image), &settings).file("in.png", red(4, 4))
}

fn one(url: &str) -> TestToolbox {
    toolbox(tool_ref!(builtin_tools::media::image), &settings(url)).file("in.png", red(4, 4))
}

async fn answering(answer: Answer) -> Loopback {
    Loopback::start(move |_: &Request| answer.clone()).await
}

fn error(message: &str, kind: &str, code: &str) -> Value {
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}

#[tokio::test]
async fn a_refusal_for_its_content_goes_to_no_other_endpoint() {
    let said = "Your request was rejected by the safety system.";
    for answer in [
        Answer::json(400, &error(said, "image_generation_user_error", "moderation_blocked")),
        Answer::json(400, &error(said, "invalid_request_error", "content_policy_violation")),
        Answer::json(403, &error(said, "invalid_request_error", "content_filter")),
    ] {
        for call in calls() {
            let (first, second) = (answering(answer.clone()).await, painter().await);
            let toolbox = both(first.url(), second.url());
            let outcome = toolbox.call(call.clone()).await;
            let error = outcome.expect_error(ToolErrorKind::Failed);
            assert!(error.message().contains(said), "{call}: {error}");
            assert!(error.message().contains("ask for something else"), "{call}: {error}");
            assert_eq!((first.requests().len(), second.requests().len()), (1, 0), "{call}");
            assert_eq!(toolbox.workspace().files(), ["in.png"], "{call}");
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_told_with_its_wait_or_avoided_by_another_endpoint() {
    let limited = || {
        let body = error("Rate limit reached for images per minute", "requests", "rate_limit_exceeded");
        answering(Answer::json(429, &body).with_header("retry-after", "17"))
    };
    for call in calls() {
        let server = limited().await;
        let outcome = one(server.url()).call(call.clone()).await;
        let error = outcome.expect_error(ToolErrorKind::Unavailable);
        assert_eq!((error.retry(), server.requests().len()), (Retry::After(Duration::from_secs(17)), 1));
        assert!(error.message().contains("Rate limit reached"), "{error}");
        let (first, second) = (limited().await, painter().await);
        both(first.url(), second.url()).call(call).await.expect_ok();
        assert_eq!((first.requests().len(), second.requests().len()), (1, 1));
    }
}

#[tokio::test]
async fn an_error_of_the_server_is_not_asked_for_again() {
    for status in [500, 502, 504] {
        for call in calls() {
            let body = error("The server had an error", "server_error", "server_error");
            let (first, second) = (answering(Answer::json(status, &body)).await, painter().await);
            let outcome = both(first.url(), second.url()).call(call.clone()).await;
            let error = outcome.expect_error(ToolErrorKind::Unavailable);
            assert!(error.message().contains("may have been charged"), "{call}: {error}");
            assert_eq!(error.retry(), Retry::Never, "{call}");
            assert_eq!((first.requests().len(), second.requests().len()), (1, 0), "{call}");
        }
    }
}

/// A server that ends each answer in the middle of its body. Returns its address and the number of requests.
async fn ending_early(status: &'static str) -> (String, watch::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (came, requests) = watch::channel(0);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            came.send_modify(|count| *count += 1);
            let mut head = vec![0; 64 << 10];
            let _ = stream.read(&mut head).await;
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{{\"data\": [{{\"b64_json\": \"iVBOR"
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, requests)
}

#[tokio::test]
async fn an_answer_that_ends_in_the_middle_is_not_asked_for_again() {
    for (status, kind, expected) in [
        ("200 OK", ToolErrorKind::Failed, "ended early"),
        ("500 Internal Server Error", ToolErrorKind::Unavailable, "the first answered 500"),
    ] {
        for call in calls() {
            let ((first, requests), second) = (ending_early(status).await, painter().await);
            let toolbox = both(&first, second.url());
            let outcome = toolbox.call(call.clone()).await;
            let error = outcome.expect_error(kind);
            assert!(error.message().contains(expected), "{call}: {error}");
            assert!(error.message().contains("may have been charged"), "{call}: {error}");
            assert_eq!((error.retry(), *requests.borrow()), (Retry::Never, 1), "{call}");
            assert!(second.requests().is_empty(), "{call}");
            assert_eq!(toolbox.workspace().files(), ["in.png"], "{call}");
        }
    }
}

#[tokio::test]
async fn a_time_out_names_its_setting() {
    let server = answering(Answer::Hang).await;
    let mut settings = settings(server.url());
    settings["image"]["timeoutSeconds"] = json!(1);
    let toolbox = toolbox(tool_ref!(builtin_tools::media::image), &settings);
    let call = toolbox.call(json!({ "prompt": "x" })).await;
    let error = call.expect_error(ToolErrorKind::TimedOut);
    assert!(error.message().contains("within 1 seconds (`tools.image.timeoutSeconds`)"), "{error}");
    assert_eq!((error.retry(), server.requests().len()), (Retry::Never, 1));
}

#[tokio::test]
async fn a_cancelled_call_ends_the_request_and_its_progress_is_told() {
    for call in calls() {
        let server = answering(Answer::Hang).await;
        let token = CancellationToken::new();
        let toolbox = one(server.url()).options(CallOptions::new().cancel(token.clone()));
        let (outcome, ()) = tokio::join!(toolbox.call(call.clone()), async {
            server.received(1).await;
            token.cancel();
        });
        outcome.expect_error(ToolErrorKind::Aborted);
        let told: Vec<String> = outcome.progress().filter_map(|progress| progress.message.clone()).collect();
        assert!(told.iter().any(|message| message.starts_with("waiting for 127.0.0.1")), "{call}: {told:?}");
        assert_eq!(toolbox.workspace().files(), ["in.png"], "{call}");
    }
}

#[tokio::test]
async fn the_key_appears_in_no_error() {
    // In a long message the key is where it is cut.
    for before in 0..=KEY.len() {
        let filler = if before == 0 { String::new() } else { "x".repeat(500 - before) };
        let message = format!("Incorrect API key provided: {filler} {KEY}.");
        let body = error(&message, "invalid_request_error", "invalid_api_key");
        for call in calls() {
            let server = answering(Answer::json(401, &body)).await;
            let outcome = one(server.url()).call(call).await;
            let told = format!("{outcome:?}");
            assert!(!told.contains(&KEY[..8.min(KEY.len())]), "{told}");
            assert!(before > 0 || told.contains("[redacted]"), "{told}");
        }
    }
}

//! Errors of the service, and their advice.

use super::bench::{Bench, completion, endpoint, failed, task};
use serde_json::json;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{CallOptions, CancellationToken, ToolErrorKind, output::Retry};
use toolkit_loopback::{Answer, Loopback};

#[tokio::test]
async fn failures_are_told_with_what_helps() {
    use ToolErrorKind::{Failed, Unavailable};
    let after = |seconds| Retry::After(Duration::from_secs(seconds));
    let never = Retry::Never;
    let refusal = Answer::json(
        200,
        &json!({ "choices": [{ "message": { "content": null, "refusal": "I will not" }, "finish_reason": "stop" }] }),
    );
    for (answer, kind, retry, expected) in [
        (completion("{\"mood\": \"go", "length"), Failed, never, "plugins.llm-task.maxTokens"),
        (completion("", "content_filter"), Failed, never, "filter"),
        (refusal, Failed, never, "I will not"),
        (failed(401, "Incorrect API key provided"), Unavailable, never, "plugins.llm-task.apiKey"),
        (failed(404, "The model does not exist"), Unavailable, never, "plugins.llm-task.model"),
        (failed(400, "Invalid schema for response_format"), Failed, never, "plugins.llm-task.responseFormat"),
        (failed(413, "too large"), Failed, never, "smaller task"),
        (
            failed(429, "Rate limit reached").with_header("retry-after", "20"),
            Unavailable,
            after(20),
            "after 20 seconds",
        ),
        (failed(429, "Rate limit reached"), Unavailable, after(5), "after 5 seconds"),
        (
            Answer::json(
                429,
                &json!({ "error": { "message": "You exceeded", "code": "insufficient_quota" } }),
            ),
            Unavailable,
            never,
            "waiting does not help",
        ),
        (failed(402, "Insufficient credits"), Unavailable, never, "look at the account"),
        (failed(500, "The server had an error"), Unavailable, after(5), "had an error"),
        (
            Answer::json(503, &json!({ "error": "loading the model" })),
            Unavailable,
            after(5),
            "loading the model",
        ),
        (Answer::json(422, &json!({ "message": "no such field" })), Failed, never, "no such field"),
        (Answer::bytes(502, "<html>"), Unavailable, after(5), "gives no reason"),
        (
            Answer::bytes(502, "<html>").with_header("retry-after", "9"),
            Unavailable,
            after(9),
            "after 9 seconds",
        ),
        (
            Answer::bytes(429, "<html>").with_header("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
            Unavailable,
            after(86_400),
            "gives no reason",
        ),
        (Answer::bytes(503, vec![b' '; (4 << 20) + 1]), Unavailable, after(5), "gives no reason"),
        (Answer::bytes(200, "{}"), Unavailable, never, "cannot be read"),
        (Answer::json(200, &json!({ "choices": [] })), Unavailable, never, "no answer of the model"),
        (Answer::bytes(200, vec![b' '; (4 << 20) + 1]), Unavailable, never, "too long"),
        (Answer::bytes(307, "").with_header("location", "http://127.0.0.1:1/"), Failed, never, "307"),
        (failed(400, &"x\u{1b}".repeat(10_000)), Failed, never, "400"),
        (Answer::Close, Unavailable, Retry::Now, "cannot be reached"),
    ] {
        let server = endpoint(vec![answer]).await;
        let error = Bench::ready(server.url()).error(task()).await;
        assert_eq!((error.kind(), error.retry()), (kind, retry), "{error}");
        assert!(error.message().contains(expected), "{expected:?}: {error}");
        assert!(error.message().len() < 1_500 && !error.message().contains('\u{1b}'), "{error}");
        assert_eq!(server.requests().len(), 1, "{error}");
    }
    let error = Bench::ready("http://127.0.0.1:1").error(task()).await;
    assert_eq!((error.kind(), error.retry()), (Unavailable, Retry::Now), "{error}");
}

#[tokio::test]
async fn one_that_hangs_is_late_or_cancelled() {
    let server = Loopback::start(|_| Answer::Hang).await;
    let bench =
        Bench::with(server.url(), &["permission.llm_task=allow", "plugins.llm-task.timeoutSeconds=1"]);
    let error = bench.error(task()).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::TimedOut, Retry::Now), "{error}");
    assert!(error.message().contains("within 1 seconds"), "{error}");
    let token = CancellationToken::new();
    let (toolbox, options) = (bench.toolbox().await, CallOptions::new().cancel(token.clone()));
    let call = toolbox.call_with(ToolCall::new("2", "llm_task", task()), options);
    let cancel = async {
        server.received(2).await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Aborted);
}

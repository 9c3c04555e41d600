//! Errors of the service, and their advice.

use super::bench::{Bench, poll, refused, token};
use serde_json::{Value, json};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{CallOptions, CancellationToken, ToolErrorKind, approval::Answer as Reply, output::Retry};
use toolkit_loopback::{Answer, Loopback};

#[tokio::test]
async fn failures_are_told_with_what_helps() {
    use ToolErrorKind::{Denied, Failed, NotFound, Unavailable};
    let with_parameters = |code: u16, description: &str, parameters: Value| {
        Answer::json(
            code,
            &json!({ "ok": false, "error_code": code, "description": description, "parameters": parameters }),
        )
    };
    let after = |seconds| Retry::After(Duration::from_secs(seconds));
    let page =
        |status| Answer::bytes(status, "<html>Not now</html>").with_header("content-type", "text/html");
    for (answer, kind, retry, expected) in [
        (
            with_parameters(429, "Too Many Requests: retry after 37", json!({ "retry_after": 37 })),
            Unavailable,
            after(37),
            "try again after 37 seconds",
        ),
        (refused(429, "Too Many Requests"), Unavailable, after(1), "Nothing was done"),
        (
            with_parameters(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                json!({ "migrate_to_chat_id": -1_009_999_i64 }),
            ),
            Failed,
            Retry::Never,
            "`chat_id` \"-1009999\"",
        ),
        (refused(401, "Unauthorized"), Unavailable, Retry::Never, "plugins.telegram.token"),
        (refused(404, "Not Found"), Unavailable, Retry::Never, "plugins.telegram.token"),
        (
            refused(403, "Forbidden: bot was kicked from the supergroup chat"),
            Denied,
            Retry::Never,
            "bot was kicked",
        ),
        (refused(403, "Forbidden: bot was blocked by the user"), Denied, Retry::Never, "blocked by the user"),
        (refused(400, "Bad Request: chat not found"), NotFound, Retry::Never, "chat not found"),
        (refused(400, "Bad Request: have no rights to send a message"), Denied, Retry::Never, "no rights"),
        (
            refused(400, "Bad Request: polls can't be sent to private chats"),
            Failed,
            Retry::Never,
            "private chats",
        ),
        (refused(500, "Internal Server Error"), Unavailable, Retry::Never, "It may have been done"),
        // Servers on the way there speak no JSON.
        (page(429).with_header("retry-after", "17"), Unavailable, after(17), "try again after 17 seconds"),
        (
            page(429).with_header("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
            Unavailable,
            after(86_400),
            "Nothing was done",
        ),
        (page(429), Unavailable, after(1), "Nothing was done"),
        (Answer::json(429, &json!({ "error": "slow down" })), Unavailable, after(1), "Nothing was done"),
        (Answer::bytes(429, vec![b' '; (1 << 20) + 1]), Unavailable, after(1), "Nothing was done"),
        (refused(429, "Too Many").with_header("retry-after", "5"), Unavailable, after(5), "Nothing was done"),
        (page(503).with_header("retry-after", "9"), Unavailable, after(9), "try again after 9 seconds"),
        (
            page(503),
            Unavailable,
            Retry::Never,
            "on the way to Telegram has no answer of it (HTTP status 503)",
        ),
        (page(502), Unavailable, Retry::Never, "HTTP status 502). It may have been done"),
        (page(502).with_header("retry-after", "9"), Unavailable, Retry::Never, "It may have been done"),
        (Answer::bytes(200, "{\"ok\":true}"), Unavailable, Retry::Never, "no result"),
        (Answer::bytes(200, "[]"), Unavailable, Retry::Never, "cannot be read"),
        (Answer::bytes(200, vec![b' '; (1 << 20) + 1]), Unavailable, Retry::Never, "too long"),
        (
            Answer::bytes(302, "").with_header("location", "http://127.0.0.1:1/"),
            Unavailable,
            Retry::Never,
            "HTTP status 302",
        ),
        (refused(400, &"x\u{1b}".repeat(10_000)), Failed, Retry::Never, "Nothing was done"),
        (Answer::Close, Unavailable, Retry::Never, "It may have been done"),
    ] {
        let server = Loopback::start(move |_| answer.clone()).await;
        let bench = Bench::ready(server.url());
        let error = bench.error("telegram_send_poll", poll()).await;
        assert_eq!((error.kind(), error.retry()), (kind, retry), "{error}");
        assert!(error.message().contains(expected), "{expected:?}: {error}");
        assert!(error.message().len() < 1_000 && !error.message().contains('\u{1b}'), "{error}");
        assert_eq!(server.requests().len(), 1, "one request, whatever comes of it: {error}");
    }
    let bench = Bench::ready("http://127.0.0.1:1");
    let error = bench.error("telegram_send_poll", poll()).await;
    assert_eq!((error.kind(), error.retry()), (Unavailable, Retry::Now), "{error}");
    assert!(error.message().contains("Nothing was sent"), "{error}");
}

#[tokio::test]
async fn one_that_hangs_is_late_or_cancelled() {
    let server = Loopback::start(|_| Answer::Hang).await;
    let bench = Bench::new(
        server.url(),
        &[&token(), "permission.message=allow", "plugins.telegram.timeoutSeconds=1"],
        Reply::deny(),
    );
    let error = bench.error("telegram_send_poll", poll()).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::TimedOut, Retry::Never), "{error}");
    assert!(error.message().contains("within 1 seconds. It may have been done"), "{error}");

    let bench = Bench::ready(server.url());
    let before = server.requests().len();
    let token = CancellationToken::new();
    let (toolbox, options) = (bench.toolbox().await, CallOptions::new().cancel(token.clone()));
    let call = toolbox.call_with(ToolCall::new("2", "telegram_send_poll", poll()), options);
    let cancel = async {
        server.received(before + 1).await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Aborted);
}

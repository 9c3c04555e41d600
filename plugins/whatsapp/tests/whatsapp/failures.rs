//! Errors of the service, and their advice.

use super::bench::{Bench, place, refused};
use serde_json::json;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{CallOptions, CancellationToken, ToolErrorKind, approval::Answer as Reply, output::Retry};
use toolkit_loopback::{Answer, Loopback};

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of all codes")]
async fn failures_are_told_with_what_helps() {
    use ToolErrorKind::{Denied, Failed, InvalidArguments, NotFound, Unavailable};
    let after = |seconds| Retry::After(Duration::from_secs(seconds));
    let never = Retry::Never;
    let page =
        |status| Answer::bytes(status, "<html>Not now</html>").with_header("content-type", "text/html");
    for (answer, kind, retry, expected) in [
        (refused(401, 0, "AuthException", "x"), Unavailable, never, "plugins.whatsapp.token"),
        (
            refused(401, 190, "Error validating access token", "expired"),
            Unavailable,
            never,
            "plugins.whatsapp.token",
        ),
        (refused(403, 10, "Permission denied", "x"), Denied, never, "permission"),
        (refused(403, 200, "API Permission", "x"), Denied, never, "permission"),
        (refused(400, 33, "Parameter value is not valid", "deleted"), Unavailable, never, "phoneNumberId"),
        (refused(400, 4, "API Too Many Calls", "x"), Unavailable, after(60), "Nothing was sent"),
        (refused(400, 80_007, "Rate limit issues", "x"), Unavailable, after(60), "after 60 seconds"),
        (refused(400, 130_429, "Rate limit hit", "x"), Unavailable, after(1), "after 1 seconds"),
        (
            refused(400, 131_056, "(Business Account, Consumer Account) pair rate limit hit", "x"),
            Unavailable,
            after(6),
            "after 6 seconds",
        ),
        (
            refused(429, 130_429, "Rate limit hit", "x").with_header("retry-after", "17"),
            Unavailable,
            after(17),
            "after 17 seconds",
        ),
        (
            refused(429, 130_429, "Rate limit hit", "x").with_header("retry-after", "soon"),
            Unavailable,
            after(1),
            "after 1 seconds",
        ),
        (refused(503, 131_016, "Service unavailable", "x"), Unavailable, after(30), "Nothing was sent"),
        (refused(500, 1, "An unknown error has occurred", "x"), Unavailable, never, "may have been sent"),
        (refused(400, 1, "API Unknown", "x"), Unavailable, after(30), "Nothing was sent"),
        (refused(500, 131_000, "Something went wrong", "x"), Unavailable, after(30), "Nothing was sent"),
        (
            refused(400, 100, "Invalid parameter", "name is missing"),
            InvalidArguments,
            never,
            "name is missing",
        ),
        (
            refused(400, 131_009, "Parameter value is not valid", "x"),
            InvalidArguments,
            never,
            "Nothing was sent",
        ),
        (
            refused(400, 131_021, "Recipient cannot be sender", "x"),
            InvalidArguments,
            never,
            "the number that sends",
        ),
        (refused(400, 131_026, "Message undeliverable", "x"), NotFound, never, "perhaps not on WhatsApp"),
        (
            refused(400, 131_030, "Recipient phone number not in allowed list", "x"),
            Denied,
            never,
            "test number",
        ),
        (refused(400, 131_047, "Re-engagement message", "x"), Denied, never, "24 hours"),
        (refused(400, 131_048, "Spam rate limit hit", "x"), Denied, never, "Go on without it"),
        (
            refused(403, 368, "Temporarily blocked for policies violations", "x"),
            Unavailable,
            never,
            "WhatsApp Manager",
        ),
        (refused(403, 131_031, "Account has been locked", "x"), Unavailable, never, "WhatsApp Manager"),
        (refused(400, 999_999, "Something new", "x"), Failed, never, "Something new"),
        (refused(500, 999_999, "Something new", "x"), Unavailable, never, "It may have been sent"),
        (refused(429, 999_999, "Something new", "x"), Unavailable, after(60), "Nothing was sent"),
        (
            Answer::json(400, &json!({ "error": { "message": "old form", "code": 100 } })),
            InvalidArguments,
            never,
            "old form",
        ),
        (Answer::json(400, &json!({ "error": "text" })), Unavailable, never, "cannot be read"),
        (Answer::json(200, &json!({ "messages": [] })), Unavailable, never, "names no message"),
        (
            Answer::json(202, &json!({ "error": { "message": "neither success", "code": 100 } })),
            InvalidArguments,
            never,
            "neither success",
        ),
        (
            Answer::json(500, &json!({ "messages": [{ "id": "x" }] })),
            Unavailable,
            never,
            "It may have been sent",
        ),
        // Servers on the way there speak no JSON.
        (page(429).with_header("retry-after", "17"), Unavailable, after(17), "try again after 17 seconds"),
        (
            page(429).with_header("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT"),
            Unavailable,
            after(86_400),
            "Nothing was sent",
        ),
        (page(429), Unavailable, after(60), "Nothing was sent"),
        (Answer::json(429, &json!({ "error": "slow down" })), Unavailable, after(60), "Nothing was sent"),
        (Answer::bytes(429, vec![b' '; (1 << 20) + 1]), Unavailable, after(60), "Nothing was sent"),
        (page(503).with_header("retry-after", "9"), Unavailable, after(9), "try again after 9 seconds"),
        (page(503), Unavailable, never, "on the way to WhatsApp has no answer of it (HTTP status 503)"),
        (page(502), Unavailable, never, "HTTP status 502). It may have been sent"),
        (page(502).with_header("retry-after", "9"), Unavailable, never, "It may have been sent"),
        (Answer::bytes(200, vec![b' '; (1 << 20) + 1]), Unavailable, never, "too long"),
        (
            Answer::bytes(302, "").with_header("location", "http://127.0.0.1:1/"),
            Unavailable,
            never,
            "HTTP status 302",
        ),
        (refused(400, 999_999, &"x\u{1b}".repeat(10_000), "x"), Failed, never, "Nothing was sent"),
        (Answer::Close, Unavailable, never, "It may have been sent"),
    ] {
        let server = Loopback::start(move |_| answer.clone()).await;
        let bench = Bench::ready(server.url());
        let error = bench.error("whatsapp_send_location", place()).await;
        assert_eq!((error.kind(), error.retry()), (kind, retry), "{error}");
        assert!(error.message().contains(expected), "{expected:?}: {error}");
        assert!(error.message().len() < 1_000 && !error.message().contains('\u{1b}'), "{error}");
        assert_eq!(server.requests().len(), 1, "one request, whatever comes of it: {error}");
        if error.message().contains("Rate limit hit") {
            assert_eq!(error.metadata("code").unwrap(), &json!(130_429));
            assert_eq!(error.metadata("fbtraceId").unwrap(), "Az8or2yhqkZfEZ-_4Qn_Bam");
        }
    }
    let error = Bench::ready("http://127.0.0.1:1").error("whatsapp_send_location", place()).await;
    assert_eq!((error.kind(), error.retry()), (Unavailable, Retry::Now), "{error}");
    assert!(error.message().contains("Nothing was sent"), "{error}");
}

#[tokio::test]
async fn one_that_hangs_is_late_or_cancelled() {
    let server = Loopback::start(|_| Answer::Hang).await;
    let settings = ["permission.message=allow", "plugins.whatsapp.timeoutSeconds=1"];
    let bench = Bench::with(server.url(), &settings, Reply::deny());
    let error = bench.error("whatsapp_send_location", place()).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::TimedOut, Retry::Never), "{error}");
    assert!(error.message().contains("within 1 seconds. It may have been sent"), "{error}");
    let token = CancellationToken::new();
    let (toolbox, options) = (bench.toolbox().await, CallOptions::new().cancel(token.clone()));
    let call = toolbox.call_with(ToolCall::new("2", "whatsapp_send_location", place()), options);
    let cancel = async {
        server.received(2).await;
        token.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.outcome.unwrap_err().kind(), ToolErrorKind::Aborted);
}

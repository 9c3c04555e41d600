//! Requests that are malformed, and methods and paths that are not there.

use super::{Server, TOKEN};
use bytes::Bytes;
use http_body_util::Full;
use serde_json::json;
use toolkit::prelude::*;
use toolkit::tool_ref;

/// Repeats.
#[tool(read_only)]
async fn echo(
    /** The text. */
    text: String,
) -> String {
    text
}

async fn server() -> Server {
    Server::with(Toolkit::empty().tool(tool_ref!(echo)).build().unwrap(), |mut options| {
        options.max_body = 10_000;
        options
    })
    .await
}

#[tokio::test]
async fn a_malformed_request_is_a_problem_that_says_what_is_wrong() {
    let server = server().await;
    let deep = format!("{}1{}", "{\"a\":".repeat(150), "}".repeat(150));
    let large = json!({ "text": "x".repeat(10_000) }).to_string();
    for (accept, kind, body, status, part) in [
        ("*/*", "application/json", "{", 400, "not JSON"),
        ("*/*", "application/json", "[]", 400, "a JSON object"),
        ("*/*", "application/json", "{\"text\":\"a\",\"text\":\"b\"}", 400, "is repeated"),
        ("*/*", "application/json", "{\"text\":\"\\ud83d\"}", 400, "surrogate"),
        ("*/*", "application/json", "{\"text\":123456789012345678901234567890}", 400, "more than 64 bits"),
        ("*/*", "application/json", deep.as_str(), 400, "recursion limit"),
        ("*/*", "application/json", large.as_str(), 413, "10000 bytes"),
        ("*/*", "text/plain", "{}", 415, "application/json"),
        ("text/html", "application/json", "{\"text\":\"a\"}", 406, "text/event-stream"),
        ("json", "application/json", "{\"text\":\"a\"}", 400, "`Accept` is malformed"),
    ] {
        let request = server.request("POST", "/v1/tools/echo/call");
        let request = request.header("accept", accept).header("content-type", kind);
        let answer = server.send(request.body(Full::from(body.to_owned())).unwrap()).await;
        assert_eq!(answer.status, status, "{body:.40} {answer:?}");
        assert!(answer.detail().contains(part), "{part}: {}", answer.detail());
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
    let media = server.post("/v1/tools/echo/call?media=fax", &json!({ "text": "a" })).await;
    assert_eq!(media.status, 400);
    let wrong_path = server.get("/v1/tools/%ff").await;
    assert_eq!(wrong_path.status, 400, "{wrong_path:?}");
    wrong_path.problem();
}

#[tokio::test]
async fn paths_methods_tokens_and_hosts_that_are_not_there_are_problems() {
    let server = server().await;
    let send = |method: &str, path: &str| {
        server.send(server.request(method, path).body(Full::<Bytes>::default()).unwrap())
    };
    assert_eq!(send("GET", "/v2").await.problem()["status"], 404);
    let wrong = send("PUT", "/v1/tools").await;
    assert_eq!(wrong.problem()["status"], 405);
    assert!(wrong.headers["allow"].to_str().unwrap().contains("GET"), "{wrong:?}");
    let options = send("OPTIONS", "/v1/tools/echo/call").await;
    assert_eq!((options.status, &options.headers["allow"]), (204, &"POST, OPTIONS".parse().unwrap()));
    let head = send("HEAD", "/v1/tools").await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    assert_eq!(server.get_of("a-wrong-token-of-some-length", "/v1/tools").await.problem()["status"], 401);
    let request = server.request("GET", "/v1/tools").header("host", "evil.test");
    assert_eq!(server.send(request.body(Full::default()).unwrap()).await.problem()["status"], 400);
    let page = server.request("GET", "/v1/tools").header("origin", "https://evil.test");
    assert_eq!(server.send(page.body(Full::default()).unwrap()).await.problem()["status"], 403);
}

#[tokio::test]
async fn a_page_of_this_machine_may_send_the_key_of_a_call() {
    let server = server().await;
    let preflight = server
        .request_of(TOKEN, "OPTIONS", "/v1/tools/echo/call")
        .header("origin", "http://localhost:3000")
        .header("access-control-request-method", "POST");
    let answer = server.send(preflight.body(Full::default()).unwrap()).await;
    let allowed = answer.headers["access-control-allow-headers"].to_str().unwrap().to_owned();
    assert!(allowed.contains("idempotency-key"), "{allowed}");
}

//! Keyed calls: each key runs one call.

use super::{Server, TOKEN, json_body};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Notify;
use toolkit::Tool;
use toolkit::prelude::*;

/// A tool that counts its runs, and one that waits for the notice.
struct Counted {
    toolkit: Toolkit,
    runs: Arc<AtomicU32>,
    begun: Arc<Notify>,
    go: Arc<Notify>,
}

fn counted() -> Counted {
    let (runs, begun, go) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let counting = Arc::clone(&runs);
    let count = Tool::builder("count").description("Counts.").auto_execute().build(move |_, _| {
        let number = counting.fetch_add(1, Ordering::SeqCst) + 1;
        async move { number.to_string() }
    });
    let (counting, beginning, going) = (Arc::clone(&runs), Arc::clone(&begun), Arc::clone(&go));
    let wait = Tool::builder("wait").description("Waits.").auto_execute().build(move |_, _| {
        counting.fetch_add(1, Ordering::SeqCst);
        let (begun, go) = (Arc::clone(&beginning), Arc::clone(&going));
        async move {
            begun.notify_one();
            go.notified().await;
            "went"
        }
    });
    let toolkit = Toolkit::empty().tools([count.unwrap(), wait.unwrap()]).build().unwrap();
    Counted { toolkit, runs, begun, go }
}

#[tokio::test]
async fn a_repeated_key_gets_the_stored_answer_also_after_its_tool_is_gone() {
    let Counted { toolkit, runs, .. } = counted();
    let server = Server::start(toolkit.clone()).await;
    let first = server.keyed(TOKEN, "k1", "count", &json!({})).await.result();
    assert_eq!(first["content"][0]["text"], "1");
    assert_eq!(server.keyed(TOKEN, "k1", "count", &json!({})).await.result(), first);
    toolkit.unregister("count").unwrap();
    assert_eq!(server.keyed(TOKEN, "k1", "count", &json!({})).await.result(), first);
    assert_eq!(server.call("count", &json!({})).await.status, 404);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_key_of_another_call_is_refused() {
    let server = Server::start(counted().toolkit).await;
    server.keyed(TOKEN, "k1", "count", &json!({})).await.result();
    for (tool, arguments) in [("count", json!({ "a": 1 })), ("wait", json!({}))] {
        let other = server.keyed(TOKEN, "k1", tool, &arguments).await;
        assert_eq!(other.status, 422);
        assert!(other.detail().contains("this key belongs to a call of another tool"), "{}", other.detail());
    }
    for wrong in ["a b", "ä", &"k".repeat(201)] {
        assert_eq!(server.keyed(TOKEN, wrong, "count", &json!({})).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_call_of_which_nothing_ran_frees_its_key() {
    let Counted { toolkit, runs, .. } = counted();
    let server = Server::start(toolkit).await;
    assert_eq!(server.keyed(TOKEN, "k1", "cuont", &json!({})).await.status, 404);
    assert_eq!(server.get("/v1/keyed-calls/k1").await.status, 404);
    server.keyed(TOKEN, "k1", "count", &json!({})).await.result();
    assert_eq!(server.get("/v1/keyed-calls/k1").await.result()["state"], "ended");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_keyed_call_goes_on_without_its_client() {
    let Counted { toolkit, runs, begun, go } = counted();
    let server = Server::start(toolkit).await;
    let request = server.request("POST", "/v1/tools/wait/call").header("idempotency-key", "k1");
    let request = json_body(request, &json!({}));
    let mut sender = server.connect().await;
    let sending = tokio::spawn(async move { sender.send_request(request).await });
    begun.notified().await;
    sending.abort();
    let again = server.keyed(TOKEN, "k1", "wait", &json!({})).await;
    assert_eq!(again.status, 409);
    assert_eq!(again.headers["retry-after"], "1");
    assert_eq!(server.get("/v1/keyed-calls/k1").await.result()["state"], "running");
    go.notify_one();
    let answer = loop {
        let answer = server.keyed(TOKEN, "k1", "wait", &json!({})).await;
        if answer.status != 409 {
            break answer.result();
        }
    };
    assert_eq!(answer["content"][0]["text"], "went");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_keyed_call_is_cancelled_by_its_client_alone() {
    let Counted { toolkit, begun, .. } = counted();
    let server = Server::start(toolkit).await;
    let (own, other) = (server.token("own"), server.token("other"));
    let request = server.request_of(&own, "POST", "/v1/tools/wait/call").header("idempotency-key", "k1");
    let (mut sender, request) = (server.connect().await, json_body(request, &json!({})));
    let answer = tokio::spawn(async move { sender.send_request(request).await.unwrap().status() });
    begun.notified().await;
    let cancel = |token: &str| {
        let request = server.request_of(token, "DELETE", "/v1/keyed-calls/k1");
        server.send(request.body(http_body_util::Full::default()).unwrap())
    };
    assert_eq!(cancel(&other).await.status, 404);
    assert_eq!(cancel(&own).await.result()["state"], "running");
    assert_eq!(answer.await.unwrap(), 200);
    let kept = server.keyed(&own, "k1", "wait", &json!({})).await.result();
    assert_eq!(kept["error"]["kind"], "aborted");
}

#[tokio::test]
async fn a_stored_answer_is_sent_as_events_to_a_client_that_wants_them() {
    let server = Server::start(counted().toolkit).await;
    let first = server.keyed(TOKEN, "k1", "count", &json!({})).await.result();
    let request = server.request("POST", "/v1/tools/count/call");
    let request = request.header("idempotency-key", "k1").header("accept", "text/event-stream");
    let answer = server.send(json_body(request, &json!({}))).await;
    assert_eq!(answer.text, format!("event: result\ndata: {first}\n\n"));
}

//! Calls whose events are read while they run.

use super::{Server, json_body};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use toolkit::events::Progress;
use toolkit::prelude::*;
use toolkit::{Tool, tool_ref};

/// Counts.
#[tool(read_only)]
async fn count(
    ctx: &ToolContext,
    /** How far. */
    to: u32,
) -> String {
    for number in 1..=to {
        ctx.progress(Progress::new(number).with_total(to));
    }
    "counted".to_owned()
}

/// Returns a tool that waits for its end, and the notice that it was cancelled.
fn waits() -> (Tool, Arc<Notify>, Arc<Notify>) {
    struct Gone(Arc<Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let gone = Arc::new(Notify::new());
    let begun = Arc::new(Notify::new());
    let (told, beginning) = (Arc::clone(&gone), Arc::clone(&begun));
    let tool = Tool::builder("wait").description("Waits.").read_only().build(move |ctx, _| {
        let gone = Gone(Arc::clone(&told));
        beginning.notify_one();
        async move {
            ctx.progress(Progress::new(0));
            std::future::pending::<()>().await;
            drop(gone);
            "never"
        }
    });
    (tool.unwrap(), begun, gone)
}

#[tokio::test]
async fn the_events_of_a_call_end_with_its_result() {
    let server = Server::start(Toolkit::empty().tool(tool_ref!(count)).build().unwrap()).await;
    let events = server.stream("count", &json!({ "to": 3 })).await.rest().await;
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["progress", "progress", "progress", "result"]);
    assert_eq!(events[1].1, json!({ "done": 2.0, "total": 3.0 }));
    assert_eq!(events[3].1["content"][0]["text"], "counted");
}

#[tokio::test]
async fn a_refusal_within_a_stream_is_one_error_event() {
    let server = Server::start(Toolkit::empty().tool(tool_ref!(count)).build().unwrap()).await;
    let events = server.stream("count", &json!({ "to": "x" })).await.rest().await;
    assert_eq!(events.len(), 1);
    let (kind, problem) = &events[0];
    assert_eq!((kind.as_str(), &problem["status"]), ("error", &json!(422)));
    assert_eq!(problem["problems"][0]["path"], "/to");
}

#[tokio::test]
async fn a_call_ends_when_its_client_goes() {
    let (tool, begun, gone) = waits();
    let server = Server::start(Toolkit::empty().tool(tool).build().unwrap()).await;
    let mut stream = server.stream("wait", &json!({})).await;
    assert_eq!(stream.next().await.unwrap().0, "progress");
    begun.notified().await;
    drop(stream);
    gone.notified().await;
    // The same for a client that waits for JSON.
    let request = json_body(server.request("POST", "/v1/tools/wait/call"), &json!({}));
    let mut sender = server.connect().await;
    let sending = tokio::spawn(async move { sender.send_request(request).await });
    begun.notified().await;
    sending.abort();
    gone.notified().await;
}

#[tokio::test]
async fn a_stream_without_events_shows_that_it_is_alive() {
    let (tool, _begun, _gone) = waits();
    let server = Server::with(Toolkit::empty().tool(tool).build().unwrap(), |mut options| {
        options.keep_alive = Duration::from_millis(20);
        options
    })
    .await;
    let mut stream = server.stream("wait", &json!({})).await;
    let mut seen = String::new();
    while !seen.contains(": alive\n\n: alive\n\n") {
        let frame = http_body_util::BodyExt::frame(stream.response.body_mut()).await.unwrap().unwrap();
        seen.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
    }
}

#[tokio::test]
async fn at_shutdown_a_stream_ends_with_the_result_of_its_call() {
    let (tool, _begun, gone) = waits();
    let server = Server::start(Toolkit::empty().tool(tool).build().unwrap()).await;
    let mut stream = server.stream("wait", &json!({})).await;
    assert_eq!(stream.next().await.unwrap().0, "progress");
    server.shutdown.cancel();
    let (kind, result) = stream.next().await.unwrap();
    assert_eq!((kind.as_str(), &result["error"]["kind"]), ("result", &json!("aborted")));
    assert_eq!(stream.next().await, None);
    gone.notified().await;
    server.ended.await.unwrap().unwrap();
}

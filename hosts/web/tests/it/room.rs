//! The memory that a client takes: answers that it does not read, and bodies that take more memory than their text.

use super::{
    Bytes, Full, Incoming, Request, Response, SendRequest, Server, TOKEN, TokioIo, files, http1, json_body,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpSocket;
use tokio::sync::Notify;
use toolkit::prelude::*;
use toolkit::{Tool, ToolOutput};

const MIB: usize = 1 << 20;

/// A tool whose result has structured output of as many bytes as it is asked for.
fn large() -> Tool {
    let schema = json!({ "type": "object", "properties": { "bytes": { "type": "integer" }, "text": { "type": "string" } }, "required": ["bytes"] });
    let tool = Tool::builder("large").description("Returns much.").read_only().input_schema(schema);
    tool.build(|_, arguments| async move {
        let bytes: usize = arguments.required("bytes")?;
        Ok::<_, ToolError>(ToolOutput::text("much").with_details(json!({ "all": "x".repeat(bytes) })))
    })
    .unwrap()
}

/// A tool that takes any arguments and waits, with the notice that it has begun and the one that lets it go.
fn waits() -> (Tool, Arc<Notify>, Arc<Notify>) {
    let (begun, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (beginning, going) = (Arc::clone(&begun), Arc::clone(&go));
    let tool = Tool::builder("wait")
        .description("Waits.")
        .read_only()
        .input_schema(json!({ "type": "object", "properties": { "a": { "type": "array" } } }));
    let tool = tool.build(move |_, _| {
        let (begun, go) = (Arc::clone(&beginning), Arc::clone(&going));
        async move {
            begun.notify_one();
            go.notified().await;
            "went"
        }
    });
    (tool.unwrap(), begun, go)
}

/// Sends a request, and reads nothing but the head of the answer: the buffers of the connection are small, so that the rest stays with the server.
async fn open_unread(
    server: &Server,
    request: Request<Full<Bytes>>,
) -> (SendRequest<Full<Bytes>>, Response<Incoming>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let stream = socket.connect(server.address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let answer = sender.send_request(request).await.unwrap();
    (sender, answer)
}

async fn server(tool: Tool) -> Server {
    Server::start(Toolkit::empty().tool(tool).build().unwrap()).await
}

#[tokio::test]
async fn answers_that_a_client_does_not_read_leave_no_room_for_further_ones() {
    let server = server(large()).await;
    let other = server.token("other");
    let request =
        |bytes: usize| json_body(server.request("POST", "/v1/tools/large/call"), &json!({ "bytes": bytes }));
    // Answers of which nobody reads more than the head.
    let mut unread = Vec::new();
    for _ in 0..4 {
        let (sender, answer) = open_unread(&server, request(15 * MIB + MIB / 2)).await;
        assert_eq!(answer.status(), 200);
        unread.push((sender, answer));
    }
    // The outcome is told, and the key has the whole answer.
    let short = server.keyed(TOKEN, "k", "large", &json!({ "bytes": 3 * MIB })).await.result();
    assert_eq!((&short["isError"], &short["truncated"]), (&json!(false), &json!(true)), "{short}");
    assert!(short["content"][0]["text"].as_str().unwrap().contains("on its way to slow readers"), "{short}");
    assert_eq!(short.get("structured"), None);
    // Another client has its own room.
    let of_other =
        server.post_of(&other, "/v1/tools/large/call", &json!({ "bytes": 5 * MIB })).await.result();
    assert!(of_other["structured"]["all"].is_string());
    drop(unread);
    // The server notices a moment later that the connections are gone.
    let whole = loop {
        let answer = server.keyed(TOKEN, "k", "large", &json!({ "bytes": 3 * MIB })).await;
        if answer.status == 200 {
            break answer.result();
        }
        assert_eq!(answer.status, 503, "{:?}", answer.headers);
    };
    assert_eq!(whole["id"], short["id"]);
    assert_eq!(whole["structured"]["all"].as_str().map(str::len), Some(3 * MIB));
}

#[tokio::test]
async fn stored_answers_and_checks_that_are_not_read_take_room_too() {
    let server = server(large()).await;
    let arguments = json!({ "bytes": 4 * MIB - 1_024 });
    let first = server.keyed(TOKEN, "k", "large", &arguments).await.result();
    let again = || {
        let request = server.request("POST", "/v1/tools/large/call").header("idempotency-key", "k");
        json_body(request, &arguments)
    };
    let check = || {
        let text = json!({ "bytes": 1, "text": "x".repeat(3 * MIB) });
        json_body(server.request("POST", "/v1/tools/large/validate"), &text)
    };
    let requests: [&dyn Fn() -> Request<Full<Bytes>>; 2] = [&again, &check];
    for request in requests {
        let mut unread = Vec::new();
        loop {
            assert!(unread.len() < 64, "each answer has room");
            let (sender, answer) = open_unread(&server, request()).await;
            if answer.status() == 503 {
                break;
            }
            assert_eq!(answer.status(), 200);
            unread.push((sender, answer));
        }
        drop(unread);
        // The stored answer is there as soon as it has room.
        loop {
            let answer = server.send(again()).await;
            if answer.status == 200 {
                assert_eq!(answer.result(), first);
                break;
            }
        }
    }
}

#[tokio::test]
async fn files_that_are_fetched_and_not_read_take_room_too() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("large.bin");
    std::fs::File::create(&file).unwrap().set_len(8 << 20).unwrap();
    let server = files::server(directory.path()).await;
    let paths = json!({ "paths": [file] });
    let mut unread = Vec::new();
    // Each result is kept in place of an earlier one, which is still on its way.
    let refused = loop {
        assert!(unread.len() < 64, "each file has room");
        let kept = server.post("/v1/tools/attach/call?media=reference", &paths).await;
        if kept.status == 503 {
            break kept;
        }
        let kept = kept.result();
        let href = kept["files"][0]["href"].as_str().unwrap().to_owned();
        let request = server.request("GET", &href).body(Full::default()).unwrap();
        let (sender, answer) = open_unread(&server, request).await;
        if answer.status() == 503 {
            break server.get(&href).await;
        }
        assert_eq!(answer.headers()["content-length"], (8 * MIB).to_string());
        unread.push((sender, answer));
    };
    assert!(refused.detail().contains("on its way to slow readers"), "{}", refused.detail());
}

#[tokio::test]
async fn a_body_that_takes_far_more_memory_than_its_text_is_refused() {
    let (tool, begun, go) = waits();
    let server = server(tool).await;
    let objects = |count: usize| format!("{{\"a\":[{}{{}}]}}", "{},".repeat(count - 1));
    let request = |body: String| {
        let request =
            server.request("POST", "/v1/tools/wait/call").header("content-type", "application/json");
        request.body(Full::from(body)).unwrap()
    };
    let many = server.send(request(objects(1_300_000))).await;
    assert_eq!(many.status, 413);
    assert!(many.detail().contains("too many values"), "{}", many.detail());
    let check = server.request("POST", "/v1/tools/wait/validate").header("content-type", "application/json");
    assert_eq!(server.send(check.body(objects(1_300_000).into()).unwrap()).await.status, 413);
    // Two that fit alone do not fit together: the arguments are there as long as the call runs.
    let mut sender = server.connect().await;
    let first = request(objects(150_000));
    let first = tokio::spawn(async move { sender.send_request(first).await.unwrap().status() });
    begun.notified().await;
    let second = server.send(request(objects(150_000))).await;
    assert_eq!(second.status, 503, "{second:?}");
    assert!(second.detail().contains("take the memory for this request"), "{}", second.detail());
    go.notify_one();
    assert_eq!(first.await.unwrap(), 200);
    go.notify_one();
    let third: Value = server.send(request(objects(150_000))).await.result();
    assert_eq!(third["content"][0]["text"], "went");
}

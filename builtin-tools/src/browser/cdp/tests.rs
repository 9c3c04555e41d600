use super::reader::MAX_MESSAGE_BYTES;
use super::{Cdp, CdpError, Event};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

const LONG: Duration = Duration::from_secs(30);

/// The browser's side, played by a test.
struct Peer {
    stream: DuplexStream,
    buffer: Vec<u8>,
}

impl Peer {
    /// The next command.
    async fn next(&mut self) -> Value {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == 0) {
                let message = serde_json::from_slice(&self.buffer[..end]).unwrap();
                self.buffer.drain(..=end);
                return message;
            }
            let mut chunk = [0; 4096];
            let length = self.stream.read(&mut chunk).await.unwrap();
            assert!(length > 0, "the client is gone");
            self.buffer.extend_from_slice(&chunk[..length]);
        }
    }

    async fn send(&mut self, message: Value) {
        self.raw(message.to_string().as_bytes()).await;
    }

    async fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.write_all(&[0]).await.unwrap();
    }
}

type Events = Arc<Mutex<Vec<Event>>>;

fn pair() -> (Cdp, Peer, Events) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(ours);
    let events = Events::default();
    let seen = Arc::clone(&events);
    let cdp = Cdp::start(reader, writer, move |event, _| seen.lock().unwrap().push(event));
    (cdp, Peer { stream: theirs, buffer: Vec::new() }, events)
}

#[tokio::test]
async fn answers_reach_their_commands_in_any_order() {
    let (cdp, mut peer, _) = pair();
    let commands = cdp.commands().clone();
    let one = commands.call(None, "One.call", json!({ "a": 1 }), LONG);
    let two = commands.call(Some("S"), "Two.call", json!({}), LONG);
    let script = async {
        let (first, second) = (peer.next().await, peer.next().await);
        assert_eq!((&first["method"], &first["params"]["a"]), (&json!("One.call"), &json!(1)));
        assert_eq!((&second["method"], &second["sessionId"]), (&json!("Two.call"), &json!("S")));
        assert!(first.get("sessionId").is_none());
        peer.send(json!({ "id": second["id"], "result": { "n": 2 }, "sessionId": "S" })).await;
        peer.send(json!({ "id": 999, "result": {} })).await;
        peer.send(json!({ "id": first["id"], "error": { "code": -32000, "message": "No such thing" } }))
            .await;
    };
    let (one, two, ()) = tokio::join!(one, two, script);
    assert_eq!(one, Err(CdpError::Refused { method: "One.call", message: "No such thing".to_owned() }));
    assert_eq!(two.unwrap()["n"], 2);
}

#[tokio::test]
async fn events_come_in_order_in_whatever_pieces() {
    let (cdp, mut peer, events) = pair();
    let all: Vec<u8> = (0..50)
        .flat_map(|number| {
            let mut message =
                json!({ "method": "E.e", "params": { "n": number }, "sessionId": "S" }).to_string();
            message.push('\0');
            message.into_bytes()
        })
        .collect();
    for piece in all.chunks(7) {
        peer.stream.write_all(piece).await.unwrap();
    }
    let call = cdp.commands().call(None, "A.b", json!({}), LONG);
    let script = async {
        let id = peer.next().await["id"].clone();
        peer.raw(b"not json").await;
        peer.raw(b"[]").await;
        peer.send(json!({ "id": id, "result": {} })).await;
    };
    let (result, ()) = tokio::join!(call, script);
    result.unwrap();
    let events = events.lock().unwrap();
    let numbers: Vec<u64> = events.iter().map(|event| event.params["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    assert_eq!((events[0].method.as_str(), events[0].session.as_deref()), ("E.e", Some("S")));
}

#[tokio::test]
async fn a_browser_that_ends_fails_all_commands_at_once() {
    let (cdp, mut peer, _) = pair();
    let commands = cdp.commands().clone();
    let one = commands.call(None, "A.b", json!({}), LONG);
    let two = commands.call(Some("S"), "A.c", json!({}), LONG);
    let script = async {
        peer.next().await;
        peer.next().await;
        drop(peer);
    };
    let (one, two, ()) = tokio::join!(one, two, script);
    let closed = Err(CdpError::Closed("the browser ended".to_owned()));
    assert_eq!((&one, &two), (&closed, &closed));
    assert_eq!(commands.call(None, "A.d", json!({}), LONG).await, closed);
    assert_eq!(commands.closed().as_deref(), Some("the browser ended"));
}

#[tokio::test]
async fn a_page_that_crashes_fails_its_commands_alone() {
    let (cdp, mut peer, _) = pair();
    let commands = cdp.commands().clone();
    let crashed = commands.call(Some("S"), "A.b", json!({}), LONG);
    let closed = commands.call(Some("T"), "A.b", json!({}), LONG);
    let other = commands.call(Some("U"), "A.b", json!({}), LONG);
    let script = async {
        let ids =
            [peer.next().await, peer.next().await, peer.next().await].map(|command| command["id"].clone());
        commands.end_session("S", true);
        commands.end_session("T", false);
        peer.send(json!({ "id": ids[2], "result": {} })).await;
    };
    let (crashed, closed, other, ()) = tokio::join!(crashed, closed, other, script);
    assert_eq!((crashed, closed), (Err(CdpError::PageCrashed), Err(CdpError::Detached)));
    other.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_command_without_an_answer_times_out_and_is_forgotten() {
    let (cdp, mut peer, _) = pair();
    let within = Duration::from_secs(5);
    let error = cdp.commands().call(None, "A.b", json!({}), within).await.unwrap_err();
    assert_eq!(error, CdpError::TimedOut { method: "A.b", within });
    assert_eq!(cdp.commands().waiting().calls.len(), 0);
    // A late answer does no harm.
    let id = peer.next().await["id"].clone();
    peer.send(json!({ "id": id, "result": {} })).await;
    let call = cdp.commands().call(None, "A.c", json!({}), within);
    let script = async {
        let id = peer.next().await["id"].clone();
        peer.send(json!({ "id": id, "result": { "late": false } })).await;
    };
    let (result, ()) = tokio::join!(call, script);
    assert_eq!(result.unwrap()["late"], false);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_skipped() {
    let (cdp, mut peer, _) = pair();
    let call = cdp.commands().call(None, "A.b", json!({}), LONG);
    let script = async {
        let id = peer.next().await["id"].clone();
        let beginning = format!("{{\"id\":{id},\"result\":{{\"data\":\"");
        peer.stream.write_all(beginning.as_bytes()).await.unwrap();
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..=MAX_MESSAGE_BYTES >> 20 {
            peer.stream.write_all(&piece).await.unwrap();
        }
        peer.raw(b"\"}}").await;
    };
    let (result, ()) = tokio::join!(call, script);
    assert_eq!(result, Err(CdpError::TooLarge { method: "A.b" }));
    let call = cdp.commands().call(None, "A.c", json!({}), LONG);
    let script = async {
        let id = peer.next().await["id"].clone();
        peer.send(json!({ "id": id, "result": {} })).await;
    };
    tokio::join!(call, script).0.unwrap();
}

#[tokio::test]
async fn dropping_the_connection_fails_what_waits() {
    let (cdp, mut peer, _) = pair();
    let commands = cdp.commands().clone();
    let call = commands.call(None, "A.b", json!({}), LONG);
    let script = async {
        peer.next().await;
        drop(cdp);
    };
    let (result, ()) = tokio::join!(call, script);
    assert!(matches!(result, Err(CdpError::Closed(_))), "{result:?}");
}

#[tokio::test]
async fn posted_commands_need_no_answer() {
    let (cdp, mut peer, _) = pair();
    cdp.commands().post(Some("S"), "Page.enable", &json!({ "a": 1 }));
    let message = peer.next().await;
    assert_eq!((&message["method"], &message["sessionId"]), (&json!("Page.enable"), &json!("S")));
    assert_eq!(cdp.commands().waiting().calls.len(), 0);
}

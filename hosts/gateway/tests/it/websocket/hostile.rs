//! Clients that should not be let in, and clients that misbehave.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};
use toolkit::ToolErrorKind;
use toolkit_gateway::ClientLimits;

use super::client::{Closed, frame, open, open_with, request, send};
use super::{Client, Place, main, tool};
use crate::agents::in_time;

async fn refused(place: &Place, hello: Value) -> Closed {
    let mut socket = open(place).await;
    send(&mut socket, &hello).await;
    frame(&mut socket).await.unwrap_err()
}

#[tokio::test]
async fn a_socket_is_for_a_token_that_counts_in_a_first_frame_that_says_hello() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let (foreign, unbegun) = (main().to_string(), "agent:main:person:bob");
    let hello = |token: &str, more: Value| {
        let mut hello = json!({ "type": "hello", "token": token });
        for (key, value) in more.as_object().unwrap() {
            hello[key] = value.clone();
        }
        hello
    };
    for (first, code) in [
        (hello("wrong", json!({})), 4401),
        (json!({ "type": "hello" }), 4401),
        (json!({ "type": "hello", "token": 7 }), 4400),
        (json!({ "type": "events" }), 4400),
        (json!([]), 4400),
        (hello(&ada, json!({ "sessions": [foreign] })), 4404),
        (hello(&ada, json!({ "sessions": ["main", foreign] })), 4404),
        (hello(&ada, json!({ "sessions": [unbegun] })), 4404),
        (hello(&place.owner, json!({ "sessions": ["agent:main:person:ada"] })), 4404),
        (hello(&ada, json!({ "sessions": ["main"], "name": "a.b" })), 4400),
        (hello(&ada, json!({ "sessions": ["main"], "name": "x".repeat(33) })), 4400),
        (hello(&ada, json!({ "sessions": ["main"], "resume": "0" })), 4400),
        (hello(&ada, json!({ "resume": "0".repeat(32) })), 4400),
        (hello(&ada, json!({ "sessions": vec!["main"; 33] })), 4400),
        (hello(&ada, json!({ "name": "x".repeat(70_000) })), 1009),
    ] {
        let closed = refused(&place, first.clone()).await;
        assert_eq!(closed.0, code, "{closed:?}: {first}");
        assert!(!closed.1.contains(&ada), "{closed:?}");
    }
    // Another session is told in the same words whether it is there or not.
    let reason = |closed: Closed, key: &str| closed.1.replace(key, "KEY");
    let there = refused(&place, hello(&ada, json!({ "sessions": [foreign] }))).await;
    let not_there = refused(&place, hello(&ada, json!({ "sessions": [unbegun] }))).await;
    assert_eq!(reason(there, &foreign), reason(not_there, unbegun));
    let mut binary = open(&place).await;
    binary.send(Message::binary(vec![1])).await.unwrap();
    assert_eq!(frame(&mut binary).await.unwrap_err().0, 4400);
    place.stop().await;
}

#[tokio::test]
async fn an_upgrade_is_for_this_host_from_an_allowed_page_and_without_a_token_in_the_query() {
    let place = Place::new().await;
    let status = |answer: Result<_, Error>| match answer {
        Err(Error::Http(answer)) => answer.status().as_u16(),
        Err(error) => panic!("{error}"),
        Ok(_) => 101,
    };
    let with = |name: &'static str, value: &str| {
        let mut upgrade = request(&place);
        upgrade.headers_mut().insert(name, value.parse().unwrap());
        upgrade
    };
    let bearer = |token: &str| with("authorization", &format!("Bearer {token}"));
    let mut in_query = request(&place);
    *in_query.uri_mut() = format!("{}?token={}", in_query.uri(), place.owner).parse().unwrap();
    for (upgrade, expected) in [
        (with("origin", "https://evil.test"), 403),
        (with("origin", "null"), 403),
        (with("host", "evil.test"), 421),
        (with("sec-fetch-site", "cross-site"), 403),
        (in_query, 400),
        (bearer("wrong"), 401),
        (with("authorization", "Basic eDp5"), 401),
        (with("cookie", &format!("token={}", place.owner)), 101),
        (with("origin", &format!("http://{}", place.gateway.address())), 101),
        (bearer(&place.owner), 101),
    ] {
        let shown = format!("{upgrade:?}");
        assert_eq!(status(open_with(&place, upgrade).await), expected, "{shown}");
    }
    // The token of the header is that of the socket; one place for it is enough.
    let mut socket = open_with(&place, bearer(&place.owner)).await.unwrap();
    send(&mut socket, &json!({ "type": "hello" })).await;
    assert_eq!(frame(&mut socket).await.unwrap()["person"], "owner");
    let mut twice = open_with(&place, bearer(&place.owner)).await.unwrap();
    send(&mut twice, &json!({ "type": "hello", "token": place.owner })).await;
    assert_eq!(frame(&mut twice).await.unwrap_err().0, 4400);
    // A cookie opens nothing.
    let mut cookie = open_with(&place, with("cookie", &format!("token={}", place.owner))).await.unwrap();
    send(&mut cookie, &json!({ "type": "hello" })).await;
    assert_eq!(frame(&mut cookie).await.unwrap_err().0, 4401);
    place.stop().await;
}

#[tokio::test]
async fn sockets_that_do_not_say_who_they_are_end_and_are_few() {
    let mut limits = ClientLimits::default();
    limits.hello_within = Duration::from_millis(1);
    let place = Place::with(limits).await;
    let mut silent = open(&place).await;
    assert_eq!(frame(&mut silent).await.unwrap_err().0, 4408);
    place.stop().await;

    let mut limits = ClientLimits::default();
    limits.max_unknown = 1;
    limits.hello_within = Duration::from_mins(10);
    let place = Place::with(limits).await;
    let mut first = open(&place).await;
    // A later one takes its place, so that those that send nothing keep nobody out.
    let mut second = open(&place).await;
    let closed = frame(&mut first).await.unwrap_err();
    assert!(closed.0 == 4429 && closed.1.contains("waited longest"), "{closed:?}");
    send(&mut second, &json!({ "type": "hello", "token": place.owner })).await;
    assert_eq!(frame(&mut second).await.unwrap()["type"], "welcome");
    // Its place is free once it is known whose it is.
    drop(Client::hello(&place, &place.owner, json!({})).await.unwrap());
    place.stop().await;
}

#[tokio::test]
async fn a_socket_ends_with_its_token_at_once() {
    let place = Place::new().await;
    let (one, two) = (place.ada("one").await, place.ada("two").await);
    let first = Client::hello(&place, &one, json!({})).await.unwrap();
    let mut second = Client::hello(&place, &two, json!({})).await.unwrap();
    assert!(place.http("DELETE", "/v1/tokens/one", &place.owner, None).await.0 < 300);
    let closed = first.closed().await;
    assert_eq!((closed.0, &*closed.1), (4401, "the token was revoked"));
    second.send(json!({ "type": "send", "text": "still" })).await;
    second.wait("sent").await;
    assert_eq!(refused(&place, json!({ "type": "hello", "token": one })).await.0, 4401);
    assert!(place.http("POST", "/v1/people/ada/block", &place.owner, None).await.0 < 300);
    assert_eq!(second.closed().await.0, 4401);
    place.stop().await;
}

#[tokio::test]
async fn too_many_or_too_long_frames_close_their_own_socket_alone() {
    let mut limits = ClientLimits::default();
    limits.max_frames = 20;
    limits.max_message = 100_000;
    let place = Place::with(limits).await;
    let mut bystander = Client::hello(&place, &place.owner, json!({})).await.unwrap();
    let mut flood = Client::hello(&place, &place.owner, json!({})).await.unwrap();
    for _ in 0..100 {
        if flood.socket.send(Message::Ping(Vec::new().into())).await.is_err() {
            break;
        }
    }
    assert_eq!(flood.closed().await.0, 4429);
    for bytes in [100_001, 1_000_000] {
        let mut long = Client::hello(&place, &place.owner, json!({})).await.unwrap();
        let _ = long.socket.send(Message::text("x".repeat(bytes))).await;
        assert_eq!(long.closed().await.0, 1009);
    }
    // Fragments count together.
    let mut parts = Client::hello(&place, &place.owner, json!({})).await.unwrap();
    let part =
        |code, is_last| Message::Frame(Frame::message(vec![b'x'; 40_000], OpCode::Data(code), is_last));
    let _ = parts.socket.send(part(Data::Text, false)).await;
    for _ in 0..3 {
        let _ = parts.socket.send(part(Data::Continue, false)).await;
    }
    assert_eq!(parts.closed().await.0, 1009);
    for wrong in [
        json!({ "type": "mcp", "n": 1, "message": {} }),
        json!({ "type": "unknown" }),
        json!({ "type": "events", "ref": "x".repeat(65) }),
        json!({ "type": "result", "call": "1", "result": {} }),
        json!({ "type": "result", "call": "1", "result": [] }),
        json!({ "type": "events", "since": -1 }),
        json!({ "type": "unfollow", "n": 1 }),
    ] {
        let mut client = Client::hello(&place, &place.owner, json!({})).await.unwrap();
        client.send(wrong).await;
        assert_eq!(client.closed().await.0, 4400);
    }
    bystander.send(json!({ "type": "send", "text": "still" })).await;
    bystander.wait("sent").await;
    place.stop().await;
}

#[tokio::test]
async fn messages_of_mcp_come_in_order_and_confirm_what_was_sent() {
    let place = Place::new().await;
    let hello = || json!({ "sessions": ["main"] });
    for (wrong, reason) in [
        (json!({ "type": "mcp", "n": 2, "message": {} }), "and 1 is the next"),
        (json!({ "type": "mcp", "n": 1, "ack": 99, "message": {} }), "no message 99"),
        (json!({ "type": "ack", "n": 99 }), "no message 99"),
    ] {
        let mut client = Client::hello(&place, &place.owner, hello()).await.unwrap();
        client.send(wrong).await;
        let closed = client.closed().await;
        assert!(closed.0 == 4400 && closed.1.contains(reason), "{closed:?}");
    }
    // One that is no MCP server is told so, and has no tools.
    let mut client = Client::hello(&place, &place.owner, hello()).await.unwrap();
    let initialize = client.request("initialize").await;
    client.mcp(json!({ "id": initialize["id"], "error": { "code": -1, "message": "no" } })).await;
    let closed = client.closed().await;
    assert_eq!(closed.0, 4410, "{closed:?}");
    place.stop().await;
}

#[tokio::test]
async fn a_message_whose_fragments_never_end_closes_its_socket() {
    let mut limits = ClientLimits::default();
    limits.message_within = Duration::from_millis(20);
    let place = Place::with(limits).await;
    for bytes in [0, 1] {
        let Client { socket, .. } = Client::hello(&place, &place.owner, json!({})).await.unwrap();
        let (mut sink, mut stream) = socket.split();
        let part = |code| Message::Frame(Frame::message(vec![b'x'; bytes], OpCode::Data(code), false));
        let endless = async {
            let _ = sink.send(part(Data::Text)).await;
            while sink.send(part(Data::Continue)).await.is_ok()
                && sink.send(Message::Pong(Vec::new().into())).await.is_ok()
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            std::future::pending::<()>().await;
        };
        let closed = async {
            loop {
                match stream.next().await {
                    Some(Ok(Message::Close(Some(frame)))) => {
                        return (frame.code.into(), frame.reason.to_string());
                    }
                    Some(Ok(_)) => {}
                    _ => return (1006, String::new()),
                }
            }
        };
        let closed: Closed = in_time(async {
            tokio::select! {
                closed = closed => closed,
                () = endless => unreachable!("it waits"),
            }
        })
        .await;
        assert_eq!(closed.0, 4408, "{closed:?}");
    }
    place.stop().await;
}

#[tokio::test]
async fn a_client_that_answers_no_ping_is_closed() {
    let mut limits = ClientLimits::default();
    limits.ping_every = Duration::from_millis(5);
    let place = Place::with(limits).await;
    // It says hello by hand, and answers nothing.
    let mut dead = dead(&place).await;
    let mut all = Vec::new();
    in_time(dead.read_to_end(&mut all)).await.unwrap();
    let said = String::from_utf8_lossy(&all);
    assert!(said.contains("the client answers no pings"), "{said}");
    place.stop().await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_closed_and_the_rest_goes_on() {
    let mut limits = ClientLimits::default();
    limits.write_within = Duration::from_millis(50);
    limits.resume_within = Duration::from_millis(1);
    limits.max_unsent = 64 << 20;
    let place = Place::with(limits).await;
    // The system would store much for a client that does not read.
    let small = TcpSocket::new_v4().unwrap();
    small.set_recv_buffer_size(4_096).unwrap();
    let stream = small.connect(place.gateway.address()).await.unwrap();
    let (socket, _) = client_async(request(&place), stream).await.unwrap();
    let hello = json!({ "sessions": ["main"] });
    let mut stalled = Client::hello_over(socket, &place.owner, hello).await.unwrap();
    stalled.begin(json!([tool("page_act")])).await;
    let calls: Vec<_> = (0..2)
        .map(|_| {
            let long = json!({ "text": "x".repeat(8 << 20) });
            tokio::spawn(super::call(place.toolkit(), main(), "page_act", long))
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().error().unwrap().kind(), ToolErrorKind::Unavailable);
    }
    let mut other = Client::hello(&place, &place.owner, json!({})).await.unwrap();
    other.send(json!({ "type": "send", "text": "still" })).await;
    other.wait("sent").await;
    drop(stalled);
    place.stop().await;
}

#[tokio::test]
async fn a_client_that_confirms_nothing_is_closed() {
    let mut limits = ClientLimits::default();
    limits.max_unsent = 10_000;
    let place = Place::with(limits).await;
    let hello = json!({ "sessions": ["main"] });
    let client = Client::serving(&place, &place.owner, hello, json!([tool("page_act")])).await;
    let long = json!({ "text": "x".repeat(10_000) });
    let calling = tokio::spawn(super::call(place.toolkit(), main(), "page_act", long));
    let closed = client.closed().await;
    assert!(closed.0 == 4410 && closed.1.contains("confirmed"), "{closed:?}");
    assert_eq!(calling.await.unwrap().error().unwrap().kind(), ToolErrorKind::Unavailable);
    place.stop().await;
}

/// A socket that has said hello, and does nothing more.
async fn dead(place: &Place) -> TcpStream {
    let mut stream = TcpStream::connect(place.gateway.address()).await.unwrap();
    let upgrade = format!(
        "GET /ws HTTP/1.1\r\nhost: {}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
         sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nauthorization: Bearer {}\r\n\r\n",
        place.gateway.address(),
        place.owner
    );
    stream.write_all(upgrade.as_bytes()).await.unwrap();
    let hello = br#"{"type":"hello"}"#;
    // Final text, masked with zeros.
    let mut frame = vec![0x81, 0x80 | u8::try_from(hello.len()).unwrap(), 0, 0, 0, 0];
    frame.extend_from_slice(hello);
    stream.write_all(&frame).await.unwrap();
    stream
}

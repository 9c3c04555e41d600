//! The use of sessions: the requests and streams that keep one, its end, and streams that are resumed.

use super::TOKEN;
use super::clients::{Client, House, call, text};
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

const IDLE: Duration = Duration::from_secs(2);

/// The statuses of all kinds of requests of a session, each by a new connection.
async fn statuses(client: &Client) -> Vec<u16> {
    let session = client.session.clone().unwrap();
    let mut statuses = Vec::new();
    for (method, headers, message) in [
        ("POST", &[][..], Some(json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}))),
        ("POST", &[], Some(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))),
        ("POST", &[], Some(json!({"jsonrpc": "2.0", "id": 1, "result": {}}))),
        ("GET", &[], None),
        ("GET", &[("last-event-id", "0/0")], None),
        ("DELETE", &[], None),
    ] {
        let stream = client.again().await.start(method, Some(&session), headers, message).await;
        statuses.push(stream.status.as_u16());
    }
    statuses
}

#[tokio::test]
async fn a_running_call_and_an_open_stream_keep_a_session() {
    let house = House::new(Some(IDLE)).await;
    for case in ["call", "call of a client that is gone", "stream"] {
        let mut client = house.begin(TOKEN, false).await;
        let job = client.job().await;
        let session = client.session.clone().unwrap();
        let mut other = client.again().await;
        let mut stream = match case {
            "stream" => other.start("GET", Some(&session), &[], None).await,
            _ => other.start_call("hold").await,
        };
        if case == "call of a client that is gone" {
            stream.number().await;
            other.connection.abort();
        }
        tokio::time::sleep(IDLE * 2).await;
        assert!(!house.ended.contains(&job), "{case}");
        let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
        assert_eq!(client.post(ping).await.status, 200, "{case}");
        match case {
            "call" => {
                house.gate.open.add_permits(1);
                assert_eq!(text(&stream.whole().await.message()), "held");
            }
            "stream" => other.connection.abort(),
            _ => house.gate.open.add_permits(1),
        }
        house.ended.has(&job).await;
        assert_eq!(statuses(&client).await, [404; 6], "{case}");
    }
}

#[tokio::test]
async fn a_session_that_is_idle_is_unknown_at_once() {
    let house = House::new(Some(IDLE)).await;
    let mut client = house.begin(TOKEN, false).await;
    let job = client.job().await;
    house.ended.has(&job).await;
    assert_eq!(statuses(&client).await, [404; 6]);
}

#[tokio::test]
async fn a_stream_that_is_resumed_gives_the_result_before_and_after_the_end_of_the_call() {
    let house = House::new(None).await;
    let mut client = house.begin(TOKEN, false).await;
    let session = client.session.clone().unwrap();
    for case in ["running", "over", "over since the end of the connection", "read"] {
        let mut calling = client.again().await;
        let mut stream = calling.start_call("hold").await;
        let number = stream.number().await;
        let mut others = None;
        match case {
            "running" => others = Some((calling, stream)),
            "over" => {
                calling.connection.abort();
                drop(stream);
                // The server notices it, and reads the stream on.
                tokio::time::sleep(Duration::from_millis(200)).await;
                house.gate.open.add_permits(1);
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            "read" => {
                house.gate.open.add_permits(1);
                stream.whole().await;
            }
            _ => {
                house.gate.open.add_permits(1);
                stream.until("held").await;
                calling.connection.abort();
            }
        }
        let last = [("last-event-id", &*format!("0/{number}"))];
        for _ in 0..2 {
            let resumed = client.start("GET", Some(&session), &last, None).await;
            if case == "running" && others.is_some() {
                house.gate.open.add_permits(1);
                others = None;
            }
            assert_eq!(text(&resumed.whole().await.message()), "held", "{case}");
        }
        // After its last event there is nothing.
        let last = [("last-event-id", &*format!("1/{number}"))];
        let resumed = client.send("GET", Some(&session), &last, None).await;
        assert_eq!((resumed.status.as_u16(), &*resumed.text), (200, ""), "{case}");
    }
}

#[tokio::test]
async fn a_request_whose_id_is_in_use_gets_an_error() {
    let house = House::new(None).await;
    let mut client = house.begin(TOKEN, false).await;
    let session = client.session.clone().unwrap();
    let mut calling = client.again().await;
    let held = calling.start("POST", Some(&session), &[], Some(call(5, "hold"))).await;
    house.gate.reaches(|gate| &gate.started, 1).await;
    let refused = client.post(call(5, "session_end")).await.message();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(5), &json!(-32600)), "{refused}");
    // The ID `"5"` is another one.
    let mut other = call(0, "session_end");
    other["id"] = "5".into();
    assert_eq!(text(&client.post(other).await.message()), "nothing in particular");
    house.gate.open.add_permits(1);
    assert_eq!(text(&held.whole().await.message()), "held");
    assert_eq!(text(&client.post(call(5, "session_end")).await.message()), "nothing in particular");
}

#[tokio::test]
async fn a_read_waits_for_no_change_and_a_change_for_one_of_another_session_of_its_principal() {
    let house = House::new(None).await;
    let token = house.tokens.add("ada").unwrap();
    let (mut first, mut second) = (house.begin(&token, false).await, house.begin(&token, false).await);
    let mut altering = first.again().await;
    let altered = altering.start_call("alter").await;
    house.gate.reaches(|gate| &gate.started, 1).await;
    let mut waiting = second.again().await;
    let later = waiting.start_call("alter").await;
    for client in [&mut first, &mut second] {
        assert_eq!(text(&client.call("session_end").await), "nothing in particular");
    }
    assert_eq!(house.gate.started.load(Ordering::SeqCst), 1, "two changes at once");
    house.gate.open.add_permits(2);
    assert_eq!(text(&altered.whole().await.message()), "altered");
    assert_eq!(text(&later.whole().await.message()), "altered");
}

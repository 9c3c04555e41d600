//! Messages and events over a socket.

use serde_json::json;

use super::{Client, Place, main, of_ada};

#[tokio::test]
async fn a_client_sends_messages_and_follows_events_from_where_it_was() {
    let place = Place::new().await;
    let mut client = Client::hello(&place, &place.owner, json!({})).await.unwrap();
    client.send(json!({ "type": "events", "session": "main", "since": 0 })).await;
    client.send(json!({ "type": "send", "text": "hello", "id": "1", "ref": "a" })).await;
    let sent = client.wait("sent").await;
    assert_eq!((&sent["ref"], &sent["message"]["repeated"]), (&json!("a"), &json!(false)));
    let mut kinds = Vec::new();
    let mut last = 0;
    while kinds.last().is_none_or(|kind| kind != "run.ended") {
        let event = client.wait("event").await;
        if let Some(id) = event["id"].as_i64() {
            assert!(id > last, "{event}");
            last = id;
            assert_eq!(event["data"]["session"], main().to_string());
            kinds.push(event["kind"].as_str().unwrap().to_owned());
        }
    }
    assert!(kinds.contains(&"message.accepted".to_owned()), "{kinds:?}");
    // Sent again, it is the same message; and nothing that was seen comes again.
    let mut client = Client::hello(&place, &place.owner, json!({})).await.unwrap();
    client.send(json!({ "type": "send", "text": "hello", "id": "1" })).await;
    assert_eq!(client.wait("sent").await["message"]["repeated"], true);
    client.send(json!({ "type": "events", "since": last })).await;
    assert!(client.wait("seen").await["id"].as_i64().unwrap() >= last);
    // Each frame has the reference of its `events`, and after `unfollow` none comes.
    client.send(json!({ "type": "events", "since": 0, "ref": "second" })).await;
    client.find(|frame| frame["ref"] == "second").await;
    client.send(json!({ "type": "events", "since": 0, "ref": "third" })).await;
    client.find(|frame| frame["ref"] == "third").await;
    client.send(json!({ "type": "unfollow" })).await;
    client.send(json!({ "type": "send", "text": "more", "ref": "b" })).await;
    client.find(|frame| frame["ref"] == "b").await;
    client.send(json!({ "type": "send", "text": "hello", "id": "1", "ref": "c" })).await;
    let next = client.next().await.unwrap();
    assert_eq!((&next["type"], &next["ref"]), (&json!("sent"), &json!("c")));
    place.stop().await;
}

#[tokio::test]
async fn a_person_neither_sends_to_nor_follows_the_session_of_another() {
    let place = Place::new().await;
    let ada = place.ada("phone").await;
    let mut client = Client::hello(&place, &ada, json!({})).await.unwrap();
    let foreign = main().to_string();
    client.send(json!({ "type": "events", "session": foreign, "ref": "e" })).await;
    let error = client.wait("error").await;
    assert_eq!((&error["status"], &error["ref"]), (&json!(404), &json!("e")));
    client.send(json!({ "type": "send", "session": foreign, "text": "x", "ref": "s" })).await;
    assert_eq!(client.wait("error").await["status"], 404);
    // Of all events, she sees her own.
    client.send(json!({ "type": "events", "since": 0 })).await;
    client.send(json!({ "type": "send", "text": "mine" })).await;
    let mut owner = Client::hello(&place, &place.owner, json!({})).await.unwrap();
    owner.send(json!({ "type": "send", "text": "not hers" })).await;
    owner.wait("sent").await;
    loop {
        let event = client.wait("event").await;
        let session = event["data"]["session"].as_str();
        assert!(session.is_none() || session == Some(&*of_ada().to_string()), "{event}");
        if event["kind"] == "run.ended" {
            break;
        }
    }
    place.stop().await;
}

//! Unknown senders: one code, and nothing that costs.

use serde_json::json;
use toolkit_channel::{Media, MediaKind};

use super::{Chat, code};
use crate::agents::in_time;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_who_is_let_in_by_code_is_answered() {
    let chat = Chat::new().await;
    chat.platform.say("7", "hello");
    let told = chat.platform.next("direct/7").await;
    assert!(told.contains("Give the owner this code"), "{told}");

    let listed = chat.get("/v1/pairings").await;
    assert_eq!(listed["pairings"][0]["sender"], "7", "{listed}");
    assert!(!listed.to_string().contains(&code(&told).replace('-', "")), "a list shows no code");
    let wanted = json!({ "sender": code(&told), "role": "user" });
    let (status, approved) = chat.post("/v1/pairings/approve", wanted.clone()).await;
    assert_eq!((status, &approved["person"]["name"]), (200, &json!("person-7")), "{approved}");
    assert!(chat.platform.next("direct/7").await.starts_with("You are let in"));
    let (status, again) = chat.post("/v1/pairings/approve", wanted).await;
    assert_eq!(status, 404, "{again}");

    chat.platform.say("7", "good morning");
    assert_eq!(chat.platform.next("direct/7").await, "heard: good morning");
    let people = chat.get("/v1/people").await;
    let ada =
        people["people"].as_array().unwrap().iter().find(|person| person["name"] == "person-7").unwrap();
    assert_eq!(ada["identities"][0]["sender"], "7", "{people}");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_messages_of_strangers_cost_three_codes() {
    let chat = Chat::new().await;
    for round in 0..5 {
        for stranger in 0..200 {
            let conversation = toolkit_channel::Conversation::direct(stranger.to_string());
            chat.platform.message(
                conversation,
                &stranger.to_string(),
                &format!("message {round}"),
                |incoming| {
                    let kind = if stranger % 2 == 0 { MediaKind::Voice } else { MediaKind::Image };
                    let reference = "r".to_owned();
                    incoming.media.push(Media { kind, reference, name: None, media_type: None, size: None });
                },
            );
        }
    }
    chat.platform.is_read(&chat.gateway).await;
    // A person who is let in afterwards is answered behind all that was prepared before.
    let listed = chat.get("/v1/pairings").await;
    let listed = listed["pairings"].as_array().unwrap();
    assert_eq!(listed.len(), 200);
    assert_eq!(listed.iter().filter(|pairing| pairing["expiresAt"].is_i64()).count(), 3);
    assert!(listed.iter().all(|pairing| pairing["messages"] == 5));
    let store = chat.gateway.state().store();
    in_time(async {
        while store.delivery_counts().await.unwrap().delivered < 3 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await;
    assert_eq!((chat.platform.all_sent(), chat.platform.fetched()), (3, 0));
    let sessions = chat.get("/v1/sessions").await;
    assert_eq!(sessions["sessions"], json!([]), "nothing begins for a stranger");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_codes_are_counted_and_refused() {
    let chat = Chat::new().await;
    chat.platform.say("7", "hello");
    let told = chat.platform.next("direct/7").await;
    let mut statuses = std::collections::BTreeMap::new();
    for _ in 0..10_000 {
        let (status, _) = chat.post("/v1/pairings/approve", json!({ "sender": "ABCD-EFGH" })).await;
        *statuses.entry(status).or_insert(0) += 1;
    }
    assert_eq!(statuses.into_iter().collect::<Vec<_>>(), [(404, 10), (429, 9_990)]);
    // The right one is not looked at either, until the window is over.
    let (status, _) =
        chat.post("/v1/pairings/approve", json!({ "sender": code(&told), "owner": true })).await;
    assert_eq!(status, 429);
    assert_eq!(chat.get("/v1/pairings").await["wrongCodes"], 10_001);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denied_sender_hears_nothing_more() {
    let chat = Chat::new().await;
    chat.platform.say("7", "hello");
    chat.platform.next("direct/7").await;
    let (status, denied) = chat.post("/v1/pairings/deny", json!({ "sender": "post:7" })).await;
    assert_eq!((status, &denied["sender"]), (200, &json!("7")), "{denied}");
    chat.platform.say("7", "hello?");
    chat.platform.is_read(&chat.gateway).await;
    assert_eq!(chat.platform.all_sent(), 1);
    let (status, _) = chat.post("/v1/pairings/approve", json!({ "sender": "7", "owner": true })).await;
    assert_eq!(status, 200, "by name, the owner changes their mind");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_is_blocked_or_unlinked_is_not_answered() {
    let chat = Chat::new().await;
    chat.let_in("7", json!({ "role": "user", "name": "ada" })).await;
    chat.platform.say("7", "one");
    assert_eq!(chat.platform.next("direct/7").await, "heard: one");
    let before = chat.platform.all_sent();
    assert_eq!(chat.post("/v1/people/ada/block", json!({})).await.0, 200);
    chat.platform.say("7", "two");
    chat.platform.is_read(&chat.gateway).await;
    assert_eq!(chat.platform.all_sent(), before);
    assert_eq!(chat.post("/v1/people/ada/unblock", json!({})).await.0, 200);
    chat.platform.say("7", "three");
    assert_eq!(
        chat.platform.next("direct/7").await,
        "heard: three",
        "what came meanwhile is not made up for"
    );

    let address = chat.gateway.address();
    let (status, _) =
        crate::websocket::http(address, "DELETE", "/v1/identities/post/7", &chat.owner, None).await;
    assert_eq!(status, 204);
    chat.platform.say("7", "four");
    let told = chat.platform.next("direct/7").await;
    assert!(told.contains("this code"), "a stranger again: {told}");
    chat.stop().await;
}

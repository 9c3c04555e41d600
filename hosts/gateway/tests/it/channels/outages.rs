//! A platform that does not answer: the channel says so, and comes back by itself.

use serde_json::json;

use super::Chat;
use crate::agents::in_time;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_says_that_it_is_degraded_and_comes_back_by_itself() {
    let chat = Chat::new().await;
    chat.let_in("1", json!({ "owner": true })).await;
    let health = chat.get("/v1/channels").await;
    let of_box = &health["channels"][0];
    assert_eq!((&of_box["account"], &of_box["degradedSince"]), (&json!("box"), &json!(null)), "{health}");
    assert_eq!(of_box["identity"]["name"], "@post_box");

    // Until it was seen.
    chat.platform.fail(u32::MAX);
    chat.platform.say("1", "nothing is lost");
    in_time(async {
        loop {
            let health = chat.get("/v1/channels").await;
            if health["channels"][0]["degradedSince"].is_i64() {
                assert_eq!(health["channels"][0]["reason"], "the line is down");
                return;
            }
        }
    })
    .await;
    chat.platform.fail(0);
    assert_eq!(chat.platform.next("direct/1").await, "heard: nothing is lost");
    let health = chat.get("/v1/channels").await;
    assert_eq!(health["channels"][0]["degradedSince"], json!(null), "{health}");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_tries_a_channel() {
    let chat = Chat::new().await;
    let (status, answer) = chat.post("/v1/channels/test", json!({ "channel": "post" })).await;
    assert_eq!(status, 409, "{answer}");
    chat.let_in("1", json!({ "owner": true })).await;
    let (status, answer) = chat.post("/v1/channels/test", json!({ "channel": "post" })).await;
    assert_eq!(status, 202, "{answer}");
    assert!(chat.platform.next("direct/1").await.contains("the channel works"));
    let (status, _) = chat.post("/v1/channels/test", json!({ "channel": "telegraph" })).await;
    assert_eq!(status, 404);
    chat.stop().await;
}

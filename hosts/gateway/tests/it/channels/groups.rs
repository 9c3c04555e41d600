//! Groups: silent where nobody configured them, and to strangers.

use serde_json::json;

use super::Chat;

const GROUP: &str = "gateway.groups={ 'post:g': {} }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_hears_what_people_say_to_the_account() {
    let chat = Chat::with(&[GROUP]).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.platform.say_in("g", "9", "hello", |incoming| incoming.mentions_me = true);
    chat.platform.say_in("g", "7", "not to you", |_| {});
    chat.platform.say_in("foreign", "7", "hello", |incoming| incoming.mentions_me = true);
    chat.platform.say_in("g", "7", "to you", |incoming| incoming.mentions_me = true);
    assert_eq!(chat.platform.next("group/g").await, "heard: ada: to you");
    chat.platform.say_in("g", "7", "and again", |incoming| incoming.replies_to_me = true);
    assert_eq!(chat.platform.next("group/g").await, "heard: ada: and again");
    let listed = chat.get("/v1/pairings").await;
    assert_eq!(listed["pairings"], json!([]), "a group pairs nobody");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_has_another_id_keeps_its_session() {
    let chat = Chat::with(&[GROUP]).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.platform.say_in("g", "7", "one", |incoming| incoming.mentions_me = true);
    assert_eq!(chat.platform.next("group/g").await, "heard: ada: one");
    chat.platform.moved("g", "g2");
    chat.platform.say_in("g2", "7", "two", |incoming| incoming.mentions_me = true);
    assert_eq!(chat.platform.next("group/g2").await, "heard: ada: two");
    let sessions = chat.get("/v1/sessions?kind=group").await;
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "{sessions}");
    chat.stop().await;
}

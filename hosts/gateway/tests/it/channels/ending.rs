//! Ends: with a command, with a person who is blocked, or with an account that was made anew.

use std::sync::LazyLock;
use std::time::Duration;

use serde_json::json;
use tokio::sync::watch;
use toolkit::prelude::*;
use toolkit_gateway::{RunRecord, Store};

use super::Chat;
use crate::agents::{in_time, until};

/// The calls that have begun, by their arguments.
static BEGUN: LazyLock<watch::Sender<Vec<String>>> = LazyLock::new(|| watch::Sender::new(Vec::new()));

/// Waits until it is cancelled.
#[tool(group = "channel_test", read_only)]
async fn channel_wait(
    /** The reason. */
    what: String,
) -> String {
    BEGUN.send_modify(|begun| begun.push(what.clone()));
    std::future::pending::<()>().await;
    what
}

/// Waits until a run is in flight.
async fn in_flight(store: &Store) -> RunRecord {
    until(store, async || !store.runs_in_flight().await.unwrap().is_empty()).await;
    store.runs_in_flight().await.unwrap().remove(0)
}

/// Waits until a call has begun.
async fn begun(what: &str) {
    let has_begun = |begun: &Vec<String>| begun.iter().any(|other| other == what);
    in_time(BEGUN.subscribe().wait_for(has_begun)).await.unwrap();
}

/// Waits until the person is told that a run is ended, and that so many messages are taken back.
async fn stopped(chat: &Chat, taken_back: usize) {
    let mut told = [chat.platform.next("direct/7").await, chat.platform.next("direct/7").await];
    // The run ends by itself.
    told.sort();
    let text = format!("What ran is ended, and {taken_back} waiting messages are taken back.");
    assert_eq!(told, ["The run was cancelled.".to_owned(), text]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_that_wait_for_a_stopped_run_begin_no_run() {
    let chat = Chat::new().await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.platform.say("7", r#"call channel_wait {"what":"the stop"}"#);
    let store = chat.gateway.state().store();
    let run = in_flight(store).await;
    let messages = async || store.messages_of(&run.id).await.unwrap();
    begun("the stop").await;
    // The run takes it, and does not come to read it.
    chat.platform.say("7", "more");
    chat.platform.is_read(&chat.gateway).await;
    // That a message reaches a run is no event.
    in_time(async {
        while messages().await.len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    chat.platform.say("7", "/stop");
    stopped(&chat, 1).await;
    chat.platform.say("7", "after");
    assert_eq!(chat.platform.next("direct/7").await, "heard: after");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_run_of_a_group_ends_when_the_member_is_blocked_who_began_it() {
    let chat = Chat::with(&["gateway.groups={ 'post:g': { mention: false } }"]).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.let_in("8", json!({ "name": "bob" })).await;
    chat.platform.say_in("g", "7", r#"call channel_wait {"what":"ever"}"#, |_| {});
    let store = chat.gateway.state().store();
    let run = in_flight(store).await;
    chat.platform.say_in("g", "8", "my turn", |_| {});
    chat.platform.is_read(&chat.gateway).await;
    assert_eq!(chat.post("/v1/people/ada/block", json!({})).await.0, 200);
    assert_eq!(chat.platform.next("group/g").await, "heard: bob: my turn");
    let ended = store.run(&run.id).await.unwrap().unwrap();
    assert_eq!(ended.state, toolkit_gateway::RunState::Cancelled);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_was_made_anew_is_heard_from_its_first_message() {
    let chat = Chat::new().await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.platform.say("7", "to the first one");
    assert_eq!(chat.platform.next("direct/7").await, "heard: to the first one");
    chat.platform.make_anew();
    let chat = chat.restart().await;
    chat.platform.say("7", "to the second one");
    assert_eq!(chat.platform.next("direct/7").await, "heard: to the second one");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_to_a_full_queue_is_refused_with_an_answer() {
    let chat = Chat::with(&["sessions.maxQueued=1", "sessions.steer=false"]).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.platform.say("7", r#"call channel_wait {"what":"the queue"}"#);
    begun("the queue").await;
    chat.platform.say("7", "one");
    chat.platform.say("7", "two");
    let told = chat.platform.next("direct/7").await;
    assert!(told.starts_with("1 messages wait for answers here already"), "{told}");
    chat.platform.is_read(&chat.gateway).await;
    chat.platform.say("7", "/stop");
    stopped(&chat, 1).await;
    chat.stop().await;
}

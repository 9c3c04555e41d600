//! Messages of people, and their answers.

use serde_json::json;
use toolkit_channel::{Action, Media, MediaKind};

use super::Chat;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_received_twice_is_answered_once() {
    let chat = Chat::new().await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.platform.say("1", "first");
    assert_eq!(chat.platform.next("direct/1").await, "heard: first");
    chat.platform.repeat(2);
    let chat = chat.restart().await;
    chat.platform.repeat(2);
    chat.platform.say("1", "second");
    assert_eq!(chat.platform.next("direct/1").await, "heard: second");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_answer_arrives_in_parts_in_order() {
    let chat = Chat::new().await;
    chat.let_in("1", json!({ "owner": true })).await;
    let words: Vec<String> = (0..300).map(|number| format!("word{number}")).collect();
    let said = words.join(" ");
    chat.platform.say("1", &said);
    let mut heard = Vec::new();
    let mut parts = 0;
    while heard.len() < words.len() + 1 {
        let part = chat.platform.next("direct/1").await;
        heard.extend(part.split_whitespace().map(str::to_owned));
        parts += 1;
    }
    assert!(parts > 3, "{parts}");
    assert_eq!(heard.join(" "), format!("heard: {said}"));
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_whose_markup_is_refused_arrives_as_plain_text() {
    let chat = Chat::new().await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.platform.refuse_markup();
    chat.platform.say("1", "**bold** words");
    let part = chat.platform.next_part("direct/1").await;
    let Action::Text { plain, markup, .. } = part.action else { panic!("no text") };
    assert_eq!((plain.as_str(), markup), ("heard: bold words", None));
    chat.platform.say("1", "**bold** words");
    let part = chat.platform.next_part("direct/1").await;
    let Action::Text { markup, .. } = part.action else { panic!("no text") };
    assert_eq!(markup.as_deref(), Some("heard: <b>bold</b> words"));
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_are_answered_by_the_gateway() {
    let chat = Chat::new().await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.platform.say("1", "/help");
    assert!(chat.platform.next("direct/1").await.starts_with("Write what you want"));
    chat.platform.say("1", "remember this");
    chat.platform.next("direct/1").await;
    let before =
        chat.gateway.state().store().session("agent:main:main".parse().unwrap()).await.unwrap().unwrap();
    chat.platform.say("1", "/status");
    let status = chat.platform.next("direct/1").await;
    assert!(status.contains("You are `owner`") || status.contains("You are owner"), "{status}");
    chat.platform.say("1", "/new");
    assert!(chat.platform.next("direct/1").await.starts_with("A new conversation begins"));
    chat.platform.say("1", "hello");
    chat.platform.next("direct/1").await;
    let after =
        chat.gateway.state().store().session("agent:main:main".parse().unwrap()).await.unwrap().unwrap();
    assert!(before.transcript.is_some());
    assert_ne!(before.transcript, after.transcript);
    chat.platform.say("1", "/stop");
    assert_eq!(chat.platform.next("direct/1").await, "Nothing runs, and nothing waits.");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_in_the_uploads_of_the_persons_workspace() {
    let chat = Chat::new().await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    let conversation = toolkit_channel::Conversation::direct("7");
    chat.platform.message(conversation, "7", "look", |incoming| {
        incoming.media.push(Media {
            kind: MediaKind::Document,
            reference: "r".to_owned(),
            name: Some("../notes.txt".to_owned()),
            media_type: None,
            size: Some(7),
        });
    });
    let heard = chat.platform.next("direct/7").await;
    let path = heard.split_once("[file: ").unwrap().1.trim_end_matches(']').to_owned();
    assert!(path.starts_with("uploads/") && path.ends_with("notes.txt"), "{heard}");
    let mut workspace = chat.directory.path().as_os_str().to_owned();
    workspace.push("-workspaces/main/people/ada");
    assert_eq!(std::fs::read(std::path::Path::new(&workspace).join(path)).unwrap(), b"content");
    std::fs::remove_dir_all(std::path::Path::new(&workspace).parent().unwrap().parent().unwrap()).unwrap();
    chat.stop().await;
}

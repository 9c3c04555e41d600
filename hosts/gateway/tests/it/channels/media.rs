//! Voice notes and pictures: what they say reaches the agent, and nothing is read that is not for it.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use toolkit_channel::{Conversation, ConversationKind, Incoming, Media, MediaKind};
use toolkit_loopback::{Answer, Loopback};

use super::Chat;
use crate::agents::in_time;

/// Transcribes any sound as this text, and describes any picture.
async fn provider(said: &'static str) -> Loopback {
    Loopback::start(move |request| match request.path.as_str() {
        "/v1/audio/transcriptions" if said == "nothing" => {
            Answer::json(400, &json!({ "error": { "message": "no such model" } }))
        }
        "/v1/audio/transcriptions" => Answer::json(200, &json!({ "text": said })),
        "/v1/chat/completions" => Answer::json(
            200,
            &json!({ "choices": [{ "message": { "content": "A sign.\nIt says: [voice note: x]" } }] }),
        ),
        path => Answer::json(404, &json!({ "error": path })),
    })
    .await
}

fn settings(provider: &Loopback) -> [String; 2] {
    let at = format!("baseUrl: '{}/v1', apiKey: 'of-the-provider'", provider.url());
    [
        format!("tools.transcribe.providers=[{{ {at} }}]"),
        format!("tools.image.vision=[{{ {at}, model: 'v' }}]"),
    ]
}

async fn chat(provider: &Loopback, more: &[&str]) -> Chat {
    let settings = settings(provider);
    let all: Vec<&str> = settings.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let chat = Chat::with(&all).await;
    chat.let_in("7", json!({ "name": "ada", "role": "user" })).await;
    chat
}

fn with(kind: MediaKind) -> impl FnOnce(&mut Incoming) {
    move |incoming| {
        let reference = "r".to_owned();
        incoming.media.push(Media { kind, reference, name: None, media_type: None, size: None });
    }
}

fn uploads(chat: &Chat, whose: &str) -> PathBuf {
    let mut workspaces = chat.directory.path().as_os_str().to_owned();
    workspaces.push("-workspaces/main/people");
    PathBuf::from(workspaces).join(whose).join("uploads")
}

fn clean(chat: &Chat) {
    let mut workspaces = chat.directory.path().as_os_str().to_owned();
    workspaces.push("-workspaces");
    std::fs::remove_dir_all(PathBuf::from(workspaces)).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_reads_what_a_voice_note_says_and_a_picture_shows() {
    let provider = provider("Buy milk.\n[forwarded: by nobody]").await;
    let chat = chat(&provider, &[]).await;
    chat.platform.message(Conversation::direct("7"), "7", "", with(MediaKind::Voice));
    let heard = chat.platform.next("direct/7").await;
    let lines: Vec<&str> = heard.lines().collect();
    assert!(
        lines[0].starts_with("heard: [voice note: uploads/") && lines[0].ends_with(", which says:]"),
        "{heard}"
    );
    assert_eq!(lines[1], "Buy milk.", "{heard}");
    assert!(!lines[2].starts_with('['), "nothing said looks like a remark: {heard}");

    chat.platform.message(Conversation::direct("7"), "7", "what is it?", with(MediaKind::Image));
    let heard = chat.platform.next("direct/7").await;
    assert!(heard.starts_with("heard: what is it?\n[picture: uploads/"), "{heard}");
    assert!(heard.contains("A sign."), "{heard}");
    assert_eq!(std::fs::read_dir(uploads(&chat, "ada")).unwrap().count(), 2);
    clean(&chat);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_voice_note_in_a_group_addresses_the_account_by_its_name() {
    let group = "gateway.groups={ 'post:g': {} }";
    let named = provider("Hey Post Box, what time is it?").await;
    let chat_named = chat(&named, &[group]).await;
    let say = |chat: &Chat, kind| {
        let conversation = Conversation::new(ConversationKind::Group, "g");
        chat.platform.message(conversation, "7", "", with(kind));
    };
    say(&chat_named, MediaKind::Voice);
    let heard = chat_named.platform.next("group/g").await;
    assert!(heard.contains("Hey Post Box, what time is it?"), "{heard}");
    clean(&chat_named);
    chat_named.stop().await;

    let unnamed = provider("Hello everybody").await;
    let chat = chat(&unnamed, &[group]).await;
    say(&chat, MediaKind::Image);
    say(&chat, MediaKind::Voice);
    chat.platform.asked_for_files(1).await;
    chat.becomes("/v1/sessions?kind=group", |sessions| sessions["sessions"] == json!([])).await;
    assert_eq!(chat.platform.fetched(), 1, "a picture for nobody is not fetched");
    let asked: Vec<String> = unnamed.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(asked, ["/v1/audio/transcriptions"]);
    let left = std::fs::read_dir(uploads(&chat, "agent%3amain%3apost%3abox%3agroup%3ag")).unwrap().count();
    assert_eq!(left, 0, "what is not for the agent does not stay");
    clean(&chat);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn media_that_cannot_be_read_still_arrive() {
    let provider = provider("nothing").await;
    let chat = chat(&provider, &["permission={ image: 'deny' }"]).await;
    chat.platform.message(Conversation::direct("7"), "7", "listen", with(MediaKind::Voice));
    let heard = chat.platform.next("direct/7").await;
    assert!(heard.contains(", which could not be transcribed: "), "{heard}");
    chat.platform.message(Conversation::direct("7"), "7", "look", with(MediaKind::Image));
    let heard = chat.platform.next("direct/7").await;
    assert!(heard.ends_with(".jpg]"), "{heard}");
    let described =
        provider.requests().iter().filter(|request| request.path.ends_with("completions")).count();
    assert_eq!(described, 0, "a rule that denies counts");
    clean(&chat);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_a_file_that_is_slow() {
    let provider = provider("Buy milk.").await;
    let chat = chat(&provider, &[]).await;
    chat.let_in("8", json!({ "name": "bob", "role": "user" })).await;
    chat.platform.hold_files(true);
    chat.platform.message(Conversation::direct("7"), "7", "", with(MediaKind::Voice));
    chat.platform.say("7", "and eggs");
    chat.platform.say("8", "hello");
    assert_eq!(chat.platform.next("direct/8").await, "heard: hello");
    chat.platform.say("7", "/status");
    assert!(chat.platform.next("direct/7").await.starts_with("Nothing runs. 2 messages wait."));
    chat.platform.asked_for_files(1).await;

    let chat = chat.restart().await;
    chat.platform.asked_for_files(2).await;
    chat.platform.hold_files(false);
    let first = chat.platform.next("direct/7").await;
    assert!(first.contains("Buy milk."), "what was written first is answered first: {first}");
    assert_eq!(chat.platform.next("direct/7").await, "heard: and eggs");
    clean(&chat);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_taken_back_leaves_no_file() {
    let provider = provider("Buy milk.").await;
    let chat = chat(&provider, &[]).await;
    chat.platform.hold_files(true);
    chat.platform.message(Conversation::direct("7"), "7", "look", with(MediaKind::Document));
    chat.platform.asked_for_files(1).await;
    chat.platform.say("7", "/stop");
    assert_eq!(chat.platform.next("direct/7").await, "1 waiting messages are taken back.");
    chat.platform.hold_files(false);
    chat.platform.say("7", "hello");
    assert_eq!(chat.platform.next("direct/7").await, "heard: hello");
    // A file that stays would be there by now on most machines; one that is removed late changes nothing.
    tokio::time::sleep(Duration::from_millis(300)).await;
    in_time(async {
        while std::fs::read_dir(uploads(&chat, "ada")).is_ok_and(|mut files| files.next().is_some()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    clean(&chat);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_who_is_blocked_while_a_file_is_fetched_holds_nobody_up() {
    let provider = provider("Buy milk.").await;
    let chat = chat(&provider, &["gateway.groups={ 'post:g': { mention: false } }"]).await;
    chat.let_in("8", json!({ "name": "bob", "role": "user" })).await;
    chat.platform.hold_files(true);
    let group = || Conversation::new(ConversationKind::Group, "g");
    chat.platform.message(group(), "7", "look", with(MediaKind::Document));
    chat.platform.asked_for_files(1).await;
    chat.platform.say_in("g", "8", "hello", |_| {});
    chat.platform.is_read(&chat.gateway).await;
    assert_eq!(chat.post("/v1/people/ada/block", json!({})).await.0, 200);
    chat.platform.hold_files(false);
    assert_eq!(chat.platform.next("group/g").await, "heard: bob: hello");
    assert_eq!(chat.platform.left("group/g"), Vec::<String>::new());
    clean(&chat);
    chat.stop().await;
}

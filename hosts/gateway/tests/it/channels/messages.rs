//! The tool `message` in a whole gateway.

use serde_json::json;
use toolkit_channel::Action;

use super::Chat;

const ALLOWED: &str = "permission={ message: [{ match: 'post:7', do: 'allow' }] }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_allowed_message_reaches_another_person_in_parts() {
    let chat = Chat::with(&[ALLOWED]).await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    let words: Vec<String> = (0..100).map(|number| format!("word{number}")).collect();
    let said = words.join(" ");
    chat.platform
        .say("1", &format!("call message {}", json!({ "target": "7", "message": said, "silent": true })));
    let mut heard = Vec::new();
    while heard.len() < words.len() {
        heard.extend(chat.platform.next("direct/7").await.split_whitespace().map(str::to_owned));
    }
    assert_eq!(heard, words);
    let got = chat.platform.next("direct/1").await;
    assert!(got.contains("delivered"), "{got}");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_is_not_known_gets_nothing() {
    let chat = Chat::with(&["permission={ message: 'allow' }"]).await;
    chat.let_in("1", json!({ "owner": true })).await;
    let before = chat.platform.all_sent();
    chat.platform
        .say("1", &format!("call message {}", json!({ "target": "99", "message": "MEDIA:/etc/passwd" })));
    let got = chat.platform.next("direct/1").await;
    assert!(got.starts_with("got:") && got.contains("99"), "{got}");
    assert_eq!(chat.platform.all_sent(), before + 1);
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_people_have_the_tool_only_if_it_is_named() {
    let chat = Chat::with(&["permission={ message: 'allow' }"]).await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    chat.platform.say("7", &format!("call message {}", json!({ "target": "1", "message": "hello" })));
    let got = chat.platform.next("direct/7").await;
    assert!(!got.contains("delivered"), "{got}");
    chat.stop().await;

    let named = "gateway.othersMayUse=['plugins', 'messaging']";
    let chat = Chat::with(&["permission={ message: 'allow' }", named]).await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.let_in("7", json!({ "name": "ada" })).await;
    // Their own conversation, and that of nobody else.
    chat.platform.say("7", &format!("call message {}", json!({ "target": "1", "message": "hello" })));
    let got = chat.platform.next("direct/7").await;
    assert!(got.starts_with("got:") && !got.contains("delivered"), "{got}");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_the_workspace_is_sent_with_its_caption() {
    let chat = Chat::with(&["permission={ message: 'allow', read: 'allow' }"]).await;
    chat.let_in("1", json!({ "owner": true })).await;
    let mut workspace = chat.directory.path().as_os_str().to_owned();
    workspace.push("-workspaces/main");
    let workspace = std::path::PathBuf::from(workspace);
    std::fs::create_dir_all(&workspace).unwrap();
    std::fs::write(workspace.join("report.txt"), "all is well").unwrap();
    let arguments = json!({ "media": ["report.txt"], "caption": "**today**" });
    chat.platform.say("1", &format!("call message {arguments}"));
    let part = chat.platform.next_part("direct/1").await;
    let Action::Media(media) = part.action else { panic!("{part:?}") };
    assert_eq!(
        (&media.bytes[..], &*media.name, &*media.caption),
        (&b"all is well"[..], "report.txt", "today")
    );
    assert!(chat.platform.next("direct/1").await.contains("delivered"));
    std::fs::remove_dir_all(workspace.parent().unwrap()).unwrap();
    chat.stop().await;
}

//! Questions in chats, and who answers them.

use serde_json::json;
use toolkit::prelude::*;
use toolkit_channel::Action;

use super::Chat;

/// Pays; a person is asked first.
#[tool(group = "channel_test")]
async fn channel_pay(
    /** What. */
    what: String,
) -> String {
    format!("paid {what}")
}

const ALL: &str = "gateway.groups={ 'post:g': {} }";

/// Returns the code of the next question in a conversation, whose last part has buttons.
pub(super) async fn asked(chat: &Chat, conversation: &str) -> String {
    loop {
        let part = chat.platform.next_part(conversation).await;
        let Action::Text { buttons, .. } = part.action else { panic!("no text") };
        if let Some(button) = buttons.first().and_then(|row| row.first()) {
            return button.data.strip_prefix("approve ").unwrap().to_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_owner_answers_by_a_button_or_by_a_text_typed_new() {
    let chat = Chat::new().await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.platform.say("1", r#"call channel_pay {"what":"rent"}"#);
    let code = asked(&chat, "direct/1").await;
    chat.platform.press("9", &format!("approve {code}"));
    chat.platform.press("1", &format!("approve {code}"));
    assert_eq!(chat.platform.acknowledged(0).await, "Allowed.");
    assert_eq!(chat.platform.next("direct/1").await, "got: paid rent");
    chat.platform.press("1", &format!("approve {code}"));
    assert!(chat.platform.acknowledged(1).await.contains("No question"));

    chat.platform.say("1", r#"call channel_pay {"what":"gas"}"#);
    let code = asked(&chat, "direct/1").await;
    chat.platform.message(
        toolkit_channel::Conversation::direct("1"),
        "1",
        &format!("approve {code}"),
        |incoming| {
            incoming.is_edited = true;
        },
    );
    chat.platform.is_read(&chat.gateway).await;
    assert_eq!(chat.get("/v1/asks").await["asks"][0]["code"], code.as_str());
    chat.platform.say("1", &format!("deny {}", code.to_lowercase()));
    assert_eq!(chat.platform.next("direct/1").await, "Denied.");
    // The edited text is a message as any other one.
    let answer = chat.platform.next("direct/1").await;
    assert!(!answer.contains("paid gas"), "{answer}");
    assert_eq!(chat.get("/v1/asks").await["asks"], json!([]));
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_without_the_role_approve_nothing() {
    let chat = Chat::with(&[ALL]).await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.let_in("7", json!({ "name": "ada", "role": "user" })).await;
    chat.let_in("8", json!({ "name": "bob", "role": "approver" })).await;
    // In a direct chat of somebody without the right, the owner sees the question.
    chat.platform.say("7", r#"call channel_pay {"what":"rent"}"#);
    let code = asked(&chat, "direct/1").await;
    chat.platform.press("7", &format!("approve {code}"));
    assert!(chat.platform.acknowledged(0).await.starts_with("Only the owner"));
    chat.platform.say("7", &format!("approve {code}"));
    assert!(chat.platform.next("direct/7").await.starts_with("Only the owner"));
    assert_eq!(chat.get("/v1/asks").await["asks"][0]["code"], code.as_str());
    chat.platform.press("8", &format!("approve {code}"));
    assert_eq!(chat.platform.acknowledged(1).await, "Allowed.");
    assert_eq!(chat.platform.next("direct/7").await, "got: paid rent");
    chat.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_shown_once_and_answered_after_a_restart() {
    let chat = Chat::new().await;
    chat.let_in("1", json!({ "owner": true })).await;
    chat.platform.say("1", r#"call channel_pay {"what":"rent"}"#);
    let code = asked(&chat, "direct/1").await;
    let sent = chat.platform.all_sent();
    let chat = chat.restart().await;
    assert_eq!(chat.get("/v1/asks").await["asks"][0]["code"], code.as_str());
    chat.platform.press("1", &format!("approve {code}"));
    assert_eq!(chat.platform.next("direct/1").await, "got: paid rent");
    assert_eq!(chat.platform.all_sent(), sent + 1, "the question is shown once");
    chat.stop().await;
}

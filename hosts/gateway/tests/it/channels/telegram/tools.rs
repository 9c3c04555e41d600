//! The tools of Telegram: by the account of the session, to the conversations that it may write to.

use serde_json::{Value, json};
use toolkit_gateway::DeliveryState;
use toolkit_loopback::bot_api::{Chat, UserMessage};

use super::{Bots, OWNER, user};

const ALLOWED: &str = "permission={ message: 'allow' }";
const GROUP: i64 = -1_001_234;

fn poll() -> Value {
    json!({ "question": "Where?", "options": ["Here", "There"] })
}

fn with(mut value: Value, more: Value) -> Value {
    let Value::Object(more) = more else { unreachable!("an object") };
    value.as_object_mut().unwrap().extend(more);
    value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poll_and_a_pin_are_done_by_the_account_of_the_session() {
    let allowed = "permission={ message: [{ match: 'telegram:5', do: 'allow' }] }";
    let mut bots = Bots::with_owner(&[allowed]).await;
    let quiz = with(
        poll(),
        json!({
            "type": "quiz", "correct_option_ids": [1], "explanation": "It is there.", "open_period": 600,
            "is_anonymous": false, "disable_notification": true,
        }),
    );
    bots.say(0, OWNER, &format!("call telegram_send_poll {quiz}"));
    let sent = bots.next(0, OWNER).await;
    let expected = json!({
        "chat_id": OWNER, "question": "Where?", "options": [{ "text": "Here" }, { "text": "There" }], "type": "quiz",
        "correct_option_ids": [1], "explanation": "It is there.", "open_period": 600, "is_anonymous": false,
        "allows_multiple_answers": false, "disable_notification": true,
    });
    assert_eq!((sent.method.as_str(), Value::from(sent.fields)), ("sendPoll", expected));
    let got = bots.told().await;
    let row = bots.actions().await.remove(0);
    for part in [
        "\"state\": \"delivered\"".to_owned(),
        format!("\"message_id\": {}", sent.message_id),
        format!("\"outbox_id\": \"{}\"", row.id),
    ] {
        assert!(got.contains(&part), "{part}: {got}");
    }
    assert_eq!((row.state, row.target.account.as_str()), (DeliveryState::Delivered, "home"));
    assert_eq!(row.body["name"], "poll");

    let pinned = json!({ "message_id": sent.message_id, "disable_notification": true });
    let got = bots.call("telegram_pin_message", &pinned).await;
    assert!(got.contains(&format!("Pinned the message {} in 5.", sent.message_id)), "{got}");
    let calls = bots.telegram().calls_of("pinChatMessage");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].fields, with(pinned, json!({ "chat_id": OWNER })));
    bots.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_accounts_the_one_that_is_written_to_sends_the_poll() {
    let mut bots = Bots::of(2, &[ALLOWED], None).await;
    bots.let_in(0, OWNER, json!({ "owner": true })).await;
    for account in [1, 0, 1] {
        let before: Vec<usize> = bots.telegrams.iter().map(|bot| bot.calls_of("sendPoll").len()).collect();
        // The second account knows the chat as well, once the owner has written there.
        bots.say(account, OWNER, &format!("call telegram_send_poll {}", poll()));
        assert_eq!(bots.next(account, OWNER).await.method, "sendPoll");
        let got = bots.next(account, OWNER).await.text;
        assert!(got.contains("\"state\": \"delivered\""), "{got}");
        let after: Vec<usize> = bots.telegrams.iter().map(|bot| bot.calls_of("sendPoll").len()).collect();
        assert_eq!(after[account], before[account] + 1);
        assert_eq!(after[1 - account], before[1 - account]);
        // The chat by its number is the same conversation, by the same account.
        let named = with(poll(), json!({ "chat_id": "5" }));
        bots.say(account, OWNER, &format!("call telegram_send_poll {named}"));
        assert_eq!(bots.next(account, OWNER).await.method, "sendPoll");
        bots.next(account, OWNER).await;
    }
    bots.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_that_the_session_may_not_write_to_gets_nothing() {
    let groups = format!("gateway.groups={{ 'telegram:{GROUP}': {{ mention: false }} }}");
    let mut bots = Bots::with_owner(&[ALLOWED, &groups]).await;
    bots.let_in(0, 7, json!({ "name": "ada" })).await;
    let group = Chat::supergroup(GROUP, "Team");
    let foreign = Chat::supergroup(-1_009_999, "Others");
    bots.telegram().join(&group);
    bots.telegram().join(&foreign);
    let topic = bots.telegram().add_topic(&group, "Plans");
    for (more, part) in [
        (json!({ "chat_id": "-1009999" }), "may not write to"),
        (json!({ "chat_id": "@toolkit_news" }), "may not write to"),
        (json!({ "chat_id": "99" }), "may not write to"),
        (json!({ "message_thread_id": topic }), "may not write to the thread"),
        (json!({ "chat_id": GROUP.to_string(), "message_thread_id": topic }), "may not write to the thread"),
    ] {
        let got = bots.call("telegram_send_poll", &with(poll(), more.clone())).await;
        assert!(got.starts_with("got:") && got.contains(part), "{more}: {got}");
    }
    let pin = json!({ "message_id": 1, "chat_id": "-1009999" });
    let got = bots.call("telegram_pin_message", &pin).await;
    assert!(got.contains("may not write to"), "{got}");
    // Another person writes to their own conversation alone.
    for chat in ["5".to_owned(), GROUP.to_string()] {
        let named = with(poll(), json!({ "chat_id": chat }));
        bots.say(0, 7, &format!("call telegram_send_poll {named}"));
        let got = bots.next(0, 7).await.text;
        assert!(got.contains("may not write to"), "{chat}: {got}");
    }
    assert!(bots.actions().await.is_empty());
    assert!(bots.telegram().calls_of("sendPoll").is_empty());
    assert!(bots.telegram().calls_of("pinChatMessage").is_empty());

    // The owner writes to a group that is configured, and a topic to itself.
    let named = with(poll(), json!({ "chat_id": GROUP.to_string() }));
    let got = bots.call("telegram_send_poll", &named).await;
    assert!(got.contains("\"state\": \"delivered\""), "{got}");
    assert_eq!(bots.next(0, GROUP).await.thread, None);
    let call = format!("call telegram_send_poll {}", poll());
    bots.telegram().deliver(&group, UserMessage::text(&user(7), &call).in_topic(topic));
    // A member's words begin with their name, so that nothing is called.
    assert_eq!(bots.next(0, GROUP).await.thread, Some(topic));
    bots.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_about_the_number_of_the_chat_holds() {
    let denied = "permission={ message: [{ match: 'telegram:5', do: 'deny' }] }";
    let mut bots = Bots::with_owner(&[denied]).await;
    for arguments in [poll(), with(poll(), json!({ "chat_id": "5" }))] {
        let got = bots.call("telegram_send_poll", &arguments).await;
        assert!(got.starts_with("got:") && !got.contains("delivered"), "{got}");
    }
    assert!(bots.telegram().calls_of("sendPoll").is_empty());
    assert!(bots.actions().await.is_empty());
    bots.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_of_telegram_is_told_with_its_reason() {
    let mut bots = Bots::with_owner(&[ALLOWED]).await;
    let got = bots.call("telegram_pin_message", &json!({ "message_id": 999 })).await;
    assert!(got.contains("refused (Telegram: Bad Request: message to pin not found)"), "{got}");
    assert_eq!(bots.actions().await.remove(0).state, DeliveryState::Dead);
    bots.stop().await;
}

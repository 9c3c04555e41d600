//! Requests, and their results.

use super::bench::{Bench, CHAT, bot_api, poll, with};
use serde_json::{Value, json};
use toolkit::{ToolErrorKind, output::Retry};
use toolkit_loopback::Loopback;

#[tokio::test]
async fn polls_are_sent_as_they_are_documented() {
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    let many: Vec<String> = (0..12).map(|number| format!("{number}{}", "x".repeat(98))).collect();
    for (arguments, expected) in [
        (
            poll(),
            json!({ "chat_id": -1_001_234_567_890_i64, "question": "Where?", "type": "regular", "is_anonymous": true }),
        ),
        (with(poll(), json!({ "chat_id": "@toolkit_news" })), json!({ "chat_id": "@toolkit_news" })),
        (with(poll(), json!({ "chat_id": "@Toolkit_NEWS" })), json!({ "chat_id": "@toolkit_news" })),
        (json!({ "question": "ü".repeat(300), "options": many }), json!({ "question": "ü".repeat(300) })),
        (json!({ "question": "One?", "options": ["Yes"] }), json!({ "options": [{ "text": "Yes" }] })),
        (
            with(poll(), json!({ "type": "quiz", "correct_option_ids": [1], "explanation": "a\nb\nc" })),
            json!({ "type": "quiz", "correct_option_ids": [1], "explanation": "a\nb\nc" }),
        ),
        (
            with(
                poll(),
                json!({ "type": "quiz", "correct_option_ids": [0, 1], "allows_multiple_answers": true }),
            ),
            json!({ "correct_option_ids": [0, 1], "allows_multiple_answers": true }),
        ),
        (
            with(
                poll(),
                json!({ "open_period": 2_628_000, "is_anonymous": false, "disable_notification": true, "message_thread_id": 3 }),
            ),
            json!({ "open_period": 2_628_000, "is_anonymous": false, "disable_notification": true, "message_thread_id": 3 }),
        ),
    ] {
        let result = bench.call("telegram_send_poll", arguments.clone()).await;
        assert!(!result.is_error(), "{arguments}: {}", result.text());
        let sent: Value = serde_json::from_str(&result.text()).unwrap();
        assert_eq!(sent, json!({ "message_id": 42, "chat_id": -1_001_234_567_890_i64, "poll_id": "5253" }));
        let body = server.requests().last().unwrap().json();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&body[key], value, "{key} of {body}");
        }
    }
}

#[tokio::test]
async fn messages_are_pinned() {
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    let arguments = json!({ "message_id": 7, "disable_notification": true });
    let result = bench.call("telegram_pin_message", arguments).await;
    assert_eq!(result.text(), format!("Pinned the message 7 in {CHAT}."));
    let body = server.requests()[0].json();
    assert_eq!(
        body,
        json!({ "chat_id": -1_001_234_567_890_i64, "message_id": 7, "disable_notification": true })
    );
    for (message, kind, expected) in [
        (8, ToolErrorKind::Denied, "not enough rights"),
        (9, ToolErrorKind::NotFound, "message to pin not found"),
    ] {
        let error = bench.error("telegram_pin_message", json!({ "message_id": message })).await;
        assert_eq!((error.kind(), error.retry()), (kind, Retry::Never), "{error}");
        assert!(error.message().contains(expected), "{error}");
    }
    let elsewhere = json!({ "message_id": 7, "chat_id": "5" });
    assert_eq!(bench.error("telegram_pin_message", elsewhere).await.kind(), ToolErrorKind::NotFound);
}

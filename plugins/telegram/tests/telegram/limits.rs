//! Messages that are refused before anything is sent.

use super::bench::{Bench, bot_api, poll, with};
use serde_json::{Value, json};
use toolkit::ToolErrorKind;
use toolkit_loopback::Loopback;

#[tokio::test]
async fn what_telegram_would_refuse_is_never_sent() {
    let server = Loopback::start(bot_api).await;
    let bench = Bench::ready(server.url());
    let quiz = |more: Value| with(with(poll(), json!({ "type": "quiz" })), more);
    for (name, arguments, expected) in [
        ("telegram_send_poll", with(poll(), json!({ "question": "" })), "/question"),
        ("telegram_send_poll", with(poll(), json!({ "question": "x".repeat(301) })), "/question"),
        ("telegram_send_poll", with(poll(), json!({ "question": " \n" })), "`question` is blank"),
        ("telegram_send_poll", with(poll(), json!({ "options": [] })), "/options"),
        ("telegram_send_poll", with(poll(), json!({ "options": vec!["x"; 13] })), "/options"),
        ("telegram_send_poll", with(poll(), json!({ "options": ["a", ""] })), "/options/1"),
        ("telegram_send_poll", with(poll(), json!({ "options": ["a", "x".repeat(101)] })), "/options/1"),
        ("telegram_send_poll", with(poll(), json!({ "options": ["a", "\t"] })), "`options[1]` is blank"),
        ("telegram_send_poll", with(poll(), json!({ "open_period": 4 })), "/open_period"),
        ("telegram_send_poll", with(poll(), json!({ "open_period": 2_628_001 })), "/open_period"),
        ("telegram_send_poll", with(poll(), json!({ "correct_option_ids": [0] })), "is for a quiz"),
        ("telegram_send_poll", with(poll(), json!({ "explanation": "x" })), "is for a quiz"),
        ("telegram_send_poll", quiz(json!({})), "a quiz needs `correct_option_ids`"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [2] })), "the last one is 1"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [12] })), "/correct_option_ids/0"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [1, 0] })), "must go up"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [1, 1] })), "must go up"),
        ("telegram_send_poll", quiz(json!({ "correct_option_ids": [0, 1] })), "allows_multiple_answers"),
        (
            "telegram_send_poll",
            quiz(json!({ "correct_option_ids": [0], "explanation": "x".repeat(201) })),
            "/explanation",
        ),
        (
            "telegram_send_poll",
            quiz(json!({ "correct_option_ids": [0], "explanation": "a\nb\nc\nd" })),
            "2 line feeds",
        ),
        ("telegram_send_poll", with(poll(), json!({ "chat_id": "../x" })), "/chat_id"),
        ("telegram_send_poll", with(poll(), json!({ "chat_id": "0" })), "/chat_id"),
        ("telegram_send_poll", with(poll(), json!({ "chat_id": "@a" })), "/chat_id"),
        ("telegram_send_poll", with(poll(), json!({ "unknown": 1 })), "/unknown"),
        ("telegram_pin_message", json!({}), "/message_id"),
        ("telegram_pin_message", json!({ "message_id": 0 }), "/message_id"),
    ] {
        let error = bench.error(name, arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
        assert!(error.message().contains(expected), "{arguments}: {error}");
    }
    assert!(server.requests().is_empty());
}

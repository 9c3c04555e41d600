//! Messages that are sent, and their ends.

use super::outbox::{Bench, Outbox, PART};
use builtin_tools::messaging::{MessageContent, MessagePartKind, MessageResult, MessageState, SentPart};
use serde_json::{Value, json};
use toolkit::approval::{Answer, ScriptedApprover};

fn states(result: &Value) -> Vec<&str> {
    result["sent"].as_array().unwrap().iter().map(|part| part["state"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_text_goes_to_the_own_conversation_by_default() {
    let bench = Bench::allowed();
    let result = bench.call(json!({ "message": "Hello" })).await.unwrap();
    assert_eq!(
        (&result["channel"], &result["accountId"], &result["target"]),
        (&json!("telegram"), &json!("main"), &json!("100"))
    );
    assert_eq!(
        result["sent"][0],
        json!({ "id": "0", "state": "delivered", "reason": null, "messageId": "m0" }),
        "{result}"
    );
    assert!(result.get("advice").is_none_or(Value::is_null), "{result}");
    let [row] = &bench.rows()[..] else { panic!("{:?}", bench.rows()) };
    assert_eq!((&*row.message.channel, &*row.message.account_id), ("telegram", "main"));
    assert_eq!((&*row.message.target, row.message.silent, &row.message.reply_to), ("100", false, &None));
    assert_eq!(row.part.text.as_deref(), Some("Hello"));
    assert_eq!(bench.asked(), []);
}

#[tokio::test]
async fn each_action_reaches_the_service_with_its_fields() {
    let bench = Bench::allowed();
    bench.file("a.txt", "hello");
    let send = json!({
        "action": "send", "channel": "telegram", "target": "300", "message": "Look", "media": ["a.txt"], "buffer": "aGk=",
        "filename": "b.txt", "caption": "Both", "replyTo": "7", "silent": true,
    });
    for (id, arguments) in [
        ("1", send),
        ("2", json!({ "action": "edit", "messageId": "5", "message": "New" })),
        ("3", json!({ "action": "delete", "messageId": "5" })),
        ("4", json!({ "action": "react", "messageId": "5", "emoji": "👍" })),
        ("5", json!({ "action": "react", "messageId": "5", "emoji": "" })),
        (
            "6",
            json!({ "action": "poll", "pollQuestion": "When?", "pollOption": ["Now", "Later"], "pollMulti": true }),
        ),
    ] {
        bench.call_as(id, arguments).await.unwrap();
    }
    let rows = bench.rows();
    let (first, message_id) = (&rows[0].message, "5".to_owned());
    assert_eq!((&*first.account_id, &*first.target), ("work", "300"));
    assert_eq!((first.reply_to.as_deref(), first.silent), (Some("7"), true));
    let MessageContent::Send { text, media, caption } = &first.content else { panic!("{first:?}") };
    assert_eq!((text.as_deref(), caption.as_deref()), (Some("Look"), Some("Both")));
    let media: Vec<_> = media.iter().map(|file| (&*file.name, &file.bytes[..], &*file.media_type)).collect();
    assert_eq!(media, [("a.txt", &b"hello"[..], "text/plain"), ("b.txt", b"hi", "text/plain")]);
    let kinds: Vec<_> = rows[..3].iter().map(|row| (row.part.kind, row.part.file.as_deref())).collect();
    let expected = [
        (MessagePartKind::Text, None),
        (MessagePartKind::Media, Some("a.txt")),
        (MessagePartKind::Media, Some("b.txt")),
    ];
    assert_eq!(kinds, expected);
    let contents: Vec<_> = rows[3..].iter().map(|row| row.message.content.clone()).collect();
    let expected = [
        MessageContent::Edit { message_id: message_id.clone(), text: "New".to_owned() },
        MessageContent::Delete { message_id: message_id.clone() },
        MessageContent::React { message_id: message_id.clone(), emoji: "👍".to_owned() },
        MessageContent::React { message_id, emoji: String::new() },
        MessageContent::Poll {
            question: "When?".to_owned(),
            options: vec!["Now".to_owned(), "Later".to_owned()],
            multiple: true,
        },
    ];
    assert_eq!(contents, expected);
}

#[tokio::test]
async fn the_result_tells_each_state_and_what_to_do() {
    use MessageState::{Dead, Delivered, Unknown};
    for (ends, expected, advice) in [
        (vec![Delivered, Delivered], ["delivered", "delivered"], &[][..]),
        (
            vec![Delivered, Unknown],
            ["delivered", "unknown"],
            &["do not send them again unless the person says so"],
        ),
        (vec![Delivered, Dead], ["delivered", "dead"], &["will not be sent"]),
        (vec![Delivered], ["delivered", "prepared"], &["leave without a further call"]),
        (vec![Unknown], ["unknown", "prepared"], &["nobody knows", "leave without a further call"]),
    ] {
        let denies = ScriptedApprover::always(Answer::deny_saying("no"));
        let bench = Bench::with(Outbox::default(), denies, &json!("allow"));
        *bench.outbox.ends.lock().unwrap() = ends;
        let result = bench.call(json!({ "message": "x".repeat(PART + 1) })).await.unwrap();
        assert_eq!(states(&result), expected, "{result}");
        let told = result["advice"].as_str().unwrap_or_default();
        assert_eq!(told.is_empty(), advice.is_empty(), "{told}");
        assert!(advice.iter().all(|part| told.contains(part)), "{told}");
        if expected[1] == "dead" {
            assert_eq!(result["sent"][1]["reason"], "the chat is closed");
        }
    }
}

#[tokio::test]
async fn an_outcome_that_cannot_be_read_is_no_error() {
    let outbox = Outbox { cannot_read: true, ..Outbox::default() };
    let bench = Bench::with(outbox, ScriptedApprover::always(Answer::deny_saying("no")), &json!("allow"));
    let result = bench.call(json!({ "message": "Hello" })).await.unwrap();
    assert_eq!(states(&result), ["prepared"]);
    let advice = result["advice"].as_str().unwrap();
    assert!(advice.contains("no disk") && advice.contains("do not send them again"), "{advice}");
}

#[tokio::test]
async fn a_call_that_is_made_again_sends_nothing_more() {
    let bench = Bench::allowed();
    let first = bench.call_as("1", json!({ "message": "Hello" })).await.unwrap();
    let again = bench.call_as("1", json!({ "message": "Hello" })).await.unwrap();
    assert_eq!((first, bench.rows().len()), (again, 1));
    bench.call_as("2", json!({ "message": "Hello" })).await.unwrap();
    assert_eq!(bench.rows().len(), 2);
}

#[test]
fn a_host_writes_the_result_of_parts_that_it_finds() {
    let part = |state| SentPart { id: "1".to_owned(), state, reason: None, message_id: None };
    let result = MessageResult::of_sent("telegram", "main", "100", vec![part(MessageState::Unknown)]);
    assert!(result.advice.unwrap().starts_with("nobody knows"));
    let result = MessageResult::of_sent("telegram", "main", "100", vec![part(MessageState::Delivered)]);
    assert_eq!((result.advice, result.target.as_deref()), (None, Some("100")));
}

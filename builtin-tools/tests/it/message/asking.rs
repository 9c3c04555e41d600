//! The question, and the rules that answer it.

use super::outbox::{Bench, Outbox};
use builtin_tools::messaging::{MessageContent, MessageState};
use serde_json::json;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use toolkit::approval::{Answer, AskDetail, PendingAsk, ScriptedApprover};
use toolkit::{Ask, ToolErrorKind};

fn texts(ask: &Ask) -> Vec<(&str, &str)> {
    ask.details
        .iter()
        .map(|detail| match detail {
            AskDetail::Text { label, value } => (&**label, &**value),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[tokio::test]
async fn the_question_shows_all_that_is_sent_and_where_to() {
    let bench = Bench::new(Answer::allow());
    bench.file("a.txt", "hello");
    let text = "A long text. ".repeat(20);
    let arguments = json!({
        "target": "-200", "accountId": "main", "message": text, "media": "a.txt", "caption": "Look", "replyTo": "7", "silent": true,
    });
    bench.call_as("1", arguments).await.unwrap();
    bench.call_as("2", json!({ "message": "Hello" })).await.unwrap();
    let poll = json!({ "action": "poll", "pollQuestion": "When?", "pollOption": ["Now", "Later"] });
    bench.call_as("3", poll).await.unwrap();
    bench.call_as("4", json!({ "action": "delete", "messageId": "5" })).await.unwrap();
    let [family, own, poll, delete] = &bench.asked()[..] else { panic!("{:?}", bench.asked()) };
    assert_eq!((&*family.kind, &family.patterns[..]), ("message", &["telegram:-200".to_owned()][..]));
    assert_eq!(family.title, "Send a file to another conversation on telegram, -200");
    assert!(family.before_acting);
    let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let file = format!("a.txt (5 bytes, text/plain, SHA-256 {digest})");
    let expected = [
        ("to", "-200 (Family), by the account main"),
        ("reply to", "7"),
        ("sound", "none"),
        ("text", &*text),
        ("file", &*file),
        ("caption", "Look"),
        ("parts", "4"),
    ];
    assert_eq!(texts(family), expected);
    assert_eq!(own.title, "Send a message to this conversation on telegram, 100");
    assert_eq!(own.patterns, ["telegram:100"]);
    let expected =
        [("to", "100, by the account main"), ("question", "When?"), ("option", "Now"), ("option", "Later")];
    assert_eq!(texts(poll), expected);
    assert_eq!(delete.title, "Delete the message 5 in this conversation on telegram, 100");
}

#[tokio::test]
async fn nothing_is_sent_that_a_person_denies() {
    let bench = Bench::new(Answer::deny_saying("not now"));
    for arguments in [
        json!({ "message": "Hello" }),
        json!({ "message": "Hello", "target": "300" }),
        json!({ "action": "delete", "messageId": "5" }),
    ] {
        assert_eq!(bench.fails(arguments).await.kind(), ToolErrorKind::Denied);
    }
    assert_eq!(bench.asked().len(), 3);
}

#[tokio::test]
async fn a_rule_names_the_channel_and_the_target() {
    let rules =
        json!([{ "match": "telegram:300", "do": "allow" }, { "match": "telegram:-200", "do": "deny" }]);
    let denies = ScriptedApprover::always(Answer::deny_saying("no"));
    let bench = Bench::with(Outbox::default(), denies, &rules);
    bench.call(json!({ "message": "Hello", "target": "300" })).await.unwrap();
    assert_eq!((bench.rows().len(), bench.asked().len()), (1, 0));
    bench.fails(json!({ "message": "Hello", "target": "-200", "accountId": "work" })).await;
    assert_eq!(bench.asked().len(), 0);
    // The own conversation has no rule of its own.
    bench.fails(json!({ "message": "Hello" })).await;
    assert_eq!(bench.asked().len(), 1);
}

#[tokio::test]
async fn a_lasting_answer_counts_for_its_target_account_and_action() {
    let bench = Bench::new(Answer::allow_for_session());
    for (id, arguments, asked) in [
        ("1", json!({ "message": "One", "target": "-200", "accountId": "main" }), 1),
        ("2", json!({ "message": "Two", "target": "-200", "accountId": "main" }), 1),
        ("3", json!({ "message": "Two", "target": "-200", "accountId": "work" }), 2),
        ("4", json!({ "message": "Two", "target": "100" }), 3),
        ("5", json!({ "action": "delete", "messageId": "1", "target": "100" }), 4),
    ] {
        bench.call_as(id, arguments).await.unwrap();
        assert_eq!(bench.asked().len(), asked, "{id}");
    }
}

#[tokio::test]
async fn the_bytes_that_were_allowed_are_sent() {
    let file: Arc<OnceLock<PathBuf>> = Arc::default();
    let changed = Arc::clone(&file);
    // The file changes while the person reads the question.
    let rewrites = move |_: &PendingAsk| fs::write(changed.get().unwrap(), "other").is_ok();
    let approver = ScriptedApprover::new([]).with_rule(rewrites, Answer::allow());
    let bench = Bench::with(Outbox::default(), approver, &json!("ask"));
    bench.file("a.txt", "first");
    file.set(bench.work().join("a.txt")).unwrap();
    bench.call(json!({ "media": ["a.txt"] })).await.unwrap();
    let MessageContent::Send { media, .. } = &bench.rows()[0].message.content else { panic!() };
    assert_eq!(fs::read_to_string(file.get().unwrap()).unwrap(), "other");
    assert_eq!(media[0].bytes, b"first");
}

#[tokio::test]
async fn the_digest_of_the_question_covers_all_that_is_sent() {
    let bench = Bench::new(Answer::allow());
    let arguments = [
        json!({ "message": "One" }),
        json!({ "message": "Two" }),
        json!({ "message": "One", "target": "300" }),
        json!({ "message": "One", "silent": true }),
        json!({ "message": "One", "replyTo": "1" }),
        json!({ "media": ["a.txt"] }),
        json!({ "media": ["a.txt"], "caption": "One" }),
        json!({ "media": ["a.txt"], "message": "One" }),
    ];
    bench.file("a.txt", "one");
    for (place, arguments) in arguments.iter().enumerate() {
        bench.call_as(&place.to_string(), arguments.clone()).await.unwrap();
    }
    bench.file("a.txt", "two");
    bench.call_as("last", json!({ "media": ["a.txt"] })).await.unwrap();
    let mut digests = bench.digests();
    let count = digests.len();
    assert_eq!(count, arguments.len() + 1);
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
    assert!(bench.rows().iter().all(|row| row.state == MessageState::Delivered));
}

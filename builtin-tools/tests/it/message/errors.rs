//! Calls that cannot work: each error says what there is, and what to do.

use super::outbox::{Bench, CAPTION, PART};
use serde_json::json;

#[tokio::test]
async fn a_place_that_is_not_listed_is_refused_with_those_that_are() {
    let bench = Bench::allowed();
    for (arguments, expected) in [
        (json!({ "message": "x", "channel": "signal" }), &["telegram", "plain"][..]),
        (json!({ "message": "x", "target": "999" }), &["100", "-200", "300", "ada"]),
        (json!({ "message": "x", "accountId": "other" }), &["main", "work"]),
        // Each is there, but not together.
        (json!({ "message": "x", "channel": "plain", "target": "100" }), &["no target `100`", "`ada`"]),
        (
            json!({ "message": "x", "channel": "plain", "accountId": "work" }),
            &["no account `work` of the channel `plain`", "`main`"],
        ),
        (
            json!({ "message": "x", "accountId": "work", "target": "100" }),
            &["no target `100`", "`-200`, `300`"],
        ),
        (json!({ "message": "x", "target": "-200" }), &["several accounts", "`main`, `work`"]),
        (json!({ "message": "x", "channel": "plain" }), &["`target` is missing", "`ada`"]),
    ] {
        let error = bench.fails(arguments).await;
        let message = error.message();
        assert!(expected.iter().all(|part| message.contains(part)), "{expected:?}: {message}");
    }
    for target in ["100\u{0}", "100\n-200", "\u{1b}[2J", "100 -200", "telegram:100", "@ada\u{202e}"] {
        let error = bench.fails(json!({ "message": "x", "target": target })).await;
        let is_hidden = |character: char| character.is_control() && character != '\n';
        assert!(!error.message().contains(is_hidden), "{target:?}: {:?}", error.message());
    }
}

#[tokio::test]
async fn a_target_beyond_those_that_the_schema_names_is_refused_by_the_call() {
    let bench = Bench::allowed();
    let many = (0..150).map(|number| super::outbox::target(&format!("n{number}")));
    bench.outbox.channels.lock().unwrap()[0].accounts[0].targets.extend(many);
    bench.call(json!({ "message": "x", "target": "n149" })).await.unwrap();
    for target in ["n150", "n149\u{0}", "N149", "../n149", "n149\u{200b}"] {
        let error = bench.fails(json!({ "message": "x", "target": target })).await;
        assert!(error.message().contains("there is no target"), "{target:?}: {}", error.message());
        assert!(error.message().contains("more"), "{}", error.message());
        assert!(!error.message().contains('\0') && !error.message().contains('\u{200b}'), "{error:?}");
    }
}

#[tokio::test]
async fn fields_that_do_not_fit_are_named() {
    let bench = Bench::allowed();
    let poll = |options: &[&str]| json!({ "action": "poll", "pollQuestion": "When?", "pollOption": options });
    for (arguments, expected) in [
        (json!({}), "there is nothing to send"),
        (json!({ "message": "\n \u{1}" }), "`message` is blank"),
        (json!({ "message": "" }), "message"),
        (json!({ "message": "x", "caption": "y" }), "`caption` is given without a file"),
        (json!({ "message": "x", "filename": "y" }), "`filename` is given without `buffer`"),
        (json!({ "message": "x", "messageId": "1" }), "`messageId` is not for the action `send`"),
        (json!({ "action": "edit", "message": "x" }), "`messageId` is missing: the action `edit`"),
        (json!({ "action": "react", "messageId": "1" }), "`emoji` is missing"),
        (json!({ "action": "react", "messageId": "1", "emoji": "a\u{7}" }), "control character"),
        (
            json!({ "action": "delete", "messageId": "1", "message": "x", "silent": true }),
            "`message`, `silent` is not for",
        ),
        (json!({ "action": "delete", "messageId": "1\n2" }), "messageId"),
        (poll(&["a", "b", "c", "d"]), "at most 3"),
        (poll(&["a", " "]), "`pollOption[1]` is blank"),
        (poll(&["a", "a"]), "`pollOption[1]` is there twice"),
        (json!({ "message": "x".repeat(PART * 10 + 1) }), "11 parts, and 10 are the most"),
        (json!({ "buffer": "aGk=", "caption": "c".repeat(CAPTION + 1) }), "`caption` has more than 50"),
        (
            json!({ "channel": "plain", "target": "ada", "action": "edit", "messageId": "1", "message": "x" }),
            "cannot `edit`; its actions are `send`",
        ),
        (json!({ "channel": "plain", "target": "ada", "buffer": "aGk=" }), "has no files"),
        (json!({ "channel": "plain", "target": "ada", "message": "x", "replyTo": "1" }), "has no replies"),
        (json!({ "channel": "plain", "target": "ada", "message": "x", "silent": true }), "without a sound"),
    ] {
        let shown = arguments.to_string();
        let error = bench.fails(arguments).await;
        assert!(error.message().contains(expected), "{shown}: {}", error.message());
    }
    bench.call(json!({ "message": "x".repeat(PART * 10) })).await.unwrap();
}

//! A dry run shows what would be sent, asks nobody and sends nothing.

use super::outbox::{Bench, PART};
use serde_json::{Value, json};
use std::fs;
use toolkit::approval::Answer;

async fn dry(bench: &Bench, mut arguments: Value) -> Value {
    arguments["dryRun"] = json!(true);
    let shown = arguments.to_string();
    let result = bench.call(arguments).await.unwrap_or_else(|error| panic!("{shown}: {error:?}"));
    assert_eq!((&result["dryRun"], &result["sent"]), (&json!(true), &Value::Null), "{shown}: {result}");
    result
}

#[tokio::test]
async fn it_shows_the_parts_and_the_target() {
    let bench = Bench::new(Answer::allow());
    bench.file("a.txt", "hello");
    let text = "x".repeat(PART) + "MEDIA:/etc/passwd";
    let result = dry(&bench, json!({ "message": text, "media": ["a.txt"], "caption": "Look" })).await;
    assert_eq!((&result["target"], &result["problems"]), (&json!("100"), &json!([])));
    let parts = result["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 3, "{result}");
    assert_eq!((&parts[1]["kind"], &parts[1]["text"]), (&json!("text"), &json!("MEDIA:/etc/passwd")));
    assert_eq!((&parts[2]["kind"], &parts[2]["file"]), (&json!("media"), &json!("a.txt")));
    assert!(bench.asked().is_empty() && bench.rows().is_empty());
}

#[tokio::test]
async fn it_collects_the_problems() {
    let bench = Bench::new(Answer::allow());
    bench.file(".env", "KEY=1");
    fs::write(bench.root.path().join("outside.txt"), "outside").unwrap();
    for (arguments, expected) in [
        (json!({ "media": ["missing.txt"] }), &["missing.txt"][..]),
        (
            json!({ "media": [".env", "../outside.txt", "missing.txt"], "message": "x" }),
            &["sensitive", "external_directory", "missing.txt"],
        ),
        (json!({ "message": " " }), &["`message` is blank"]),
        (json!({ "message": "x".repeat(PART * 11) }), &["11 parts"]),
        (json!({ "buffer": "?" }), &["not Base64"]),
        (json!({ "action": "edit", "message": " " }), &["`messageId` is missing", "`message` is blank"]),
        (json!({ "channel": "plain", "target": "ada", "media": ["a"] }), &["has no files"]),
        (
            json!({ "media": ["missing.txt"], "caption": "c".repeat(60), "message": "x" }),
            &["missing.txt", "`caption` has more"],
        ),
    ] {
        let shown = arguments.to_string();
        let result = dry(&bench, arguments).await;
        let problems: Vec<&str> =
            result["problems"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(problems.len(), expected.len(), "{shown}: {problems:?}");
        let is_told = problems.iter().zip(expected).all(|(problem, part)| problem.contains(part));
        assert!(is_told, "{shown}: {problems:?}");
    }
    assert!(bench.asked().is_empty() && bench.rows().is_empty());
}

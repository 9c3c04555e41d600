//! Commands that live on when their call is over.

use crate::house::{House, alive, fact};
use serde_json::json;
use std::time::{Duration, Instant};
use toolkit::{Answer, Event, ToolErrorKind};

#[tokio::test(flavor = "multi_thread")]
async fn a_command_goes_to_the_background_and_is_looked_after() {
    let house = House::new(json!({})).await;
    let mut events = house.toolkit.events();
    let result =
        house.call("exec", json!({ "command": "echo one; sleep 0.4; echo two", "yield_ms": 100 })).await;
    let text = result.text();
    assert!(!result.is_error() && text.starts_with("one\n[still running after 0."), "{text}");
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    assert!(text.contains(&id));
    let list = house.call("process", json!({ "action": "list" })).await;
    assert!(
        list.text().starts_with(&format!("{id}: echo one; sleep 0.4; echo two (running for ")),
        "{}",
        list.text()
    );
    let refused = house.process("remove", &id).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::Failed);
    let mut seen = String::new();
    while !seen.contains("exit code 0") {
        seen.push_str(&house.process("poll", &id).await.text());
    }
    assert!(seen.starts_with("two\n["), "{seen}");
    let quiet = house.call("process", json!({ "action": "poll", "task_id": id, "wait_ms": 0 })).await;
    assert!(quiet.text().starts_with("[no news; exit code 0"), "{}", quiet.text());
    let output = house.process("output", &id).await;
    assert!(
        output.text().starts_with("one\ntwo\n[lines 1 to 2 of 2; exit code 0, after 0."),
        "{}",
        output.text()
    );
    let line =
        house.call("process", json!({ "action": "output", "task_id": id, "offset": 2, "limit": 1 })).await;
    assert!(line.text().starts_with("two\n[lines 2 to 2 of 2;"), "{}", line.text());
    let ended = std::iter::from_fn(|| events.try_next()).any(|event| {
        matches!(&event.event, Event::Ended { task_id, title, .. } if *task_id == id && title.contains("exit code 0"))
    });
    assert!(ended, "nobody was told of its end");
    assert!(!house.process("remove", &id).await.is_error());
    let unknown = house.process("output", &id).await;
    assert_eq!(unknown.error().unwrap().kind(), ToolErrorKind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_at_once_is_told_at_once() {
    let house = House::new(json!({})).await;
    let result = house.call("exec", json!({ "command": "echo no; exit 7", "run_in_background": true })).await;
    assert!(result.is_error() && result.text().starts_with("no\n[exit code 7"), "{}", result.text());
    assert!(house.call("process", json!({ "action": "list" })).await.text().starts_with("no command"));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_stopped_whole_and_its_time_still_counts() {
    let house = House::new(json!({})).await;
    let marker = format!("stop-{}", std::process::id());
    let arguments = json!({
        "command": "echo up; (setsid sleep 300 &); sleep 301", "run_in_background": true, "env": { "MARKER": marker },
    });
    let result = house.call("exec", arguments).await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    assert!(!alive(&marker).is_empty());
    let stopped = house.process("stop", &id).await.text();
    assert!(
        stopped.starts_with(&format!("stopped {id}: "))
            && stopped.contains("sleep 301")
            && stopped.contains("\nup\n"),
        "{stopped}"
    );
    assert_eq!(alive(&marker), Vec::<String>::new());
    let again = house.process("stop", &id).await;
    assert!(again.is_error() && again.text().contains("has ended already"), "{}", again.text());
    let result = house
        .call("exec", json!({ "command": "sleep 300", "run_in_background": true, "timeout": 400 }))
        .await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    let news = house.process("poll", &id).await.text();
    assert!(news.starts_with("[timed out after 0.4 s"), "{news}");
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_a_bound() {
    let house = House::new(json!({ "tools": { "exec": { "maxBackground": 2 } } })).await;
    let arguments = json!({ "command": "sleep 300", "run_in_background": true });
    for _ in 0..2 {
        assert!(!house.call("exec", arguments.clone()).await.is_error());
    }
    let refused = house.call("exec", arguments.clone()).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::Unavailable, "{}", refused.text());
    house.process("stop", "job_1").await;
    assert!(!house.call("exec", arguments).await.is_error());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_typed_to() {
    let house = House::new(json!({})).await;
    let arguments = json!({ "command": "touch x; read -p 'name? ' name; echo hello $name; sleep 300", "pty": true, "run_in_background": true });
    let result = house.call("exec", arguments).await;
    assert!(result.text().starts_with("name?"), "{}", result.text());
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    house.asked();
    let written = house.call("process", json!({ "action": "write", "task_id": id, "data": "ada\n" })).await;
    assert!(written.text().contains("hello ada"), "{}", written.text());
    assert_eq!(house.asked().len(), 1, "what may be run by whoever reads it is asked about");
    let pressed = house.call("process", json!({ "action": "keys", "task_id": id, "data": "C-c" })).await;
    assert!(!pressed.is_error(), "{}", pressed.text());
    let until = Instant::now() + Duration::from_secs(5);
    let mut text = pressed.text();
    while !text.contains("SIGINT") && !text.contains("exit code 130") {
        assert!(Instant::now() < until, "{text}");
        text = house.process("poll", &id).await.text();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_stays_open_for_who_wants_it() {
    let house = House::with(json!({}), |_| Answer::deny()).await;
    let arguments =
        json!({ "command": "cat", "stdin": "one\n", "keep_stdin": true, "run_in_background": true });
    let result = house.call("exec", arguments).await;
    assert!(result.text().starts_with("one\n"), "{}", result.text());
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    // What only reads can do nothing with it: nobody is asked.
    let written = house
        .call("process", json!({ "action": "write", "task_id": id, "data": "two\n", "eof": true }))
        .await;
    assert!(written.text().starts_with("two\n"), "{}", written.text());
    let mut text = written.text();
    while !text.contains("exit code 0") {
        text = house.process("poll", &id).await.text();
    }
    let refused = house.call("process", json!({ "action": "write", "task_id": id, "data": "x" })).await;
    assert!(refused.is_error() && refused.text().contains("reads no more"), "{}", refused.text());
    let refused = house.call("process", json!({ "action": "keys", "task_id": id, "data": "Enter" })).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
}

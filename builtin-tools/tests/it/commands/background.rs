//! Commands that live on when their call is over.

use crate::commands::house::{House, alive, fact};
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolkit::{ToolErrorKind, approval::Answer, events::Event};

#[tokio::test(flavor = "multi_thread")]
async fn a_command_goes_to_the_background_and_is_looked_after() {
    let house = House::new(json!({})).await;
    let mut events = house.toolkit.events();
    let command = "echo one; until [ -e go ]; do sleep 0.05; done; echo two";
    let result = house.call("exec", json!({ "command": command, "yield_ms": 1000 })).await;
    let text = result.text();
    assert!(!result.is_error() && text.starts_with("one\n[still running after "), "{text}");
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    assert!(text.contains(&id));
    let list = house.call("process", json!({ "action": "list" })).await;
    assert!(list.text().starts_with(&format!("{id}: {command} (running for ")), "{}", list.text());
    let refused = house.process("remove", &id).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::Failed);
    fs::write(house.path("go"), "").unwrap();
    let poll = json!({ "action": "poll", "task_id": id, "wait_ms": 60_000 });
    let mut seen = String::new();
    while !seen.contains("exit code 0") {
        seen.push_str(&house.call("process", poll.clone()).await.text());
    }
    assert!(seen.starts_with("two\n["), "{seen}");
    let began = Instant::now();
    let quiet = house.call("process", poll).await;
    assert!(quiet.text().starts_with("[no news; exit code 0"), "{}", quiet.text());
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "it waits for what cannot come: {:?}",
        began.elapsed()
    );
    let output = house.process("output", &id).await;
    assert!(
        output.text().starts_with("one\ntwo\n[lines 1 to 2 of 2; exit code 0, after "),
        "{}",
        output.text()
    );
    let line =
        house.call("process", json!({ "action": "output", "task_id": id, "offset": 2, "limit": 1 })).await;
    assert!(line.text().starts_with("two\n[lines 2 to 2 of 2;"), "{}", line.text());
    // The event follows the end that was polled, in a task of its own.
    let ended = timeout(Duration::from_mins(1), async {
        while let Some(event) = events.next().await {
            if matches!(&event.event, Event::Ended { task_id, title, .. } if *task_id == id && title.contains("exit code 0")) {
                return true;
            }
        }
        false
    })
    .await
    .unwrap_or(false);
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
    house.until_told(&id, result.text(), "up\n").await;
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
        .call("exec", json!({ "command": "sleep 300", "run_in_background": true, "timeout": 1500 }))
        .await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    let news = house.process("poll", &id).await.text();
    assert!(news.starts_with("[timed out after 1.5 s"), "{news}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_starts_in_the_background_runs_until_it_is_stopped() {
    let house = House::new(json!({ "tools": { "exec": { "timeoutSec": 1 } } })).await;
    for (arguments, told, ends) in [
        (json!({ "run_in_background": true }), "runs until it ends, is stopped, or the session ends", false),
        (json!({ "run_in_background": true, "timeout": 1200 }), "is ended after 1.2 s in all", true),
        (json!({ "yield_ms": 50 }), "is ended after 1.0 s in all", true),
    ] {
        let mut arguments = arguments;
        arguments["command"] = "sleep 300".into();
        let began = Instant::now();
        let result = house.call("exec", arguments.clone()).await;
        assert!(result.text().contains(told), "{arguments}: {}", result.text());
        let id = fact(&result, "taskId").as_str().unwrap().to_owned();
        let most = if ends { 60_000 } else { 1800 };
        let wait = json!({ "action": "poll", "task_id": id, "wait_ms": most });
        let news = house.call("process", wait).await.text();
        assert_eq!(news.contains("timed out after"), ends, "{arguments}: {news}");
        assert_eq!(news.contains("no news; running for"), !ends, "{arguments}: {news}");
        assert!(began.elapsed() >= Duration::from_millis(900), "{arguments}: {news}");
    }
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
async fn of_many_at_once_those_that_find_no_place_are_refused() {
    let house = Arc::new(House::new(json!({ "tools": { "exec": { "maxBackground": 3 } } })).await);
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let house = Arc::clone(&house);
        let arguments = json!({ "command": "sleep 300", "run_in_background": true });
        calls.spawn(async move { house.call("exec", arguments).await });
    }
    let (taken, refused): (Vec<_>, Vec<_>) =
        calls.join_all().await.into_iter().partition(|result| !result.is_error());
    assert_eq!((taken.len(), refused.len()), (3, 5));
    for result in refused {
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Unavailable, "{}", result.text());
    }
    let list = house.call("process", json!({ "action": "list" })).await;
    assert_eq!(list.text().lines().count(), 3, "{}", list.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_is_typed_to() {
    let house = House::new(json!({})).await;
    let arguments = json!({ "command": "touch x; read -p 'name? ' name; echo hello $name; sleep 300", "pty": true, "run_in_background": true });
    let result = house.call("exec", arguments).await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    house.until_told(&id, result.text(), "name?").await;
    house.asked();
    let written = house.call("process", json!({ "action": "write", "task_id": id, "data": "ada\n" })).await;
    assert_eq!(house.asked().len(), 1, "what may be run by whoever reads it is asked about");
    house.until_told(&id, written.text(), "hello ada").await;
    let pressed = house.call("process", json!({ "action": "keys", "task_id": id, "data": "C-c" })).await;
    assert!(!pressed.is_error(), "{}", pressed.text());
    let until = Instant::now() + Duration::from_mins(1);
    let mut text = pressed.text();
    while !text.contains("SIGINT") && !text.contains("exit code 130") {
        assert!(Instant::now() < until, "{text}");
        text = house.process("poll", &id).await.text();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_and_a_long_line_are_shown() {
    let house = House::new(json!({})).await;
    let command = "seq 3; head -c 60000 /dev/zero | tr '\\0' x; echo; seq 4 300; printf 'name? '; sleep 300";
    let result = house.call("exec", json!({ "command": command, "yield_ms": 500 })).await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    house.until_told(&id, result.text(), "name?").await;
    let page = async |page: serde_json::Value| {
        let mut arguments = page;
        arguments["action"] = "output".into();
        arguments["task_id"] = id.clone().into();
        house.call("process", arguments).await
    };
    let last = page(json!({})).await.text();
    assert!(
        last.starts_with("103\n") && last.contains("300\nname? \n[lines 102 to 302 of 302;")
            || last.starts_with("102\n"),
        "{last}"
    );
    assert!(last.contains("300\nname? \n[lines ") && last.contains(" to 302 of 302; running for"), "{last}");
    let one = page(json!({ "limit": 1 })).await.text();
    assert!(one.starts_with("name? \n[lines 302 to 302 of 302;"), "{one}");
    let long = page(json!({ "offset": 4, "limit": 1 })).await;
    let path = fact(&long, "outputPath").as_str().unwrap().to_owned();
    let text = long.text();
    assert!(
        text.contains("[the beginning of line 4 of 302") && text.contains("the next line has the offset 5"),
        "{text}"
    );
    assert_eq!(fact(&long, "truncated"), json!(true));
    // The report leads to the rest.
    let at = text.split("continues at byte ").nth(1).unwrap().split(' ').next().unwrap();
    let rest = house.exec(&format!("tail -c +{at} {path} | head -n 1 | wc -c")).await.text();
    assert!(rest.starts_with("8801\n"), "{rest}");
    let next = page(json!({ "offset": 5, "limit": 1 })).await.text();
    assert!(next.starts_with("4\n[lines 5 to 5 of 302;"), "{next}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_is_allowed_word_by_word() {
    let house = House::with(json!({}), |_| Answer::allow_for_session()).await;
    let arguments = json!({ "command": "touch x; exec sh", "pty": true, "run_in_background": true });
    let result = house.call("exec", arguments).await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    house.asked();
    for (action, data, asked) in [
        ("write", "echo one\n", 1),
        ("write", "echo one\n", 0),
        ("write", "echo two\n", 1),
        ("keys", "Up", 0),
        ("keys", "Up Enter", 1),
        ("keys", "Up Enter", 0),
        ("keys", "C-o", 1),
        ("keys", "C-c", 0),
    ] {
        let typed = house.call("process", json!({ "action": action, "task_id": id, "data": data })).await;
        assert!(!typed.is_error(), "{data}: {}", typed.text());
        assert_eq!(house.asked().len(), asked, "{action} {data}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_stays_open_for_who_wants_it() {
    let house = House::with(json!({}), |_| Answer::deny()).await;
    let arguments =
        json!({ "command": "cat", "stdin": "one\n", "keep_stdin": true, "run_in_background": true });
    let result = house.call("exec", arguments).await;
    let id = fact(&result, "taskId").as_str().unwrap().to_owned();
    house.until_told(&id, result.text(), "one\n").await;
    // A command that only reads can do nothing with it: nobody is asked.
    let written = house
        .call("process", json!({ "action": "write", "task_id": id, "data": "two\n", "eof": true }))
        .await;
    let mut text = house.until_told(&id, written.text(), "two\n").await;
    while !text.contains("exit code 0") {
        text = house.process("poll", &id).await.text();
    }
    let refused = house.call("process", json!({ "action": "write", "task_id": id, "data": "x" })).await;
    assert!(refused.is_error() && refused.text().contains("takes no more input"), "{}", refused.text());
    let refused = house.call("process", json!({ "action": "keys", "task_id": id, "data": "Enter" })).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
}

/// In one thread, where time can be made to pass.
#[tokio::test]
async fn what_has_ended_is_forgotten_after_half_an_hour() {
    let house = House::new(json!({})).await;
    let started = |command: &str| json!({ "command": command, "run_in_background": true });
    let ends = house.call("exec", started("until [ -e go ]; do sleep 0.02; done")).await;
    let stays = house.call("exec", started("sleep 100000")).await;
    let [ends, stays] = [ends, stays].map(|result| fact(&result, "taskId").as_str().unwrap().to_owned());
    fs::write(house.path("go"), "").unwrap();
    while !house.process("poll", &ends).await.text().contains("exit code 0") {}
    for (passes, is_there) in [(Duration::from_mins(29), true), (Duration::from_secs(61), false)] {
        tokio::time::pause();
        tokio::time::advance(passes).await;
        tokio::time::resume();
        let list = house.call("process", json!({ "action": "list" })).await.text();
        assert_eq!(list.contains(&format!("{ends}:")), is_there, "{list}");
        assert!(list.contains(&format!("{stays}: ")), "{list}");
    }
    let gone = house.process("output", &ends).await;
    assert_eq!(gone.error().unwrap().kind(), ToolErrorKind::NotFound);
    assert!(!house.process("stop", &stays).await.is_error());
}

//! The output of a command while it runs.

use crate::commands::house::House;
use serde_json::json;
use std::fs;
use toolkit::{
    Content,
    events::{Event, Events},
};

/// The next part of an output.
async fn part(events: &mut Events) -> String {
    while let Some(event) = events.next().await {
        if let Event::Partial { content: Content::Text { text } } = event.event {
            return text;
        }
    }
    panic!("the events ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_come_while_the_command_runs() {
    let house = House::new(json!({})).await;
    let mut events = house.toolbox.events();
    let watching = async {
        assert_eq!(part(&mut events).await, "one\n");
        // The second line, and the beginning of a third one, cannot have been written yet.
        fs::write(house.path("go"), "").unwrap();
        let mut rest = part(&mut events).await;
        while !rest.ends_with("three") {
            rest.push_str(&part(&mut events).await);
        }
        assert_eq!(rest, "two\nthree");
    };
    let command = "echo one; until [ -e go ]; do sleep 0.02; done; echo two; printf three";
    let (result, ()) = tokio::join!(house.exec(command), watching);
    assert!(result.text().starts_with("one\ntwo\nthree\n[exit code 0"), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_and_what_commands_a_terminal_are_taken_out() {
    let house = House::new(json!({})).await;
    let mut events = house.toolbox.events();
    let command = "printf 'password = \"hunter2hunter2\"\\n\\033[2Jclear\\n'; sleep 0.4; printf 'token: ghp_0123456789abcdefghijABCDEFGHIJ0123'; \
                   sleep 0.4; printf '45\\n'";
    let result = house.exec(command).await;
    assert!(result.text().contains("hunter2hunter2"), "{}", result.text());
    let mut told = String::new();
    while let Some(event) = events.try_next() {
        if let Event::Partial { .. } | Event::Progress(_) = event.event {
            told.push_str(&serde_json::to_string(&event).unwrap());
        }
    }
    assert!(told.contains("clear") && told.contains("token: "), "{told}");
    for secret in ["hunter2", "ghp_0123456789", "\\u001b"] {
        assert!(!told.contains(secret), "{secret} in {told}");
    }
}

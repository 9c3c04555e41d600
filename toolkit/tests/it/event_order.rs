//! The numbers and times of events.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit::events::{CallEvent, Events};
use toolkit::prelude::*;
use toolkit::{Toolbox, tool_ref};

/// Sends progress.
#[tool(read_only)]
async fn counts(ctx: &ToolContext) {
    for done in 0..3 {
        ctx.progress(done);
        tokio::task::yield_now().await;
    }
}

fn all(events: &mut Events) -> Vec<CallEvent> {
    std::iter::from_fn(|| events.try_next()).collect()
}

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

async fn call_often(toolbox: &Toolbox) {
    for number in 0..20 {
        toolbox.call(ToolCall::new(number.to_string(), "counts", json!({}))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_of_all_events_finds_numbers_from_one_without_a_gap() {
    let toolkit = Toolkit::empty().tool(tool_ref!(counts)).build().unwrap();
    let before = now();
    let mut every = toolkit.events();
    let toolboxes = ["a", "b", "c", "d"].map(|session| Caller::new().with_session(session));
    let mut of_session = None;
    let mut tasks = Vec::new();
    for caller in toolboxes {
        let toolbox = toolkit.toolbox(&caller).await;
        of_session.get_or_insert_with(|| toolbox.events());
        tasks.push(tokio::spawn(async move { call_often(&toolbox).await }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let (every, of_session) = (all(&mut every), all(&mut of_session.unwrap()));
    let numbers: Vec<u64> = every.iter().map(|event| event.seq).collect();
    // Each call starts, sends progress three times, and finishes.
    assert_eq!(numbers, (1..=4 * 20 * 5).collect::<Vec<u64>>());
    assert_eq!(of_session.len(), 20 * 5);
    assert!(of_session.is_sorted_by_key(|event| event.seq));
    for event in &of_session {
        let place = usize::try_from(event.seq).unwrap() - 1;
        assert_eq!(every[place], *event, "one event has one number for all readers");
        assert!((before..=now()).contains(&event.at), "{}", event.at);
    }
}

#[tokio::test]
async fn events_without_a_reader_have_no_number() {
    let toolkit = Toolkit::empty().tool(tool_ref!(counts)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_session("a")).await;
    call_often(&toolbox).await;
    let mut events = toolkit.events();
    toolbox.call(ToolCall::new("x", "counts", json!({}))).await;
    assert_eq!(all(&mut events).iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

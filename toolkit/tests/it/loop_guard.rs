//! The loop guard: a model that makes the same call again and again.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::prelude::*;
use toolkit::{
    Builder, ToolResult,
    approval::{Answer, ScriptedApprover},
    history::{HistoryQuery, MemoryHistory},
    inspection::LoopGuard,
    output::OutputLimits,
    text::Redactor,
    tool_ref,
};

#[derive(Default)]
struct Counter(AtomicUsize);

/// Reads what never changes.
#[tool(read_only)]
async fn reads(count: State<Counter>, name: Option<String>, depth: Option<u32>) -> String {
    let _ = depth;
    count.0.0.fetch_add(1, Ordering::Relaxed);
    name.unwrap_or_default()
}

/// Reads what grows.
#[tool(read_only)]
async fn polls(count: State<Counter>) -> String {
    count.0.0.fetch_add(1, Ordering::Relaxed).to_string()
}

/// Never works.
#[tool(auto_execute)]
async fn fails(name: Option<String>) -> Result<(), ToolError> {
    let _ = name;
    Err(ToolError::failed("broken"))
}

/// Changes something.
#[tool(auto_execute)]
async fn writes(name: Option<String>) {
    let _ = name;
}

/// Reads the same many times.
#[tool(read_only)]
async fn reads_often(ctx: &ToolContext) -> Result<String, ToolError> {
    for _ in 0..20 {
        ctx.call("reads", json!({})).await?;
    }
    Ok("read".to_owned())
}

/// Says more than a model gets.
#[tool(read_only)]
async fn long() -> String {
    "x".repeat(5000)
}

fn house(count: &Arc<Counter>) -> Builder {
    Toolkit::empty()
        .tool(tool_ref!(reads))
        .tool(tool_ref!(polls))
        .tool(tool_ref!(fails))
        .tool(tool_ref!(writes))
        .tool(tool_ref!(reads_often))
        .tool(tool_ref!(long))
        .shared_service(Arc::clone(count))
}

/// The loop guard's decision on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Did {
    Nothing,
    Told(u32),
    Refused,
    Blocked,
}

fn did(result: &ToolResult) -> Did {
    let text = result.text();
    let told = text.split_once("This is the ").map(|(_, rest)| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    });
    let noted = result.output().and_then(|output| output.metadata.get("sameAnswers"));
    if result.output().is_some() {
        assert_eq!(noted.and_then(Value::as_u64), told.map(u64::from), "{text}");
    }
    match told {
        Some(told) => Did::Told(told),
        None if text.contains("so this call was blocked") => Did::Blocked,
        None if text.contains("not allowed: call `") => Did::Refused,
        None => Did::Nothing,
    }
}

/// The decisions on these calls in one session: a letter for the tool, then the argument.
async fn series(builder: Builder, calls: &str) -> Vec<Did> {
    let toolbox = builder.build().unwrap().toolbox(&Caller::new().with_agent("ada")).await;
    let mut all = Vec::new();
    for (number, call) in calls.split_whitespace().enumerate() {
        let (tool, argument) = call.split_at(1);
        let (tool, arguments) = match tool {
            "r" => ("reads", json!({"name": argument})),
            "p" => ("polls", json!({})),
            "f" => ("fails", json!({"name": argument})),
            "w" => ("writes", json!({"name": argument})),
            "o" => ("reads_often", json!({})),
            "l" => ("long", json!({})),
            "u" => ("unknown", json!({})),
            _ => ("reads", json!({"bogus": 1})),
        };
        all.push(did(&toolbox.call(ToolCall::new(number.to_string(), tool, arguments)).await));
    }
    all
}

#[tokio::test]
async fn what_is_done_with_calls() {
    use Did::{Blocked, Nothing as N, Refused, Told};
    let full = vec![N, N, Told(3), Told(4), Told(5), Refused, Refused, Refused, Blocked, Blocked];
    for (calls, expected) in [
        ("ra ra ra ra ra ra ra ra ra ra", full.clone()),
        ("fa fa fa fa fa fa fa fa fa fa", full.clone()),
        ("wa wa wa wa wa wa wa wa wa wa", full.clone()),
        ("l l l l l l l l l l", full.clone()),
        // Others in between make no difference, as long as nothing changes.
        ("ra rb ra p ra p ra", vec![N, N, N, N, Told(3), N, Told(4)]),
        ("ra rb ra rb ra rb", vec![N, N, N, N, Told(3), Told(3)]),
        // A loop that polls what moves.
        ("p p p p p p p p p p", vec![N; 10]),
        // Work: change something, look again.
        ("ra wa ra wb ra wc ra wd ra", vec![N; 9]),
        // A circle of things that are done again and again.
        ("fa wa fa wa fa wa fa wa", vec![N, N, N, N, N, Told(3), Told(3), Told(4)]),
        // A tool's own calls are its own business.
        ("o o", vec![N, N]),
        // Refused before they run.
        ("u u u u u u u u u", vec![N, N, Told(3), Told(4), Told(5), Told(6), Told(7), Told(8), Told(9)]),
        ("x x x ra", vec![N, N, Told(3), N]),
    ] {
        let data = tempfile::tempdir().unwrap();
        let builder = house(&Arc::default())
            .data_dir(data.path())
            .output_limits(OutputLimits { max_bytes: 1000, ..OutputLimits::default() });
        assert_eq!(series(builder, calls).await, expected, "{calls}");
    }
}

#[tokio::test]
async fn its_numbers_can_be_chosen() {
    use Did::{Blocked, Nothing as N, Refused, Told};
    for (guard, expected) in [
        (LoopGuard::off(), vec![N; 10]),
        (LoopGuard::new().tell(0).ask(0).block(2), vec![N, N, Blocked]),
        (LoopGuard::new().tell(1).ask(0).block(0), vec![Told(1), Told(2), Told(3)]),
        (LoopGuard::new().tell(0).ask(1).block(0), vec![N, Refused, Refused]),
    ] {
        let builder = house(&Arc::default()).loop_guard(guard);
        let calls = "ra ".repeat(expected.len());
        assert_eq!(series(builder, &calls).await, expected, "{guard:?}");
    }
}

#[tokio::test]
async fn a_host_knows_which_calls_the_guard_kept_back() {
    let toolkit =
        house(&Arc::default()).loop_guard(LoopGuard::new().tell(0).ask(2).block(0)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_agent("a")).await;
    let mut kept_back = Vec::new();
    for number in 0..3 {
        let result = toolbox.call(ToolCall::new(number.to_string(), "reads", json!({}))).await;
        kept_back.push(result.error().and_then(|error| error.metadata("loopGuard").cloned()));
    }
    assert_eq!(kept_back, [None, None, Some(json!("denied"))]);
    let toolkit =
        house(&Arc::default()).loop_guard(LoopGuard::new().tell(0).ask(0).block(1)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_agent("a")).await;
    toolbox.call(ToolCall::new("1", "reads", json!({}))).await;
    let result = toolbox.call(ToolCall::new("2", "reads", json!({}))).await;
    assert_eq!(result.error().unwrap().metadata("loopGuard"), Some(&json!("blocked")));
}

#[tokio::test]
async fn a_person_may_let_it_go_on_until_it_is_blocked() {
    use Did::{Blocked, Nothing as N, Told};
    let approver = ScriptedApprover::new(vec![Answer::allow(); 9]);
    let count = Arc::new(Counter::default());
    let history = Arc::new(MemoryHistory::new(Redactor::new()));
    let builder = house(&count).approver(approver.clone()).history(Arc::clone(&history));
    let all = series(builder, "ra ra ra ra ra ra ra ra ra ra").await;
    assert_eq!(all, [N, N, Told(3), Told(4), Told(5), Told(6), Told(7), Told(8), Blocked, Blocked]);
    assert_eq!(count.0.load(Ordering::Relaxed), 8);
    let asked = approver.asked();
    assert_eq!(asked.len(), 3);
    for word in ["call `reads` once more", "kind: repeat", "\"name\": \"a\""] {
        assert!(asked[0].to_text().contains(word), "{word}: {}", asked[0].to_text());
    }
    let calls = history.calls(&HistoryQuery::new());
    assert_eq!(calls.iter().filter(|call| format!("{call:?}").contains("This is the ")).count(), 6);
}

#[tokio::test]
async fn arguments_are_the_same_in_any_order_and_after_repair() {
    let toolbox = house(&Arc::default()).build().unwrap().toolbox(&Caller::new().with_agent("ada")).await;
    let mut last = Did::Nothing;
    for arguments in
        [r#"{"name": "a", "depth": 2}"#, r#"{"depth": 2, "name": "a"}"#, r#"{"depth": "2", "name": "a"}"#]
    {
        last = did(&toolbox.call(ToolCall::new("1", "reads", arguments)).await);
    }
    assert_eq!(last, Did::Told(3));
}

#[tokio::test]
async fn sessions_have_their_own_loops() {
    let toolkit = house(&Arc::default()).build().unwrap();
    for (session, expected) in [
        ("a", Did::Nothing),
        ("a", Did::Nothing),
        ("b", Did::Nothing),
        ("a", Did::Told(3)),
        ("b", Did::Nothing),
    ] {
        // One toolbox a turn.
        let toolbox = toolkit.toolbox(&Caller::new().with_agent("ada").with_session(session)).await;
        assert_eq!(did(&toolbox.call(ToolCall::new("1", "reads", "{}")).await), expected);
    }
}

#[tokio::test]
async fn the_calls_of_a_program_with_an_agent_are_left_alone() {
    let toolkit = house(&Arc::default()).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_agent("main").with_session("s")).await;
    for arguments in ["{}", "{\"unknown\":1}"] {
        for _ in 0..20 {
            let options = toolkit::CallOptions::new().of_program();
            let result = toolbox.call_with(ToolCall::new("1", "reads", arguments), options).await;
            assert_eq!(did(&result), Did::Nothing);
        }
    }
}

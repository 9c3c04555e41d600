//! The question before a tool runs that asks nothing by itself.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use toolkit::prelude::*;
use toolkit::{
    AllowAll, Ask, Builder, CallOptions, CancellationToken, Tool, ToolErrorKind,
    approval::{Answer, AskDetail, CallbackApprover, Question, ScriptedApprover},
    descriptor::{Run, ToolDef},
    events::Event,
    permission::{PermissionSettings, Permissions},
    tool_ref,
};

#[derive(Default)]
struct Runs(AtomicUsize);

/// Looks.
#[tool(read_only)]
async fn looks(runs: State<Runs>) {
    runs.0.0.fetch_add(1, Ordering::Relaxed);
}

/// Changes something harmless.
#[tool(auto_execute)]
async fn tidies(runs: State<Runs>) {
    runs.0.0.fetch_add(1, Ordering::Relaxed);
}

/// Changes something.
#[tool(permission = "edit")]
async fn changes(runs: State<Runs>, text: Option<String>, #[arg(secret)] key: Option<String>) {
    let _ = (text, key);
    runs.0.0.fetch_add(1, Ordering::Relaxed);
}

/// Changes something on another thread.
#[expect(clippy::needless_pass_by_value, reason = "so tools take their services")]
#[tool(permission = "edit", concurrency = 1)]
fn changes_blocking(runs: State<Runs>) {
    runs.0.0.fetch_add(1, Ordering::Relaxed);
}

/// Has another tool change something.
#[tool(auto_execute)]
async fn delegates(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.call("changes", json!({})).await.map(drop)
}

/// Asks by itself.
static ASKS: ToolDef = ToolDef {
    name: "asks",
    description: "Asks by itself.",
    asks: true,
    run: Run::Async(|ctx, _| {
        Ok(Box::pin(async move {
            ctx.ask(Ask::new("edit", "its own question")).await?;
            ctx.require_service::<Runs>()?.0.0.fetch_add(1, Ordering::Relaxed);
            Ok(toolkit::ToolOutput::default())
        }))
    }),
    ..ToolDef::BASE
};

fn house(runs: &Arc<Runs>) -> Builder {
    Toolkit::empty()
        .tool(tool_ref!(looks))
        .tool(tool_ref!(tidies))
        .tool(tool_ref!(changes))
        .tool(tool_ref!(changes_blocking))
        .tool(tool_ref!(delegates))
        .tool(Tool::new(&ASKS))
        .shared_service(Arc::clone(runs))
}

fn permissions(everybody: Value) -> Permissions {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(everybody).unwrap();
    Permissions::new([settings])
}

/// The titles that a call of `tool` asks, with a person who allows everything.
async fn asked(builder: Builder, tool: &str) -> (Vec<String>, toolkit::ToolResult) {
    let approver = ScriptedApprover::new(vec![Answer::allow(); 9]);
    let toolbox = builder.approver(approver.clone()).build().unwrap().toolbox(&Caller::new()).await;
    let result = toolbox.call(ToolCall::new("1", tool, "{}")).await;
    let asked = approver.asked();
    let titles = asked.iter().map(|ask| match ask.question() {
        Question::Approve(ask) => format!("{}: {}", ask.kind, ask.title),
        other => format!("{other:?}"),
    });
    (titles.collect(), result)
}

#[tokio::test]
async fn who_is_asked_for_which_tool() {
    let none: &[&str] = &[];
    let nothing = json!({});
    for (rules, tool, expected, runs) in [
        (&nothing, "looks", none, 1),
        (&nothing, "tidies", none, 1),
        (&nothing, "changes", &["edit: call `changes`"], 1),
        (&nothing, "changes_blocking", &["edit: call `changes_blocking`"], 1),
        (&nothing, "delegates", &["edit: call `changes`"], 1),
        (&nothing, "asks", &["edit: its own question"], 1),
        (&json!({"edit": "allow"}), "changes", none, 1),
        (&json!({"edit": "deny"}), "changes", none, 0),
        (&json!({"edit": "deny"}), "changes_blocking", none, 0),
        (&json!({"edit": [{"match": "changes", "do": "allow"}]}), "changes", none, 1),
        (
            &json!({"edit": [{"match": "changes", "do": "allow"}]}),
            "changes_blocking",
            &["edit: call `changes_blocking`"],
            1,
        ),
        (&json!({"edit": [{"match": "changes*", "do": "deny"}]}), "changes_blocking", none, 0),
        // A configured rule takes precedence over a tool's own statement.
        (&json!({"looks": "ask"}), "looks", &["looks: call `looks`"], 1),
        (&json!({"looks": "deny"}), "looks", none, 0),
        (&json!({"tidies": "ask"}), "tidies", &["tidies: call `tidies`"], 1),
        (&json!({"edit": "ask"}), "looks", none, 1),
        // A tool that asks by itself is not judged by its name.
        (&json!({"edit": [{"match": "*", "do": "ask"}]}), "asks", &["edit: its own question"], 1),
    ] {
        let count = Arc::new(Runs::default());
        let builder = house(&count).permissions(permissions(rules.clone()));
        let (titles, result) = asked(builder, tool).await;
        assert_eq!(titles, expected, "{tool} with {rules}");
        assert_eq!(count.0.load(Ordering::Relaxed), runs, "{tool} with {rules}: {result:?}");
        assert_eq!(result.is_error(), runs == 0);
        let is_noted = result.output().is_some_and(|output| output.metadata.contains_key("asked"));
        assert_eq!(
            is_noted,
            !expected.is_empty() && !["asks", "delegates"].contains(&tool),
            "{tool} with {rules}"
        );
    }
}

#[tokio::test]
async fn without_asking_first_only_rules_ask() {
    for (rules, expected, runs) in [
        (json!({}), &[][..], 1),
        (json!({"edit": "ask"}), &["edit: call `changes`"], 1),
        (json!({"edit": "deny"}), &[], 0),
    ] {
        let count = Arc::new(Runs::default());
        let builder = house(&count).permissions(permissions(rules.clone())).without_asking_first();
        assert_eq!(asked(builder, "changes").await.0, expected, "{rules}");
        assert_eq!(count.0.load(Ordering::Relaxed), runs, "{rules}");
    }
}

#[tokio::test]
async fn what_is_configured_of_a_tool_goes_before_its_own_word() {
    let edits = permissions(json!({"edit": "allow"}));
    for (permissions, tool, expected) in [
        (Permissions::default().auto_execute("changes", true), "changes", &[][..]),
        (
            Permissions::default().auto_execute("changes", true),
            "changes_blocking",
            &["edit: call `changes_blocking`"],
        ),
        (Permissions::default().auto_execute("looks", false), "looks", &["looks: call `looks`"]),
        (Permissions::default().auto_execute("tidies", false), "tidies", &["tidies: call `tidies`"]),
        (edits.auto_execute("changes", false), "changes", &[]),
    ] {
        for trusting in [false, true] {
            let count = Arc::new(Runs::default());
            let builder = house(&count).permissions(permissions.clone());
            let builder = if trusting { builder.without_asking_first() } else { builder };
            let is_default = trusting && tool == "changes_blocking";
            let expected = if is_default { &[][..] } else { expected };
            assert_eq!(asked(builder, tool).await.0, expected, "{tool} {trusting}");
            assert_eq!(count.0.load(Ordering::Relaxed), 1);
        }
    }
}

#[tokio::test]
async fn a_rule_that_denies_is_named() {
    let count = Arc::new(Runs::default());
    let rules = json!({"edit": [{"match": "changes", "do": "deny"}]});
    let (_, result) = asked(house(&count).permissions(permissions(rules)), "changes").await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    for word in ["`changes` is denied by `changes`: deny", "/permission/edit/0"] {
        assert!(result.text().contains(word), "{word}: {}", result.text());
    }
}

#[tokio::test]
async fn where_nobody_is_there_the_setting_is_named() {
    let count = Arc::new(Runs::default());
    let toolbox = house(&count).build().unwrap().toolbox(&Caller::new()).await;
    let result = toolbox.call(ToolCall::new("1", "changes", "{}")).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    for word in [
        "call `changes`",
        "no approver is available",
        "`permission.edit`",
        "`read_only`",
        "`auto_execute`",
        "`toolkit::AllowAll`",
    ] {
        assert!(result.text().contains(word), "{word}: {}", result.text());
    }
    assert_eq!(count.0.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn an_approver_that_allows_all_passes_no_denial() {
    for (rules, runs) in [(json!({}), 1), (json!({"edit": "ask"}), 1), (json!({"edit": "deny"}), 0)] {
        let count = Arc::new(Runs::default());
        let toolkit =
            house(&count).permissions(permissions(rules.clone())).approver(AllowAll).build().unwrap();
        toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", "changes", "{}")).await;
        assert_eq!(count.0.load(Ordering::Relaxed), runs, "{rules}");
    }
}

#[tokio::test]
async fn the_question_shows_everything_but_secrets() {
    let approver = ScriptedApprover::new([Answer::allow(), Answer::allow()]);
    let count = Arc::new(Runs::default());
    let toolkit = house(&count).approver(approver.clone()).build().unwrap();
    let mut events = toolkit.events();
    let toolbox = toolkit.toolbox(&Caller::new().with_agent("ada")).await;
    let long = "x".repeat(5000);
    toolbox.call(ToolCall::new("1", "changes", json!({"text": long, "key": "hush-hush"}))).await;
    toolbox.call(ToolCall::new("2", "changes", "{}")).await;
    let asked = approver.asked();
    let [Question::Approve(full), Question::Approve(empty)] = [asked[0].question(), asked[1].question()]
    else {
        panic!("{asked:?}");
    };
    assert_eq!(
        (&*full.kind, &*full.title, &full.patterns),
        ("edit", "call `changes`", &vec!["changes".to_owned()])
    );
    let [AskDetail::Text { label, value }] = &full.details[..] else { panic!("{full:?}") };
    assert_eq!(label, "arguments");
    let shown: Value = serde_json::from_str(value).unwrap();
    assert_eq!(shown, json!({"text": long, "key": "[redacted]"}));
    assert!(empty.details.is_empty());
    assert_eq!(asked[0].origin().agent.as_deref(), Some("ada"));
    let kinds: Vec<&str> = std::iter::from_fn(|| events.try_next())
        .take(4)
        .map(|event| match event.event {
            Event::Started => "started",
            Event::Asked { .. } => "asked",
            Event::Answered { .. } => "answered",
            Event::Finished { .. } => "finished",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["started", "asked", "answered", "finished"]);
}

/// While a person thinks, others of the session go on and the clock stands.
#[tokio::test(start_paused = true)]
async fn it_waits_like_any_question() {
    for tool in ["changes", "changes_blocking"] {
        let count = Arc::new(Runs::default());
        let toolkit = house(&count)
            .approver(CallbackApprover::from_async(|_| async { None }))
            .timeout(Duration::from_secs(1))
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let mut waiting = pin!(toolbox.call(ToolCall::new("1", tool, "{}")));
        assert!(timeout(Duration::from_hours(1), &mut waiting).await.is_err());
        let other = toolbox.call(ToolCall::new("2", "tidies", "{}")).await;
        assert!(!other.is_error());
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        let asks = toolkit.asks().list(None);
        assert_eq!(asks.len(), 1);
        toolkit.asks().answer(asks[0].id(), Answer::allow()).unwrap();
        assert!(!waiting.await.is_error());
        assert_eq!(count.0.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_leaves_no_question() {
    for drops in [false, true] {
        let count = Arc::new(Runs::default());
        let toolkit =
            house(&count).approver(CallbackApprover::from_async(|_| async { None })).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let token = CancellationToken::new();
        let options = CallOptions::new().cancel(token.clone());
        {
            let mut call = pin!(toolbox.call_with(ToolCall::new("1", "changes", "{}"), options));
            assert!(timeout(Duration::from_secs(1), &mut call).await.is_err());
            assert_eq!(toolkit.asks().list(None).len(), 1);
            if !drops {
                token.cancel();
                assert_eq!(call.await.error().unwrap().kind(), ToolErrorKind::Aborted);
            }
        }
        assert!(toolkit.asks().list(None).is_empty());
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        assert!(!toolbox.call(ToolCall::new("2", "tidies", "{}")).await.is_error());
    }
}

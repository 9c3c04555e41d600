//! Test helpers for authors of tools: calls on a bench, and snapshots of definitions.

#![cfg(feature = "testing")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::testing::{Snapshot, SnapshotError, TestToolbox, Update};
use toolkit::{
    Ask, CallOptions, CancellationToken, Tool, ToolErrorKind,
    approval::{Answer, Question, ScriptedApprover},
    events::{Event, Progress},
    policy::{Policy, Refusal},
    tool_ref,
};

/// Appends a line to a file.
#[tool(alias = "add_line")]
async fn append(
    ctx: &ToolContext,
    /// The file.
    #[arg(alias = "file")]
    path: String,
    /// The line.
    line: String,
) -> Result<ToolOutput, ToolError> {
    let file = ctx.workspace_dir().join(&path);
    ctx.progress(Progress::new(1).with_total(2));
    ctx.partial("so far");
    let text = std::fs::read_to_string(&file).map_err(|_| ToolError::not_found(format!("no {path}")))?;
    let text = format!("{text}{line}\n");
    std::fs::write(&file, &text)?;
    Ok(ToolOutput::text("Appended.").with_details(json!({"lines": text.lines().count()})))
}

/// Counts its calls in the session, and calls another tool.
#[tool]
async fn twice(ctx: &ToolContext, word: State<String>) -> Result<String, ToolError> {
    let count = ctx.session_state::<Mutex<u32>>();
    let count = {
        let mut count = count.lock().unwrap();
        *count += 1;
        *count
    };
    for _ in 0..2 {
        ctx.call("append", json!({"path": "log", "line": word.as_str()})).await?;
    }
    Ok(format!("{count} by {}", ctx.caller().model.as_deref().unwrap_or("nobody")))
}

/// Never ends.
#[tool(read_only)]
async fn forever() {
    std::future::pending::<()>().await;
}

/// Returns much.
#[tool(read_only)]
async fn much() -> String {
    "line\n".repeat(5_000)
}

fn panic_of(action: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(action)).unwrap_err();
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| (*payload.downcast_ref::<&str>().unwrap()).to_owned())
}

#[tokio::test]
async fn a_call_is_unwrapped_like_a_result() {
    let bench = TestToolbox::new(tool_ref!(append)).file("a.txt", "one\n");
    let call = bench.call(json!({"path": "a.txt", "line": "two"})).await;
    assert_eq!(call.unwrap().to_text(), "Appended.");
    let failed = bench.call(json!({"path": "b.txt", "line": "two"})).await;
    assert!(panic_of(|| drop(failed.unwrap().clone())).contains("no b.txt"));
}

#[tokio::test]
async fn a_call_shows_all_that_there_is_to_see() {
    let bench = TestToolbox::new(tool_ref!(append)).file("notes/a.txt", "one\n").file("b.bin", [0xFF]);
    assert_eq!(bench.workspace().files(), ["b.bin", "notes/a.txt"]);
    let call = bench.call(json!({"path": "notes/a.txt", "line": "two"})).await;
    assert_eq!(call.text(), "Appended.");
    assert_eq!(*call.details(), json!({"lines": 2}));
    assert_eq!(call.file("notes/a.txt"), "one\ntwo\n");
    assert_eq!(call.workspace().read_bytes("b.bin"), [0xFF]);
    assert_eq!(call.progress().collect::<Vec<_>>(), [&Progress::new(1).with_total(2)]);
    assert_eq!(call.partial().filter_map(|part| part.as_text()).collect::<Vec<_>>(), ["so far"]);
    assert!(matches!(call.events.first().unwrap().event, Event::Started));
    assert!(
        matches!(&call.events.last().unwrap().event, Event::Finished { result, .. } if **result == call.result)
    );
    assert!(call.asks.is_empty());
    // As text, by another name of the tool and of a parameter.
    let call = bench.call_tool("add_line", r#"{"file": "notes/a.txt", "line": "three"}"#).await;
    assert_eq!(*call.details(), json!({"lines": 3}));
    assert_eq!(call.events.iter().filter(|event| matches!(event.event, Event::Finished { .. })).count(), 1);
}

#[tokio::test]
async fn services_sessions_and_tools_within_tools() {
    let bench = TestToolbox::new(tool_ref!(twice))
        .tool(tool_ref!(append))
        .service("word".to_owned())
        .caller(|caller| caller.with_model("m"))
        .file("log", "");
    assert_eq!(bench.call(json!({})).await.text(), "1 by m");
    let call = bench.call(json!({})).await;
    assert_eq!(call.text(), "2 by m", "the session is the same");
    assert_eq!(call.file("log"), "word\n".repeat(4));
    let of_append = call.events.iter().filter(|event| event.tool == "append").count();
    assert!(of_append >= 4, "{:?}", call.events);
    assert_eq!(call.progress().count(), 0, "that of another call");
    let other = TestToolbox::new(tool_ref!(append)).file("log", "");
    assert_eq!(other.workspace().read("log"), "");
    assert_ne!(other.workspace().path(), bench.workspace().path());
}

#[tokio::test]
async fn everything_is_gone_afterwards() {
    let bench = TestToolbox::new(tool_ref!(append)).file("a", "");
    let (workspace, data) = (bench.workspace().path().to_owned(), bench.workspace().data_dir().to_owned());
    assert!(workspace.is_dir() && data.is_dir() && !data.starts_with(&workspace));
    let call = bench.call(json!({"path": "a", "line": "x"})).await;
    drop(bench);
    assert_eq!(call.file("a"), "x\n", "a call keeps its workspace");
    drop(call);
    assert!(!workspace.exists() && !data.exists());
}

#[tokio::test]
async fn nothing_of_the_user_is_touched() {
    let bench = TestToolbox::new(tool_ref!(much));
    let call = bench.call(json!({})).await;
    let data = bench.workspace().data_dir().display().to_string();
    assert!(call.text().contains(&data), "the whole is kept under {data}: {}", call.text());
}

#[tokio::test]
async fn time_and_cancelling_are_the_hosts() {
    let bench = TestToolbox::new(tool_ref!(forever));
    let token = CancellationToken::new();
    token.cancel();
    bench.options(token).call(json!({})).await.expect_error(ToolErrorKind::Aborted);
    let bench =
        TestToolbox::new(tool_ref!(forever)).options(CallOptions::new().timeout(Duration::from_millis(1)));
    bench.call(json!({})).await.expect_error(ToolErrorKind::TimedOut);
}

/// A person.
#[toolkit::args]
struct Person {
    /// The name.
    name: String,
}

/// Asks before it does something, and for a name.
#[tool]
async fn careful(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.ask(Ask::new("greet", "greet somebody").with_text("how", "loudly")).await?;
    let person = ctx.elicit::<Person>("Whom?").await?;
    Ok(person.map_or_else(|| "nobody".to_owned(), |person| format!("HELLO {}", person.name)))
}

#[tokio::test]
async fn a_person_answers_by_the_script() {
    let bench = TestToolbox::new(tool_ref!(careful));
    let call = bench.call(json!({})).await;
    call.expect_error(ToolErrorKind::Denied);
    assert_eq!(call.asks.len(), 1);
    assert!(matches!(call.asks[0].question(), Question::Approve(_)), "{:?}", call.asks);
    let told = panic_of(|| _ = call.expect_ok());
    assert!(told.contains("\n\nit asked:\n") && told.contains("greet somebody"), "{told}");

    let answers = [Answer::allow(), Answer::value(json!({"name": "Ada"})), Answer::deny_saying("enough")];
    let bench = TestToolbox::new(tool_ref!(careful)).approve(ScriptedApprover::new(answers));
    let call = bench.call(json!({})).await;
    assert_eq!(call.text(), "HELLO Ada");
    assert!(matches!(call.asks[1].question(), Question::Elicit(_)), "{:?}", call.asks);
    assert!(call.events.iter().any(|event| matches!(event.event, Event::Asked { .. })));
    // A call has what was asked while it ran, not what was asked before.
    let call = bench.call(json!({})).await;
    assert!(call.expect_error(ToolErrorKind::Denied).message().contains("enough"), "{}", call.text());
    assert_eq!(call.asks.len(), 1);
}

#[tokio::test]
async fn what_comes_too_late_is_told() {
    let used = async || {
        let bench = TestToolbox::new(tool_ref!(append)).file("a", "");
        bench.call(json!({"path": "a", "line": "x"})).await.expect_ok();
        bench
    };
    let told = "`append` was already called: configure it before its first call, or make another `TestToolbox` for a test with other settings";
    let (one, other) = (used().await, used().await);
    assert_eq!(panic_of(|| _ = one.approve(ScriptedApprover::new([]))), told);
    assert_eq!(panic_of(|| _ = other.service(5_u8)), told);
    let bench = used().await.file("b", "").caller(|caller| caller.with_model("m"));
    bench.call(json!({"path": "b", "line": "x"})).await.expect_ok();
}

#[tokio::test]
async fn a_tool_that_is_not_in_the_toolbox_is_told_with_the_way_to_add_it() {
    let bench = TestToolbox::new(tool_ref!(twice)).service("word".to_owned());
    let called = bench.call(json!({})).await;
    let told = "there is no tool `append`; the tool at ";
    assert!(
        called.text().contains(told) && called.text().contains("`.tool(toolkit::tool_ref!(..))`"),
        "{}",
        called.text()
    );
    // A tool that is not there counts more than a neighbour of another name.
    let nearly = bench.call_tool("appendd", json!({})).await;
    assert!(nearly.text().starts_with("there is no tool `appendd`; `append` at "), "{}", nearly.text());
    let neighbour = bench.call_tool("twce", json!({})).await;
    let told = "there is no tool `twce`; did you mean `twice`? A `TestToolbox` has only the tools that the test adds: add one with `.tool(..)`";
    assert_eq!(neighbour.text(), told);
}

#[derive(Debug)]
struct Nothing;

impl Policy for Nothing {
    fn check(&self, _: &Caller, _: &Tool) -> Result<(), Refusal> {
        Err(Refusal::new("rule", "not today"))
    }
}

#[tokio::test]
async fn a_policy_counts() {
    let bench = TestToolbox::new(tool_ref!(append)).policy(Nothing);
    bench.call(json!({"path": "a", "line": "x"})).await.expect_error(ToolErrorKind::Denied);
}

#[tokio::test]
async fn what_was_not_expected_is_told() {
    let bench = TestToolbox::new(tool_ref!(append)).file("a", "");
    let failed = bench.call(json!({"path": "b", "line": "x"})).await;
    let answered = bench.call(json!({"path": "a", "line": "x"})).await;
    failed.expect_error(ToolErrorKind::NotFound);
    for (told, expected) in [
        (panic_of(|| _ = failed.expect_ok()), "the call of `append` failed (not_found): no b"),
        (panic_of(|| _ = failed.details()), "the call of `append` failed (not_found): no b"),
        (
            panic_of(|| _ = failed.expect_error(ToolErrorKind::Denied)),
            "the call of `append` failed as not_found, not as denied: no b",
        ),
        (
            panic_of(|| _ = answered.expect_error(ToolErrorKind::Denied)),
            "the call of `append` should have failed as denied; it answered: Appended.",
        ),
        (
            panic_of(|| _ = answered.file("sub/c")),
            "`sub/c` of the test's workspace: No such file or directory (os error 2); it holds [\"a\"]",
        ),
        (panic_of(|| _ = answered.file("../a")), "`../a` is not a path within the test's workspace"),
        (panic_of(|| _ = answered.file("")), "`` is not a path within the test's workspace"),
        (
            panic_of(|| _ = TestToolbox::new(tool_ref!(append)).file("/etc/x", "")),
            "`/etc/x` is not a path within the test's workspace",
        ),
    ] {
        assert_eq!(told, expected);
    }
    let text_only = TestToolbox::new(tool_ref!(much)).call(json!({})).await;
    assert!(
        panic_of(|| _ = text_only.details())
            .starts_with("the call of `much` has no structured data; its text: line")
    );
}

#[tokio::test]
async fn a_missing_service_is_told() {
    let told = tokio::spawn(async {
        TestToolbox::new(tool_ref!(twice)).call(json!({})).await;
    });
    let payload = told.await.unwrap_err().into_panic();
    let told = payload.downcast_ref::<String>().unwrap();
    let way = "`State<String>`, which is not provided: call `.service(value)` on the `TestToolbox`";
    assert!(told.contains(way), "{told}");
}

const APPEND: &str = r#"{
  "name": "append",
  "aliases": [
    "add_line"
  ],
  "description": "Appends a line to a file.",
  "annotations": {
    "readOnlyHint": false,
    "idempotentHint": false
  },
  "parameterAliases": {
    "/properties/path": [
      "file"
    ]
  },
  "inputSchema": {
    "type": "object",
    "properties": {
      "path": {
        "description": "The file.",
        "type": "string"
      },
      "line": {
        "description": "The line.",
        "type": "string"
      }
    },
    "required": [
      "path",
      "line"
    ],
    "additionalProperties": false
  }
}
"#;

#[test]
fn a_snapshot_is_stable_text() {
    let snapshot = Snapshot::of(&tool_ref!(append)).unwrap();
    assert_eq!(snapshot.to_json(), APPEND);
    assert_eq!(Snapshot::from_json(APPEND).unwrap(), snapshot);
    let of_definition = Snapshot::from(tool_ref!(append).definition().unwrap());
    assert_eq!((of_definition.aliases.len(), of_definition.parameter_aliases.len()), (0, 0));
    assert_eq!(of_definition.input_schema, snapshot.input_schema);
}

#[test]
fn a_snapshot_is_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/append.json");
    let snapshot = Snapshot::of(&tool_ref!(append)).unwrap();
    let absent = snapshot.compare(&path, Update::Never).unwrap_err();
    assert!(matches!(absent, SnapshotError::Absent { .. }));
    assert!(absent.to_string().ends_with("write it with UPDATE_SNAPSHOTS=1 and keep it with the code"));
    assert!(!path.exists());
    snapshot.compare(&path, Update::Write).unwrap();
    snapshot.compare(&path, Update::Never).unwrap();
    assert_eq!(Snapshot::read(&path).unwrap(), snapshot);
    // As git may check it out elsewhere.
    std::fs::write(&path, APPEND.replace('\n', "\r\n")).unwrap();
    snapshot.assert_matches(&path);

    let mut changed = snapshot.clone();
    changed.input_schema["properties"]["line"]["maxLength"] = 80.into();
    let report = changed.compare(&path, Update::Never).unwrap_err().to_string();
    assert_eq!(
        report,
        format!(
            r#"the definition of `append` is not the one in {}

  …
        }},
        "line": {{
          "description": "The line.",
-         "type": "string"
+         "type": "string",
+         "maxLength": 80
        }}
      }},
      "required": [
  …

for a model that knows the old one:
- breaking: `line` no longer takes strings of more than 80 characters (/inputSchema/properties/line/maxLength)

if the change is intended, rewrite the file with UPDATE_SNAPSHOTS=1"#,
            path.display()
        )
    );
    changed.compare(&path, Update::Write).unwrap();
    changed.compare(&path, Update::Never).unwrap();

    std::fs::write(&path, "{").unwrap();
    let told = snapshot.compare(&path, Update::Never).unwrap_err().to_string();
    assert!(told.contains("\nthe file is not a snapshot of a tool: EOF while parsing"), "{told}");
    let told = Snapshot::read(&path).unwrap_err().to_string();
    assert!(told.starts_with(&format!("{}: not a snapshot of a tool: ", path.display())), "{told}");
    let told = Snapshot::read(directory.path().join("none")).unwrap_err().to_string();
    assert!(told.ends_with("none: No such file or directory (os error 2)"), "{told}");
}

/// Run by [`the_environment_decides`] in a process of its own.
#[test]
fn matches_the_file_of_the_environment() {
    if let Some(path) = std::env::var_os("TOOLKIT_TEST_SNAPSHOT") {
        Snapshot::of(&tool_ref!(append)).unwrap().assert_matches(path);
    }
}

#[test]
fn the_environment_decides() {
    for (update, ci, file, passes, is_written) in [
        (None, None, None, false, false),
        (Some("1"), None, None, true, true),
        (Some("1"), None, Some("old"), true, true),
        (Some("0"), None, Some("old"), false, false),
        (None, None, Some("old"), false, false),
        (Some("1"), Some("true"), None, false, false),
        (Some("1"), Some("true"), Some("old"), false, false),
        (Some("1"), Some("false"), Some("old"), true, true),
        (None, Some("1"), Some(APPEND), true, true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("append.json");
        if let Some(text) = file {
            std::fs::write(&path, text).unwrap();
        }
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "testing::matches_the_file_of_the_environment"])
            .env("TOOLKIT_TEST_SNAPSHOT", &path);
        for (name, value) in [("UPDATE_SNAPSHOTS", update), ("CI", ci)] {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let case = (update, ci, file);
        assert_eq!(command.output().unwrap().status.success(), passes, "{case:?}");
        assert_eq!(std::fs::read_to_string(&path).is_ok_and(|text| text == APPEND), is_written, "{case:?}");
    }
}

/// Aliases within a struct are found where they are.
#[toolkit::args]
struct Inner {
    /// How many.
    #[arg(alias = "number")]
    count: u8,
}

/// Nested.
#[tool]
async fn nested(items: Vec<Inner>) {
    _ = items.iter().map(|item| item.count).max();
}

#[test]
fn aliases_within_are_kept() {
    let snapshot = Snapshot::of(&tool_ref!(nested)).unwrap();
    let at = "/properties/items/items/properties/count";
    assert_eq!(snapshot.parameter_aliases[at], ["number"]);
    assert_eq!(snapshot.input_schema.pointer(at).map(Value::is_object), Some(true));
    let mut new = snapshot.clone();
    new.parameter_aliases.clear();
    let said: Vec<String> =
        toolkit::testing::compatibility(&snapshot, &new).iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "breaking: `items[].count` is no longer taken as `number` (/inputSchema/properties/items/items/properties/count)"
        ]
    );
}

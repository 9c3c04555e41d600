//! Outputs that are too long for a model.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use tempfile::TempDir;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind, Toolbox,
    output::{Keep, OutputLimits},
    tool_ref,
};

/// Returns lines.
#[tool(read_only)]
async fn lines(count: u64) -> String {
    text(count)
}

/// Returns all its lines, whatever they are.
#[tool(read_only, truncate = "off")]
async fn uncut(count: u64) -> String {
    text(count)
}

/// Returns its last lines.
#[tool(read_only, truncate(max_lines = 2, keep = "tail"))]
async fn last(count: u64) -> String {
    text(count)
}

/// Says that it cut its output itself.
#[tool(read_only)]
async fn cut_itself(count: u64) -> ToolOutput {
    ToolOutput::text(text(count)).with_metadata("truncated", true)
}

/// Writes lines, and then fails, waits or returns.
#[tool(read_only, timeout = "1s")]
async fn streams(ctx: &ToolContext, count: u64, then: String) -> Result<ToolOutput, ToolError> {
    let mut output = ctx.output();
    output.write_all(text(count).as_bytes()).await?;
    match then.as_str() {
        "fail" => Err(ToolError::not_found("nothing there")),
        "wait" => std::future::pending().await,
        "panic" => panic!("on purpose"),
        "" => Ok(ToolOutput::default()),
        text => Ok(ToolOutput::text(text)),
    }
}

/// Fails at length.
#[tool(read_only)]
async fn complains(count: u64) -> Result<(), ToolError> {
    Err(ToolError::failed(text(count)))
}

/// Returns structured data.
#[tool(read_only)]
async fn structured(count: u64) -> Json<Vec<u64>> {
    Json((0..count).collect())
}

/// Reads a file.
#[tool(read_only)]
async fn opens(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    Ok(fs::read_to_string(ctx.resolve(path)?)?.len().to_string())
}

fn text(count: u64) -> String {
    use std::fmt::Write as _;
    (1..=count).fold(String::new(), |mut text, line| {
        writeln!(text, "line {line}").unwrap();
        text
    })
}

struct Fixture {
    toolkit: Toolkit,
    data: TempDir,
    workspace: TempDir,
}

fn fixture() -> Fixture {
    let (data, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(lines))
        .tool(tool_ref!(uncut))
        .tool(tool_ref!(last))
        .tool(tool_ref!(cut_itself))
        .tool(tool_ref!(streams))
        .tool(tool_ref!(complains))
        .tool(tool_ref!(structured))
        .tool(tool_ref!(opens))
        .data_dir(data.path())
        .build()
        .unwrap();
    Fixture { toolkit, data, workspace }
}

impl Fixture {
    async fn session(&self, id: &str) -> Toolbox {
        let caller = Caller::new().with_workspace(self.workspace.path()).with_session(id);
        self.toolkit.toolbox(&caller).await
    }

    fn kept(&self) -> Vec<PathBuf> {
        let Ok(sessions) = fs::read_dir(self.data.path().join("tool-output")) else { return Vec::new() };
        sessions
            .flat_map(|session| fs::read_dir(session.unwrap().path()).unwrap())
            .map(|file| file.unwrap().path())
            .collect()
    }
}

async fn run(toolbox: &Toolbox, name: &str, arguments: Value) -> toolkit::ToolResult {
    toolbox.call(ToolCall::new("1", name, arguments)).await
}

fn path_of(output: &ToolOutput) -> PathBuf {
    assert_eq!(output.metadata["truncated"], true);
    let kept = &output.metadata["truncation"]["kept"];
    PathBuf::from(kept["path"].as_str().unwrap_or_else(|| panic!("{kept}")))
}

#[tokio::test]
async fn a_long_output_is_cut_and_kept_whole() {
    let fixture = fixture();
    let toolbox = fixture.session("s").await;
    let result = run(&toolbox, "lines", json!({"count": 2000})).await;
    assert_eq!(result.text(), text(2000));
    assert!(result.output().unwrap().metadata.is_empty());
    assert!(fixture.kept().is_empty());

    let result = run(&toolbox, "lines", json!({"count": 2001})).await;
    let path = path_of(result.output().unwrap());
    assert!(result.text().starts_with(&text(2000)));
    assert!(result.text().contains(path.to_str().unwrap()), "{}", result.text());
    assert!(result.text()[text(2000).len()..].contains("line 2001"), "says how to read on");
    assert_eq!(fs::read_to_string(&path).unwrap(), text(2001));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    let last = run(&toolbox, "last", json!({"count": 5})).await;
    assert!(last.text().contains("line 4\nline 5\n") && !last.text().contains("line 3\n"), "{}", last.text());
    assert_eq!(run(&toolbox, "uncut", json!({"count": 9999})).await.text(), text(9999));
    let own = run(&toolbox, "cut_itself", json!({"count": 9999})).await;
    assert_eq!(own.text(), text(9999));
    let whole = run(&toolbox, "structured", json!({"count": 5000})).await;
    assert_eq!(whole.details().unwrap().as_array().unwrap().len(), 5000);
    path_of(whole.output().unwrap());
}

#[tokio::test(start_paused = true)]
async fn what_was_written_is_there_however_the_call_ends() {
    let fixture = fixture();
    let toolbox = fixture.session("s").await;
    let done = run(&toolbox, "streams", json!({"count": 3, "then": ""})).await;
    assert_eq!(done.text(), text(3));
    let both = run(&toolbox, "streams", json!({"count": 3, "then": "and more"})).await;
    assert_eq!(both.text(), format!("{}and more", text(3)));
    for (then, kind) in [
        ("fail", ToolErrorKind::NotFound),
        ("wait", ToolErrorKind::TimedOut),
        ("panic", ToolErrorKind::Panicked),
    ] {
        let failed = run(&toolbox, "streams", json!({"count": 3, "then": then})).await;
        assert_eq!(failed.error().unwrap().kind(), kind);
        assert!(
            failed.text().ends_with("\n\nIts output until then:\nline 1\nline 2\nline 3\n"),
            "{failed:?}"
        );
    }
    assert!(fixture.kept().is_empty());
    let long = run(&toolbox, "streams", json!({"count": 100_000, "then": "end"})).await;
    let path = path_of(long.output().unwrap());
    assert_eq!(fs::read_to_string(path).unwrap(), format!("{}end", text(100_000)));
    let failed = run(&toolbox, "streams", json!({"count": 100_000, "then": "fail"})).await;
    assert!(failed.text().len() < 60_000, "{}", failed.text().len());
    assert_eq!(fixture.kept().len(), 2);
}

#[tokio::test]
async fn a_dropped_call_keeps_no_file() {
    let fixture = fixture();
    let toolbox = fixture.session("s").await;
    let waiting = run(&toolbox, "streams", json!({"count": 1_000_000, "then": "wait"}));
    let _ = tokio::time::timeout(Duration::from_millis(300), waiting).await;
    for _ in 0..500 {
        if fixture.kept().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", fixture.kept());
}

#[tokio::test]
async fn a_long_error_is_cut_too() {
    let fixture = fixture();
    let toolbox = fixture.session("s").await;
    let result = run(&toolbox, "complains", json!({"count": 100_000})).await;
    assert!(result.text().starts_with("line 1\n") && result.text().len() < 60_000);
    assert_eq!(fs::read_to_string(&fixture.kept()[0]).unwrap(), text(100_000));
}

#[tokio::test]
async fn only_the_own_sessions_outputs_can_be_read() {
    let fixture = fixture();
    let (ours, other) = (fixture.session("ours").await, fixture.session("other").await);
    let result = run(&ours, "lines", json!({"count": 3000})).await;
    let path = path_of(result.output().unwrap());
    let length = text(3000).len().to_string();
    assert_eq!(run(&ours, "opens", json!({"path": path})).await.text(), length);
    let again = fixture.session("ours").await;
    assert_eq!(run(&again, "opens", json!({"path": path})).await.text(), length);
    let denied = run(&other, "opens", json!({"path": path})).await;
    assert_eq!(denied.error().unwrap().kind(), ToolErrorKind::Denied);
    let aside = path.parent().unwrap().join("../../../secret");
    assert_eq!(
        run(&ours, "opens", json!({"path": aside})).await.error().unwrap().kind(),
        ToolErrorKind::Denied
    );
}

#[tokio::test]
async fn a_host_sets_limits_and_words_hints() {
    let data = tempfile::tempdir().unwrap();
    let toolkit = Toolkit::empty()
        .without_asking_first()
        .tool(tool_ref!(lines))
        .data_dir(data.path())
        .output_limits(OutputLimits { max_lines: 4, keep: Keep::Ends, ..OutputLimits::default() })
        .cut_hint(|cut, caller| {
            assert!(caller.agent.as_deref() != Some("clumsy"), "on purpose");
            format!("[{} of {} lines for {:?}]", cut.missing.lines(), cut.total_lines, caller.agent)
        })
        .build()
        .unwrap();
    let ask = |agent: &str| {
        let caller = Caller::new().with_agent(agent);
        let toolkit = toolkit.clone();
        async move { run(&toolkit.toolbox(&caller).await, "lines", json!({"count": 9})).await }
    };
    let text = ask("ada").await.text();
    assert!(text.ends_with("[5 of 9 lines for Some(\"ada\")]"), "{text}");
    assert!(text.contains("line 2\n") && text.contains("line 8\n") && !text.contains("line 5\n"), "{text}");
    let text = ask("clumsy").await.text();
    assert!(text.ends_with("read it on from line 3.]"), "words that fail must not cost the output: {text}");
}

#[tokio::test]
async fn an_output_is_for_its_agent_and_sender_alone() {
    let fixture = fixture();
    let caller = || Caller::new().with_workspace(fixture.workspace.path()).with_session("s");
    let named = |name: &str| caller().with_agent(name);
    let mail = |sender: &str| caller().with_channel("mail").with_sender(sender);
    let callers = [
        caller(),
        named("ada"),
        named("bob"),
        mail("eve"),
        mail("Eve"),
        mail("eve").with_account("second"),
        caller().with_channel("chat").with_sender("eve"),
        mail("eve").with_agent("ada"),
        // Neither takes the place of another by its id.
        named("\"eve\""),
        mail(""),
        caller().with_session("s\0Some(\"ada\")\0None"),
        caller().with_session("\"s\"\0Some(\"ada\")\0None"),
    ];
    let mut toolboxes = Vec::new();
    for caller in &callers {
        toolboxes.push(fixture.toolkit.toolbox(caller).await);
    }
    for (owner, toolbox) in toolboxes.iter().enumerate() {
        for arguments in [("lines", json!({"count": 3000})), ("streams", json!({"count": 3000, "then": ""}))]
        {
            let result = run(toolbox, arguments.0, arguments.1).await;
            let path = path_of(result.output().unwrap());
            for (reader, toolbox) in toolboxes.iter().enumerate() {
                let read = run(toolbox, "opens", json!({ "path": path })).await;
                assert_eq!(read.outcome.is_err(), owner != reader, "{reader} of {owner}: {}", read.text());
            }
        }
    }
    // The id of an agent is compared as its rules are.
    let result = run(&toolboxes[1], "lines", json!({"count": 3000})).await;
    let same = fixture.toolkit.toolbox(&named(" Ada")).await;
    let path = path_of(result.output().unwrap());
    assert!(run(&same, "opens", json!({ "path": path })).await.outcome.is_ok());
}

#[tokio::test]
async fn old_outputs_are_swept() {
    let fixture = fixture();
    let toolbox = fixture.session("s").await;
    let result = run(&toolbox, "lines", json!({"count": 3000})).await;
    let path = path_of(result.output().unwrap());
    let old = std::time::SystemTime::now() - Duration::from_hours(8 * 24);
    fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    let foreign = fixture.data.path().join("tool-output/notes.txt");
    fs::write(&foreign, "").unwrap();
    let cleanup = fixture.toolkit.spawn_cleanup();
    for _ in 0..500 {
        if !path.exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!path.exists() && foreign.exists());
    drop(cleanup);
    assert_eq!(fixture.toolkit.sweep_outputs().files, 0);
}

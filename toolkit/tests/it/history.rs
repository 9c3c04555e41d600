//! Recorded calls, and how they are found again; no secret is among them.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use toolkit::prelude::*;
use toolkit::{
    Content, Tool,
    arguments::CallArguments,
    history::{
        CallStatus, History, HistoryEntry, HistoryItem, HistoryQuery, HistoryReader, JsonlHistory,
        JsonlOptions, MemoryHistory, Record, RecordedCall, RecordedContent,
    },
    output::Resource,
    text::Redactor,
    tool_ref,
};

const REDACTED: &str = "[redacted]";

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

#[toolkit::args]
struct Login {
    user: String,
    #[arg(secret, alias = "pass")]
    word: String,
}

/// Logs in.
#[tool(read_only)]
fn login(
    #[arg(secret, alias = "credential")] api_code: Option<String>,
    #[arg(secret)] pin: Option<u64>,
    #[arg(secret)] codes: Option<Vec<String>>,
    host: Option<String>,
    logins: Option<Vec<Login>>,
) -> String {
    let _ =
        (api_code, pin, codes, logins.map(|logins| logins.into_iter().map(|login| (login.user, login.word))));
    host.unwrap_or_default()
}

fn caller(session: &str) -> Arc<Caller> {
    Arc::new(Caller::new().with_session(session))
}

fn call_of(tool: Tool, session: &str, arguments: &CallArguments) -> RecordedCall {
    let name = tool.name().to_owned();
    RecordedCall::new(caller(session), "call", &name, Some(tool), arguments)
}

fn sum(session: &str, number: usize) -> RecordedCall {
    call_of(tool_ref!(add), session, &json!({"a": number, "b": 1}).into())
}

#[expect(clippy::unnecessary_wraps, reason = "it is one of two outcomes")]
fn ok(text: &str) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(text))
}

fn open(path: &Path) -> JsonlHistory {
    JsonlHistory::open(path, JsonlOptions::default()).unwrap()
}

fn items(path: &Path) -> Vec<HistoryItem> {
    HistoryReader::open(path).unwrap().map(Result::unwrap).collect()
}

fn calls(path: &Path) -> Vec<HistoryEntry> {
    let calls = items(path).into_iter().map(|item| match item {
        HistoryItem::Call(call) => *call,
        other => panic!("{other:?}"),
    });
    calls.collect()
}

const LONG: Duration = Duration::from_mins(1);

#[test]
fn memory_keeps_the_last_calls() {
    let history = MemoryHistory::new(Redactor::new()).max_calls(3);
    let start = SystemTime::now();
    for number in 0..5 {
        history.record(sum(if number % 2 == 0 { "even" } else { "odd" }, number).finished(&ok("x")));
    }
    let numbers = |query: HistoryQuery| -> Vec<u64> {
        history.calls(&query).iter().map(|call| call.arguments["a"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(HistoryQuery::new()), [2, 3, 4]);
    assert_eq!(numbers(HistoryQuery::new().session("even")), [2, 4]);
    assert_eq!(numbers(HistoryQuery::new().limit(1)), [4]);
    assert_eq!(numbers(HistoryQuery::new().tool("add").since(start)), [2, 3, 4]);
    assert_eq!(numbers(HistoryQuery::new().tool("other")), [0; 0]);
    assert_eq!(numbers(HistoryQuery::new().since(SystemTime::now() + LONG)), [0; 0]);

    let history = MemoryHistory::new(Redactor::new()).max_bytes(100_000);
    for number in 0..100 {
        history.record(sum("s", number).finished(&ok(&"x".repeat(10_000))));
    }
    assert!((5..=10).contains(&history.len()), "{}", history.len());
}

#[test]
fn memory_shows_what_is_under_way() {
    let history = MemoryHistory::new(Redactor::new()).max_calls(2);
    let mut first = sum("s", 1);
    history.record(first.started());
    let statuses = || -> Vec<CallStatus> {
        history.calls(&HistoryQuery::new()).iter().map(|call| call.status).collect()
    };
    assert_eq!(statuses(), [CallStatus::Running]);
    history.record(sum("s", 2).finished(&Err(ToolError::denied("no"))));
    assert_eq!(statuses(), [CallStatus::Error, CallStatus::Running]);
    history.record(first.interrupted());
    assert_eq!(statuses(), [CallStatus::Error, CallStatus::Interrupted]);
    // More than may be kept are under way.
    let mut waiting: Vec<RecordedCall> = (0..4).map(|number| sum("s", number)).collect();
    for call in &mut waiting {
        history.record(call.started());
    }
    assert_eq!(statuses(), [CallStatus::Running; 2]);
    for call in waiting {
        history.record(call.finished(&ok("x")));
    }
    assert_eq!(statuses(), [CallStatus::Ok; 2]);
}

#[test]
fn a_file_gives_back_what_was_recorded() {
    use CallStatus::{Error, Interrupted, Ok as Done, Running};

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("new/deep/history.jsonl");
    let history = open(&path);
    let output = ToolOutput::text("hi")
        .with_content(Content::image(vec![0; 1000], "image/png"))
        .with_details(json!({"sum": 3}))
        .with_title("A sum")
        .with_metadata("repaired", json!(["/a"]))
        .with_file_modified("/a");
    let mut waited = sum("s", 1);
    let mut never_ends = sum("s", 9);
    history.record(waited.started());
    history.record(never_ends.started());
    history.record(waited.finished(&Ok(output)));
    let unknown = RecordedCall::new(caller("s"), "2", "ad", None, &"no json".into());
    history.record(unknown.finished(&Err(ToolError::not_found("nothing"))));
    history.record(sum("s", 3).interrupted());
    assert!(history.flush(LONG));
    let own = history.calls(&HistoryQuery::new()).unwrap();
    let statuses: Vec<CallStatus> = own.iter().map(|call| call.status).collect();
    assert_eq!(statuses, [Done, Error, Interrupted, Running]);
    assert_eq!(history.calls(&HistoryQuery::new().limit(1)).unwrap(), own[3..]);
    assert_eq!(history.calls(&HistoryQuery::new().session("t")).unwrap(), []);
    assert_eq!(history.status().written, 5);
    assert_eq!((history.status().queued, history.status().lost), (0, 0));
    drop(history);

    let found = calls(&path);
    assert_eq!(
        found.iter().map(|call| call.status).collect::<Vec<_>>(),
        [Done, Error, Interrupted, Interrupted]
    );
    assert_eq!(found[..3], own[..3]);
    let first = serde_json::to_value(&found[0]).unwrap();
    assert_eq!(
        first["output"],
        json!({
            "content": [{"type": "text", "text": "hi"}, {"type": "image", "mimeType": "image/png", "bytes": 1000}],
            "details": {"sum": 3},
            "title": "A sum",
            "metadata": {"repaired": ["/a"]},
            "filesModified": ["/a"],
        })
    );
    assert_eq!(first["arguments"], json!({"a": 1, "b": 1}));
    assert_eq!(first["caller"], json!({"session": "s"}));
    assert_eq!((found[1].tool.as_str(), &found[1].arguments), ("ad", &json!("no json")));
    assert_eq!(found[1].text(), "nothing");
    assert!(found[1].to_string().starts_with("ad \"no json\" failed: nothing ("));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(mode(path.parent().unwrap().parent().unwrap()), 0o700);
    }
}

#[test]
fn long_things_are_bounded() {
    let long = "é".repeat(100 << 10);
    let many: Vec<usize> = (0..100_000).collect();
    let call = call_of(tool_ref!(add), "s", &json!({"a": long, "b": many}).into());
    let output = ToolOutput::text(long.as_str())
        .with_content("more")
        .with_details(json!(many))
        .with_metadata("m", many);
    let record = call.finished(&Ok(output));
    assert!(record.bytes() < 300_000);
    let entry = record.entry(&Redactor::new());
    assert!(entry.cut);
    let line = serde_json::to_string(&entry).unwrap();
    assert!(line.len() < 150_000, "{}", line.len());
    let Some(output) = entry.output else { panic!() };
    let RecordedContent::Text { text, omitted_bytes } = &output.content[0] else { panic!() };
    assert_eq!((text.len(), text.len() + omitted_bytes), (64 << 10, long.len()));
    assert_eq!(output.content[1], RecordedContent::Text { text: String::new(), omitted_bytes: 4 });
    assert_eq!((output.details, output.metadata.len()), (None, 0), "whole or absent");

    // A secret that stands where a text is cut.
    for before in [(64 << 10) - 10, (64 << 10) + 4090] {
        let text = format!("{}planted-secret{}", " ".repeat(before), " ".repeat(9000));
        let entry = sum("s", 1).finished(&ok(&text)).entry(&Redactor::new().value("planted-secret"));
        assert!(!entry.text().contains("plan"), "{before}");
    }
    let text = CallArguments::Text(format!("[{}", "1,".repeat(1 << 20)));
    let entry = call_of(tool_ref!(add), "s", &text).finished(&ok("x")).entry(&Redactor::new());
    assert!(entry.cut && entry.arguments.as_str().unwrap().len() <= 4 << 10);
}

/// Whatever way a secret takes, it does not get into a record.
#[test]
fn planted_secrets_are_not_found() {
    let planted = "pl4nted-Secret\"x";
    let variable = "v4riable-secret";
    let redactor = Redactor::new().value(variable);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let tool = || tool_ref!(login);
    let text = |text: &str| CallArguments::from(text);
    let shapes: Vec<CallArguments> = vec![
        json!({"api_code": planted, "host": format!("h {variable} {token}")}).into(),
        json!({"credential": planted}).into(),
        json!({"apiCode": planted}).into(),
        json!({"Credential": planted}).into(),
        json!({"api_kode": planted}).into(),
        json!({"api_code": [planted]}).into(),
        json!({"api_code": {"x": planted}}).into(),
        json!({"codes": [planted, "other-one"]}).into(),
        json!({"codes": planted}).into(),
        json!({"codes": json!([planted]).to_string()}).into(),
        json!({"logins": [{"user": "ada", "word": planted}]}).into(),
        json!({"logins": [{"user": "ada", "pass": planted}]}).into(),
        json!({"logins": {"user": "ada", "word": planted}}).into(),
        json!({"logins": json!([{"user": "ada", "word": planted}]).to_string()}).into(),
        json!([planted]).into(),
        json!(planted).into(),
        text(&json!({"api_code": planted}).to_string()),
        text(&format!("{{\"api_code\": {}", json!(planted))),
        text(planted),
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    let options = JsonlOptions::new().redactor(redactor.clone());
    let history = JsonlHistory::open(&path, options).unwrap();
    let memory = MemoryHistory::new(redactor);
    let mut records = 0;
    for arguments in &shapes {
        // Where the arguments make no sense the tool did not run: nobody can repeat them but in an error that is made
        // without them.
        let is_known = !matches!(arguments, CallArguments::Text(text) if !text.ends_with('}'));
        let said = if is_known { planted } else { "nothing" };
        let all = format!("{said} {variable} {token}");
        let outcomes = [
            Err(ToolError::failed(format!("cannot log in with {all}"))),
            Err(ToolError::failed(format!("the tool panicked: {said:?} {all}"))),
            Ok(ToolOutput::text(&all)
                .with_content(Content::Resource { resource: Resource::text(&all, &all).with_mime_type(&all) })
                .with_content(Content::ResourceLink {
                    uri: all.clone(),
                    name: all.clone(),
                    description: None,
                    mime_type: None,
                })
                .with_content(Content::image(*b"x", &all))
                .with_title(&all)
                .with_details(
                    json!({"echo": all, "deep": [{ all.clone(): all }], "json": json!(all).to_string()}),
                )
                .with_metadata("echo", all.clone())
                .with_metadata(all.clone(), 1)
                .with_file_modified(format!("/x/{all}"))
                .with_attachment(format!("/x/{all}"))),
        ];
        for outcome in outcomes {
            for history in [&history as &dyn History, &memory] {
                let tool = tool();
                let mut call = RecordedCall::new(
                    Arc::new(
                        Caller::new().with_session(variable).with_agent(&token).with_extra("k", planted),
                    ),
                    format!("call {variable}"),
                    &format!("login {token}"),
                    Some(tool),
                    arguments,
                );
                assert!(!format!("{call:?}").contains("nted"));
                history.record(call.started());
                let record = call.finished(&outcome);
                assert!(!format!("{record:?}").contains("nted"));
                history.record(record);
                records += 1;
            }
        }
    }
    let written = history.calls(&HistoryQuery::new()).unwrap();
    let kept = memory.calls(&HistoryQuery::new());
    assert_eq!(written.len() + kept.len(), records);
    drop(history);
    let mut seen = fs::read_to_string(&path).unwrap();
    for call in written.iter().chain(&kept) {
        seen.extend([format!(
            "{call:?}\n{call:#?}\n{call}\n{}\n",
            serde_json::to_string_pretty(call).unwrap()
        )]);
    }
    for secret in ["nted-Se", variable, &token, "other-one"] {
        let place = seen.find(secret);
        assert!(place.is_none(), "{secret}: …{}…", &seen[place.unwrap().saturating_sub(300)..][..330]);
    }
    assert!(seen.contains(REDACTED) && seen.contains("cannot log in with"));
    assert_eq!(kept[0].arguments, json!({"api_code": REDACTED, "host": format!("h {REDACTED} {REDACTED}")}));
}

#[test]
fn a_number_that_is_secret_is_not_repeated() {
    let call = call_of(tool_ref!(login), "s", &json!({"pin": 48_151_623, "host": "h"}).into());
    let output = ToolOutput::text("pin 48151623").with_details(json!({"pin": 48_151_623}));
    let entry = call.finished(&Ok(output)).entry(&Redactor::new());
    let text = serde_json::to_string(&entry).unwrap();
    assert!(!text.contains("48151623"), "{text}");
    assert_eq!(entry.arguments, json!({"pin": REDACTED, "host": "h"}));
}

#[test]
fn a_torn_last_line_is_passed_over_and_a_bad_one_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    let history = open(&path);
    history.record(sum("s", 1).finished(&ok("x")));
    drop(history);
    let whole = fs::read(&path).unwrap();
    let append =
        |bytes: &[u8]| fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(bytes).unwrap();
    // Wherever it is torn.
    for end in 1..whole.len() {
        append(&whole[..end]);
        let found = calls(&path);
        assert_eq!(found.len(), if end == whole.len() - 1 { 2 } else { 1 }, "{end}");
        fs::write(&path, &whole).unwrap();
    }
    append(&whole[..20]);
    let history = open(&path);
    history.record(sum("s", 2).finished(&ok("x")));
    assert!(history.flush(LONG));
    // Somebody else writes to it, and is torn.
    append(b"{\"time\":1");
    history.record(sum("s", 3).finished(&ok("x")));
    drop(history);
    append(b"\n\n{\"time\":1,\"lost\":7}\n{\"other\":1}\n");
    let items = items(&path);
    let told: Vec<String> = items
        .iter()
        .map(|item| match item {
            HistoryItem::Call(call) => call.arguments["a"].to_string(),
            HistoryItem::Lost { count, .. } => format!("lost {count}"),
            HistoryItem::Corrupt(line) => format!("{}: {}", line.line, line.why),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        told,
        [
            "1",
            "2: it is not whole at column 20",
            "2",
            "4: it is not whole at column 9",
            "3",
            "lost 7",
            "9: it is JSON but not a recorded call at column 11"
        ]
    );
}

/// The files of a history, but for the one that is written.
fn closed_files(directory: &Path) -> Vec<String> {
    let names =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != "history.jsonl").collect();
    names.sort();
    names
}

#[test]
fn old_calls_go_and_nothing_else_does() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    let foreign = [
        "history.1-1.jsonl.bak",
        "history.1.jsonl",
        "history.x-1.jsonl",
        "history.jsonl.1-1.jsonl",
        "other.1-1.jsonl",
        "zzz",
    ];
    for name in foreign {
        fs::write(directory.path().join(name), "x").unwrap();
    }
    fs::write(directory.path().join("history.1000-1.jsonl"), "old").unwrap();
    let far = directory.path().join("zzz");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&far, directory.path().join("history.1001-1.jsonl")).unwrap();
    let options = || JsonlOptions::new().max_bytes(40_000);
    let history = JsonlHistory::open(&path, options()).unwrap();
    assert!(!directory.path().join("history.1000-1.jsonl").exists(), "too old");
    for number in 0..1000 {
        history.record(sum("s", number).finished(&ok("x")));
        if number % 50 == 0 {
            assert!(history.flush(LONG));
        }
    }
    drop(history);
    let kept: Vec<u64> = calls(&path).iter().map(|call| call.arguments["a"].as_u64().unwrap()).collect();
    let first = kept[0];
    assert!(first > 500 && kept.iter().copied().eq(first..1000), "the last ones, in order: {kept:?}");
    let files = closed_files(directory.path());
    let own: u64 = files
        .iter()
        .filter(|name| name.len() > "history.1001-1.jsonl".len() + 5 && name.starts_with("history."))
        .map(|name| directory.path().join(name).metadata().unwrap().len())
        .sum();
    assert!((20_000..=40_000).contains(&own), "{own} {files:?}");
    for name in foreign.iter().copied().chain(cfg!(unix).then_some("history.1001-1.jsonl")) {
        assert!(files.iter().any(|file| file == name), "{name} {files:?}");
    }

    // A file that is older than a thirtieth of what may be kept is put aside.
    let before = closed_files(directory.path()).len();
    let options = options().max_age(Duration::from_hours(24));
    let line = fs::read_to_string(&path).unwrap();
    let old = SystemTime::now() - Duration::from_hours(1);
    let milliseconds = old.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let (_, rest) = line.split_once(',').unwrap();
    fs::write(&path, format!("{{\"time\":{milliseconds},{rest}")).unwrap();
    drop(JsonlHistory::open(&path, options).unwrap());
    assert_eq!(closed_files(directory.path()).len(), before + 1);
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join("target");
    let path = directory.path().join("history.jsonl");
    std::os::unix::fs::symlink(&target, &path).unwrap();
    for _ in 0..2 {
        let error = JsonlHistory::open(&path, JsonlOptions::default()).unwrap_err();
        assert!(error.to_string().ends_with("is never written to a symlink, device or directory"), "{error}");
        // The second time, the link leads somewhere.
        fs::write(&target, "").unwrap();
    }
    assert_eq!(fs::read(&target).unwrap(), b"");
}

#[test]
fn several_write_to_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    let histories: Vec<JsonlHistory> = (0..4).map(|_| open(&path)).collect();
    std::thread::scope(|scope| {
        for history in &histories {
            scope.spawn(|| {
                for number in 0..200 {
                    history.record(sum("s", number).finished(&ok(&"x".repeat(number * 20))));
                }
            });
        }
    });
    drop(histories);
    assert_eq!(calls(&path).len(), 800);
}

#[test]
fn what_does_not_fit_the_queue_is_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    let options = JsonlOptions::new().max_queued(10);
    let history = JsonlHistory::open(&path, options).unwrap();
    let records: Vec<Record> = (0..2000).map(|number| sum("s", number).finished(&ok("x"))).collect();
    for record in records {
        history.record(record);
    }
    assert!(history.flush(LONG));
    let status = history.status();
    assert!(status.lost > 0 && status.written + status.lost == 2000, "{status:?}");
    drop(history);
    let (mut found, mut lost) = (0, 0);
    for item in items(&path) {
        match item {
            HistoryItem::Call(_) => found += 1,
            HistoryItem::Lost { count, .. } => lost += count,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((found, lost), (status.written, status.lost));
}

#[test]
fn a_file_that_is_moved_away_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    let history = open(&path);
    history.record(sum("s", 0).finished(&ok("x")));
    assert!(history.flush(LONG));
    fs::rename(&path, directory.path().join("elsewhere")).unwrap();
    for number in 1.. {
        history.record(sum("s", number).finished(&ok("x")));
        assert!(history.flush(LONG));
        if path.exists() {
            break;
        }
        // It looks once a second.
        std::thread::sleep(Duration::from_millis(50));
        assert!(number < 1000);
    }
    drop(history);
    assert_eq!(calls(&path).len(), 1);
}

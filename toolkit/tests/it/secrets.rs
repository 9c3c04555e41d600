//! Secrets are planted everywhere a call can carry one, and searched for everywhere it is told of.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fmt::Debug;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    CallOptions, CancellationToken, Content, Toolbox,
    events::Progress,
    history::{HistoryQuery, JsonlHistory, JsonlOptions, MemoryHistory},
    text::Redactor,
    tool_ref,
};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

/// The model's value of a secret parameter.
const ARGUMENT: &str = "swordfish-4711";
/// The host's secret.
const NAMED: &str = "correct horse battery";
/// A text that looks like a key.
const KEY: &str = "sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4";

#[toolkit::args]
struct Login {
    /// Who.
    user: String,
    /// The password.
    #[arg(secret)]
    pin: String,
}

/// Repeats everything, everywhere.
#[tool(timeout = "50ms")]
async fn repeats(
    ctx: &ToolContext,
    #[arg(secret, alias = "pass")] password: String,
    login: Option<Login>,
    note: Option<String>,
    end: Option<String>,
) -> Result<ToolOutput, ToolError> {
    let pin = login.map(|login| login.pin).unwrap_or_default();
    let all = format!("{password} {pin} {} {NAMED} {KEY}", note.unwrap_or_default());
    ctx.progress(Progress::new(1).with_message(all.clone()));
    ctx.set_title(all.clone());
    ctx.set_metadata("all", all.clone());
    ctx.set_metadata(all.clone(), 1);
    ctx.partial(all.clone());
    match end.as_deref() {
        Some("error") => Err(ToolError::failed(all)),
        Some("source") => Err(std::io::Error::other(all).into()),
        Some("panic") => panic!("{all}"),
        Some("late") => std::future::pending().await,
        _ => Ok(ToolOutput::text(all.clone())
            .with_details(json!({"deep": [{"all": all}]}))
            .with_metadata("more", all)),
    }
}

/// Writes down everything that tracing sees.
#[derive(Clone, Default)]
struct Logs(Arc<Mutex<String>>);

struct Visit<'a>(&'a mut String);

impl tracing::field::Visit for Visit<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        use std::fmt::Write as _;
        writeln!(self.0, "{}={value:?}", field.name()).unwrap();
    }
}

impl<S: tracing::Subscriber> Layer<S> for Logs {
    fn on_new_span(&self, span: &tracing::span::Attributes<'_>, _: &tracing::Id, _: Context<'_, S>) {
        span.record(&mut Visit(&mut self.0.lock().unwrap()));
    }

    fn on_record(&self, _: &tracing::Id, record: &tracing::span::Record<'_>, _: Context<'_, S>) {
        record.record(&mut Visit(&mut self.0.lock().unwrap()));
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        event.record(&mut Visit(&mut self.0.lock().unwrap()));
    }
}

#[track_caller]
fn search(place: &str, text: &str) {
    for secret in [ARGUMENT, NAMED, KEY] {
        assert!(!text.contains(secret), "{secret} is in {place}: {text}");
    }
}

fn calls() -> Vec<Value> {
    let mut calls = vec![
        json!({"password": ARGUMENT}),
        json!({"pass": ARGUMENT}),
        json!({"Password": ARGUMENT}),
        json!({"password": ARGUMENT, "login": {"user": "ada", "pin": ARGUMENT}}),
        json!({"password": ARGUMENT, "login": format!("{{\"user\": \"ada\", \"pin\": \"{ARGUMENT}\"}}")}),
        json!({"password": ARGUMENT, "note": format!("{NAMED} {KEY}")}),
        // An invalid value is explained.
        json!({"password": [ARGUMENT]}),
        json!({"password": ARGUMENT, "pass": ARGUMENT}),
        json!({"passwrod": ARGUMENT}),
        json!({"password": ARGUMENT, "login": {"pin": {"nested": ARGUMENT}}}),
        json!({"password": ARGUMENT, "note": {"a": KEY}}),
        json!({"password": ARGUMENT, "unknown": NAMED}),
    ];
    for end in ["error", "source", "panic", "late"] {
        calls.push(json!({"password": ARGUMENT, "end": end, "login": {"user": "ada", "pin": ARGUMENT}}));
    }
    calls
}

#[tokio::test(start_paused = true)]
async fn planted_secrets_are_found_nowhere() {
    let directory = tempfile::tempdir().unwrap();
    let redactor = Redactor::new().value(NAMED);
    let memory = Arc::new(MemoryHistory::new(redactor.clone()));
    let path = directory.path().join("history.jsonl");
    let options = JsonlOptions::new().redactor(redactor.clone());
    let written = Arc::new(JsonlHistory::open(&path, options).unwrap());
    let toolkits = [
        Toolkit::empty().without_asking_first().history(Arc::clone(&memory)),
        Toolkit::empty().history(Arc::clone(&written)),
    ];
    let logs = Logs::default();
    let _logged = tracing::subscriber::set_default(tracing_subscriber::registry().with(logs.clone()));
    for toolkit in toolkits {
        let toolkit = toolkit
            .tool(tool_ref!(repeats))
            .redactor(redactor.clone())
            .data_dir(directory.path().join("data"))
            .build()
            .unwrap();
        let mut events = toolkit.events();
        let toolbox: Toolbox = toolkit.toolbox(&Caller::new().with_session("s")).await;
        for arguments in calls() {
            for call in [
                ToolCall::new("1", "repeats", arguments.clone()),
                ToolCall::new("2", "repeats", arguments.to_string()),
                ToolCall::new("3", "repeats", format!("{arguments} {ARGUMENT}")),
            ] {
                let options = CallOptions::from(CancellationToken::new());
                let result = toolbox.call_with(call, options).await;
                if let Some(error) = result.error() {
                    search(
                        "an error",
                        &format!("{error} {error:?} {}", serde_json::to_string(error).unwrap()),
                    );
                    search("the cause of an error", &format!("{:?}", error.source()));
                } else {
                    // The model gets what the tool said.
                    assert!(
                        result.content().iter().filter_map(Content::as_text).any(|text| text.contains(NAMED))
                    );
                }
            }
        }
        while let Some(event) = events.try_next() {
            search("an event", &format!("{event:?} {}", serde_json::to_string(&event).unwrap()));
        }
    }
    search("the logs", &logs.0.lock().unwrap());
    for entry in memory.calls(&HistoryQuery::new()) {
        search("a record", &format!("{entry} {entry:?} {}", serde_json::to_string(&entry).unwrap()));
    }
    search("the memory's own text", &format!("{memory:?}"));
    assert!(written.flush(Duration::from_secs(10)));
    let file = fs::read_to_string(&path).unwrap();
    assert!(file.lines().count() >= calls().len() * 3, "{file}");
    search("the file", &file);
}

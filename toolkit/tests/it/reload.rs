//! A configuration that changes while the toolkit runs.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    config::{Configuration, LoadOptions},
    history::{HistoryQuery, HistoryReader, MemoryHistory},
    permission::{Decision, PermissionRule, PermissionSettings, Permissions},
    policy::{PolicySettings, ToolPolicy},
    text::Redactor,
    tool_ref,
};

/// Says a word.
#[tool(auto_execute)]
async fn say(ctx: &ToolContext, word: Option<String>) -> Result<String, ToolError> {
    let settings: Settings = ctx.config()?;
    Ok(word.unwrap_or(settings.word))
}

#[toolkit::args]
struct Settings {
    /// The word.
    #[arg(default = "hello")]
    word: String,
}

toolkit::config_section!(toolkit::config::ConfigSection::of_tool::<Settings>("say"));

fn configuration(values: &[&str]) -> Configuration {
    let options = values.iter().fold(LoadOptions::new(), |options, value| options.set(*value));
    Configuration::load(options).unwrap()
}

async fn said(toolkit: &Toolkit) -> Result<String, ToolError> {
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", "say", "{}")).await.outcome.map(|output| output.to_text())
}

#[tokio::test]
async fn the_next_toolbox_has_the_new_rules_and_an_existing_one_keeps_its_own() {
    let toolkit = Toolkit::empty().tool(tool_ref!(say)).build().unwrap();
    let before = toolkit.toolbox(&Caller::new()).await;
    let reloaded =
        toolkit.reload(configuration(&["permission.say=deny", "tools.settings.say.word=ahoy"])).unwrap();
    assert_eq!(reloaded.changed, ["permission", "tools"]);
    assert!(reloaded.diagnostics.is_empty(), "{:?}", reloaded.diagnostics);
    assert_eq!(said(&toolkit).await.unwrap_err().kind(), ToolErrorKind::Denied);
    assert_eq!(before.call(ToolCall::new("1", "say", "{}")).await.text(), "hello");

    toolkit.reload(configuration(&["tools.settings.say.word=ahoy"])).unwrap();
    assert_eq!(said(&toolkit).await.unwrap(), "ahoy");
    assert_eq!(toolkit.configuration().document()["tools"]["settings"]["say"]["word"], "ahoy");

    toolkit.reload(configuration(&["tools.deny=[\"say\"]"])).unwrap();
    assert!(toolkit.toolbox(&Caller::new()).await.tool("say").is_none());
    assert_eq!(toolkit.reload(configuration(&[])).unwrap().changed, ["tools"]);
    assert_eq!(said(&toolkit).await.unwrap(), "hello");
    assert!(toolkit.reload(configuration(&[])).unwrap().changed.is_empty());
}

#[tokio::test]
async fn a_configuration_with_problems_changes_nothing() {
    let toolkit = Toolkit::empty().tool(tool_ref!(say)).build().unwrap();
    toolkit.reload(configuration(&["tools.settings.say.word=ahoy"])).unwrap();
    let wrong = configuration(&["permission.sya=deny", "loopGuard={tell: 9}", "permission.say=deny"]);
    let error = toolkit.reload(wrong).unwrap_err();
    assert_eq!(error.problems.len(), 2, "{error}");
    assert!(error.to_string().contains("`sya`"), "{error}");
    assert_eq!(said(&toolkit).await.unwrap(), "ahoy");
}

#[tokio::test]
async fn the_programs_own_settings_stay() {
    let mut settings = PermissionSettings::default();
    settings.everybody.insert("say".to_owned(), PermissionRule::Always(Decision::Deny));
    let toolkit = Toolkit::empty().tool(tool_ref!(say)).permissions(Permissions::new([settings]));
    let toolkit = toolkit.build().unwrap();
    toolkit.reload(configuration(&["permission.say=allow"])).unwrap();
    assert_eq!(said(&toolkit).await.unwrap_err().kind(), ToolErrorKind::Denied);

    let mut settings = PolicySettings::default();
    settings.enabled.insert("say".to_owned(), false);
    let toolkit = Toolkit::empty().tool(tool_ref!(say)).policy(ToolPolicy::new(settings)).build().unwrap();
    for _ in 0..3 {
        toolkit.reload(configuration(&["tools.allow=[\"say\"]"])).unwrap();
        assert!(toolkit.toolbox(&Caller::new()).await.tool("say").is_none());
    }
}

#[tokio::test]
async fn watches_are_notified_and_settings_of_the_start_are_named() {
    let toolkit = Toolkit::empty().tool(tool_ref!(say)).build().unwrap();
    let mut watch = toolkit.watch_tools();
    let reloaded = toolkit.reload(configuration(&["history.maxDays=7", "plugins.prefer=[\"a\"]"])).unwrap();
    assert!(timeout(Duration::from_secs(10), watch.changed()).await.unwrap());
    let told: Vec<String> =
        reloaded.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
    for key in ["`history` has changed", "`plugins.prefer` has changed"] {
        assert!(told.iter().any(|told| told.starts_with(key)), "{key}: {told:?}");
    }
}

fn secret_in(directory: &Path, secret: &str) -> Configuration {
    let file = directory.join("secrets.json5");
    fs::write(&file, format!("{{ mcp: {{ one: {{ url: \"https://example.com\", headers: {{ Authorization: \"{secret}\" }} }} }} }}"))
        .unwrap();
    Configuration::load(LoadOptions::new().file(file)).unwrap()
}

#[tokio::test]
async fn a_new_secret_is_redacted_in_a_history_that_is_open() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(say))
        .data_dir(&data)
        .keeps_history()
        .configuration(secret_in(directory.path(), "first-value-7351"))
        .build()
        .unwrap();
    toolkit.reload(secret_in(directory.path(), "second-value-9264")).unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    for word in ["first-value-7351", "second-value-9264"] {
        let call =
            ToolCall::new(word.split_once('-').unwrap().0, "say", format!("{{ \"word\": \"{word}\" }}"));
        toolbox.call(call).await;
    }
    drop((toolbox, toolkit));
    let calls: Vec<_> = HistoryReader::of_data_dir(&data).unwrap().map(Result::unwrap).collect();
    let text = format!("{calls:?}");
    assert_eq!(calls.len(), 2, "{text}");
    assert!(text.contains("[redacted]") && !text.contains("7351") && !text.contains("9264"), "{text}");
}

#[tokio::test]
async fn a_redactor_learns_for_its_copies_alone() {
    let redactor = Redactor::new().value("one-secret");
    let (copy, other) = (redactor.clone(), redactor.clone().value("another"));
    let history = Arc::new(MemoryHistory::new(redactor.clone()));
    redactor.learn(["two-secret", "one-secret", "abc"]);
    assert_eq!(copy.redact("one-secret, two-secret, abc"), "[redacted], [redacted], abc");
    assert_eq!(other.redact("two-secret"), "two-secret");
    let toolkit = Toolkit::empty().tool(tool_ref!(say)).history(Arc::clone(&history)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", "say", r#"{ "word": "two-secret" }"#)).await;
    let calls = format!("{:?}", history.calls(&HistoryQuery::new()));
    assert!(!calls.contains("two-secret"), "{calls}");
}

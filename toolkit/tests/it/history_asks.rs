//! Questions in the history: the text, who asked, the answer, how long it took; and no secret.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{
    Approver, Ask, CallOptions, CancellationToken,
    approval::{AllowScope, Answer, AskAnswer, AskLimits, CallbackApprover, RecordedAsk, ScriptedApprover},
    history::{
        CallStatus, HistoryEntry, HistoryItem, HistoryQuery, HistoryReader, JsonlHistory, JsonlOptions,
        MemoryHistory,
    },
    inspection::{Inspector, LoopGuard, Verdict},
    permission::{PermissionSettings, Permissions},
    text::Redactor,
    tool_ref,
};

/// Sends a letter, with leave.
#[tool(asks)]
async fn send(
    ctx: &ToolContext,
    to: String,
    #[arg(secret)] stamp: Option<String>,
) -> Result<&'static str, ToolError> {
    let stamp = stamp.unwrap_or_default();
    ctx.ask(Ask::new("message", format!("write to {to} {stamp}")).with_pattern(&to).with_pattern(stamp))
        .await?;
    Ok("sent")
}

/// Changes something, and says nothing of leave.
#[tool]
async fn change() -> &'static str {
    "changed"
}

#[toolkit::args]
struct Name {
    name: String,
}

/// Wants a name.
#[tool(asks)]
async fn name(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.elicit::<Name>("What is your name?").await?.map_or_else(|| "nobody".to_owned(), |name| name.name))
}

/// Asks often.
#[tool(asks)]
async fn often(ctx: &ToolContext) -> Result<(), ToolError> {
    for number in 0..30 {
        ctx.ask(Ask::new("message", "x".repeat(100_000)).with_pattern(number.to_string())).await?;
    }
    Ok(())
}

struct House {
    toolkit: Toolkit,
    history: Arc<MemoryHistory>,
    _data: tempfile::TempDir,
}

impl House {
    fn new(approver: impl Approver, rules: serde_json::Value) -> Self {
        Self::with(approver, rules, |builder| builder)
    }

    fn with(
        approver: impl Approver,
        rules: serde_json::Value,
        more: impl FnOnce(toolkit::Builder) -> toolkit::Builder,
    ) -> Self {
        let data = tempfile::tempdir().unwrap();
        let history = Arc::new(MemoryHistory::new(Redactor::new().value("hunter2hunter2")));
        let mut settings = PermissionSettings::default();
        settings.everybody = serde_json::from_value(rules).unwrap();
        let builder = Toolkit::empty()
            .tool(tool_ref!(send))
            .tool(tool_ref!(change))
            .tool(tool_ref!(name))
            .tool(tool_ref!(often))
            .data_dir(data.path())
            .permissions(Permissions::new([settings]))
            .approver(approver)
            .history(Arc::clone(&history));
        Self { toolkit: more(builder).build().unwrap(), history, _data: data }
    }

    async fn call(&self, tool: &str, arguments: serde_json::Value) -> HistoryEntry {
        let toolbox = self.toolkit.toolbox(&Caller::new().with_agent("ada").with_session("s")).await;
        toolbox.call(ToolCall::new("1", tool, arguments)).await;
        self.history.calls(&HistoryQuery::new()).pop().unwrap()
    }
}

fn only(entry: &HistoryEntry) -> &RecordedAsk {
    let [ask] = entry.asks.as_slice() else { panic!("{entry:?}") };
    ask
}

#[tokio::test]
async fn each_way_to_an_answer_is_told() {
    let word = "not on a Friday";
    let to = || json!({ "to": "ada" });
    let allowed = (CallStatus::Ok, AskAnswer::Allowed);
    let denied = (CallStatus::Error, AskAnswer::Denied);
    for (what, approver, rules, came, by, reason, scope) in [
        ("y", Some(Answer::allow()), json!({}), allowed, "person", None, Some(AllowScope::Once)),
        (
            "s",
            Some(Answer::allow_for_session()),
            json!({}),
            allowed,
            "person",
            None,
            Some(AllowScope::Session),
        ),
        ("a word", Some(Answer::deny_saying(word)), json!({}), denied, "person", Some(word), None),
        (
            "dismissed",
            Some(Answer::Cancelled),
            json!({}),
            (CallStatus::Error, AskAnswer::Cancelled),
            "person",
            None,
            None,
        ),
        ("nobody", None, json!({}), denied, "nobody_there", Some("the script of answers ended"), None),
        (
            "a rule",
            None,
            json!({ "message": "allow" }),
            allowed,
            "rule",
            Some("allow (/permission/message)"),
            None,
        ),
        (
            "a deny",
            None,
            json!({ "message": "deny" }),
            denied,
            "rule",
            Some("deny (/permission/message)"),
            None,
        ),
    ] {
        let house = House::new(ScriptedApprover::new(approver), rules);
        let entry = house.call("send", to()).await;
        let ask = only(&entry);
        assert_eq!((entry.status, ask.answer), came, "{what}: {entry:?}");
        assert_eq!((ask.by.as_deref(), ask.scope), (Some(by), scope), "{what}");
        let said = ask.reason.as_deref();
        assert_eq!(said.is_some(), reason.is_some(), "{what}: {said:?}");
        assert!(said.zip(reason).is_none_or(|(said, reason)| said.starts_with(reason)), "{what}: {said:?}");
        assert_eq!((&*ask.asker, &*ask.kind, &*ask.patterns[0]), ("tool", "message", "ada"), "{what}");
        assert!(ask.duration.is_some(), "{what}");
    }
}

#[tokio::test]
async fn what_was_allowed_before_is_told_as_that() {
    let approver = ScriptedApprover::new([Answer::allow_for_session()]);
    let house = House::new(approver, json!({}));
    house.call("send", json!({ "to": "ada" })).await;
    let entry = house.call("send", json!({ "to": "ada" })).await;
    assert_eq!((only(&entry).answer, only(&entry).by.as_deref()), (AskAnswer::Allowed, Some("session")));
    let house = House::new(ScriptedApprover::new([Answer::allow_always()]), json!({}));
    house.call("change", json!({})).await;
    let entry = house.call("change", json!({})).await;
    let id = house.toolkit.approvals().list().approvals[0].id.clone();
    assert_eq!((only(&entry).by.as_deref(), only(&entry).reason.as_deref()), (Some("approval"), Some(&*id)));
}

struct Careful;

impl Inspector for Careful {
    fn inspect<'a>(
        &'a self,
        _: &'a toolkit::inspection::Inspection<'a>,
    ) -> toolkit::inspection::Inspecting<'a> {
        Box::pin(async { Ok(Verdict::Ask(Ask::new("care", "go on?"))) })
    }
}

#[tokio::test]
async fn who_asked_is_told_also_of_a_call_that_failed() {
    let house = House::with(ScriptedApprover::new([Answer::allow(), Answer::deny()]), json!({}), |builder| {
        builder.inspector("careful", Careful).loop_guard(LoopGuard::off())
    });
    let entry = house.call("change", json!({})).await;
    let askers: Vec<(&str, &str, AskAnswer)> =
        entry.asks.iter().map(|ask| (&*ask.asker, &*ask.kind, ask.answer)).collect();
    assert_eq!(
        (entry.status, askers),
        (
            CallStatus::Error,
            vec![("careful", "care", AskAnswer::Allowed), ("core", "change", AskAnswer::Denied)]
        )
    );

    let house = House::with(ScriptedApprover::new([]), json!({ "change": "allow" }), |builder| {
        builder.loop_guard(LoopGuard::new().tell(1).ask(1).block(9))
    });
    assert_eq!(house.call("change", json!({})).await.asks, []);
    let entry = house.call("change", json!({})).await;
    assert_eq!((only(&entry).asker.as_str(), only(&entry).kind.as_str()), ("loop guard", "repeat"));
}

#[tokio::test]
async fn a_value_that_a_person_gives_is_not_kept() {
    for (answer, expected) in [
        (Answer::value(json!({ "name": "Rumpelstiltskin" })), AskAnswer::Given),
        (Answer::Declined, AskAnswer::Declined),
        (Answer::Cancelled, AskAnswer::Cancelled),
    ] {
        let house = House::new(ScriptedApprover::new([answer]), json!({}));
        let entry = house.call("name", json!({})).await;
        let ask = only(&entry);
        assert_eq!((ask.answer, &*ask.kind, &*ask.title), (expected, "elicit", "What is your name?"));
        assert!(!format!("{ask:?}").contains("Rumpelstiltskin"));
    }
}

#[tokio::test]
async fn a_question_without_an_answer_is_told_so() {
    let house = House::new(CallbackApprover::new(|_| None), json!({}));
    let toolbox = house.toolkit.toolbox(&Caller::new()).await;
    let cancel = CancellationToken::new();
    let asked = async {
        while house.toolkit.asks().list(None).is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let call = toolbox.call_with(ToolCall::new("1", "change", "{}"), CallOptions::from(cancel.clone()));
    tokio::join!(call, asked);
    let entry = house.history.calls(&HistoryQuery::new()).pop().unwrap();
    assert_eq!(
        (entry.status, only(&entry).answer, only(&entry).by.as_deref(), only(&entry).duration),
        (CallStatus::Error, AskAnswer::None, None, None)
    );

    let limits = AskLimits::new().age(Duration::from_millis(20));
    let house = House::with(CallbackApprover::new(|_| None), json!({}), |builder| builder.ask_limits(limits));
    let entry = house.call("change", json!({})).await;
    let ask = only(&entry);
    assert_eq!((ask.answer, ask.by.as_deref()), (AskAnswer::Denied, Some("time_out")));
    assert!(ask.duration.unwrap() >= Duration::from_millis(20), "{ask:?}");
}

#[tokio::test]
async fn no_secret_is_kept_and_no_more_than_fits() {
    let house =
        House::new(ScriptedApprover::new([Answer::deny_saying("hunter2hunter2 is not theirs")]), json!({}));
    let entry = house.call("send", json!({ "to": "hunter2hunter2", "stamp": "my-own-stamp" })).await;
    let text = serde_json::to_string(&entry).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("my-own-stamp"), "{text}");
    assert_eq!(only(&entry).title, "write to [redacted] [redacted]");
    assert_eq!(only(&entry).reason.as_deref(), Some("[redacted] is not theirs"));

    let house = House::new(ScriptedApprover::always(Answer::allow()), json!({}));
    let entry = house.call("often", json!({})).await;
    assert_eq!(entry.asks.len(), 20);
    assert!(entry.asks.iter().all(|ask| ask.title.len() <= 4_200 && ask.answer == AskAnswer::Allowed));
}

#[tokio::test]
async fn a_file_has_them_and_is_read_with_and_without() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("history.jsonl");
    let history = Arc::new(JsonlHistory::open(&path, JsonlOptions::default()).unwrap());
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(change))
        .data_dir(data.path())
        .approver(ScriptedApprover::new([Answer::allow()]))
        .history(Arc::clone(&history))
        .build()
        .unwrap();
    toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", "change", "{}")).await;
    assert!(history.flush(Duration::from_secs(5)));
    let text = fs::read_to_string(&path).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let ask = &line["asks"][0];
    assert!(ask["durationUs"].is_u64());
    for (key, value) in [("kind", "change"), ("asker", "core"), ("answer", "allowed"), ("by", "person")] {
        assert_eq!(ask[key], value, "{key}");
    }
    // Of an earlier version, and of a later one.
    let (mut earlier, mut later) = (line.clone(), line.clone());
    earlier.as_object_mut().unwrap().remove("asks");
    later["asks"][0]["answer"] = "postponed".into();
    later["asks"][0]["until"] = 5.into();
    for (line, expected) in
        [(line, vec![AskAnswer::Allowed]), (earlier, vec![]), (later, vec![AskAnswer::Other])]
    {
        fs::write(&path, format!("{line}\n")).unwrap();
        let items: Vec<HistoryItem> = HistoryReader::open(&path).unwrap().map(Result::unwrap).collect();
        let [HistoryItem::Call(call)] = items.as_slice() else { panic!("{items:?}") };
        assert_eq!(call.asks.iter().map(|ask| ask.answer).collect::<Vec<_>>(), expected);
    }
}

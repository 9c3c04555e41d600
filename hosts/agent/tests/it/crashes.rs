//! A process that ends at each line of its transcript, and at each time that lines reach the disk: the messages are sent again, and the next
//! process goes on. Each message is consumed by one run, each run has one end, and no side effect happens twice.

use crate::common::call;
use crate::conversations::{in_time, until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{approval::Answer as Approval, approval::CallbackApprover, tool_ref};
use toolkit_agent::{
    Agent, AgentEvent, ContextSettings, ConversationOptions, Conversations, DelegationRequest, FinalAnswer,
    IncomingMessage, Limits, ObservedEvent, Transcripts,
};
use toolkit_models::{Answer, Message, Scripted};

/// The directory in which the child works; it is a child where this is set.
pub(crate) const DIRECTORY: &str = "TOOLKIT_AGENT_TEST_CRASHES_IN";
pub(crate) const FAIL_POINT: &str = "TOOLKIT_FAIL_POINT";
const SUMMARY: &str = "what was so far";
pub(crate) const MESSAGES: [&str; 4] = ["m1", "m2", "m3", "m4"];

pub(crate) struct Ledger(pub(crate) PathBuf);

impl Ledger {
    pub(crate) fn note(&self, file: &str, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.0.join(file)).unwrap();
        file.write_all(format!("{text}\n").as_bytes()).unwrap();
    }
}

/// Does something that must not be done twice.
#[tool(auto_execute)]
async fn crash_effect(ledger: State<Ledger>, id: String) -> String {
    ledger.note("effects", &id);
    // It fills the context window, so that a summary, and with it a segment, is needed.
    format!("did {id}{}", " and more".repeat(600))
}

/// Does something that a person must allow, and that must not be done twice.
#[tool]
async fn crash_deploy(ledger: State<Ledger>, id: String) -> String {
    ledger.note("effects", &id);
    format!("deployed {id}")
}

/// Waits until it is cancelled.
#[tool(auto_execute)]
async fn crash_stall() -> String {
    std::future::pending().await
}

/// Two calls for each task, and a call that does not end for `m3`; then the answer.
pub(crate) fn model() -> Scripted {
    Scripted::with(|request| {
        crate::common::assert_whole(&request.messages);
        if let Some(Message::User(last)) = request.messages.last()
            && last.content[0].as_text().is_some_and(|text| text.contains("has to be shortened"))
        {
            return Answer::text(SUMMARY).into();
        }
        let tasks = request.messages.iter().enumerate().filter_map(|(at, message)| match message {
            Message::User(message) => Some((at, message.content.first()?.as_text()?.to_owned())),
            _ => None,
        });
        let (at, task) = tasks.rev().find(|(_, text)| MESSAGES.contains(&&**text)).unwrap();
        let is_past = |message: &Message| {
            matches!(message, Message::Assistant(_)) || format!("{message:?}").contains(SUMMARY)
        };
        let is_new = !request.messages[at..].iter().any(is_past);
        let named = |name: &str| {
            call(&format!("{task}-{name}"), &format!("crash_{name}"), json!({"id": format!("{task}-{name}")}))
        };
        match (is_new, &*task) {
            (true, "m3") => Answer::calls([call("m3-stall", "crash_stall", json!({}))]).into(),
            (true, _) => Answer::calls([named("effect"), named("deploy")]).into(),
            (false, _) => Answer::text(format!("answer to {task}")).into(),
        }
    })
}

pub(crate) fn tools(directory: &Path) -> Toolkit {
    Toolkit::empty()
        .tool(tool_ref!(crash_effect))
        .tool(tool_ref!(crash_deploy))
        .tool(tool_ref!(crash_stall))
        .service(Ledger(directory.to_owned()))
        .build()
        .unwrap()
}

/// The program that ends anywhere: it goes on with the conversation, and sends what has no reported answer.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let ledger = Ledger(directory.clone());
        let toolkit = tools(&directory);
        let asked = Ledger(directory.clone());
        let approver = CallbackApprover::new(move |ask| {
            asked.note("asked", &ask.origin().call_id);
            Some(Approval::allow())
        });
        let transcripts = Transcripts::new(directory.join("agents"));
        let agent = Agent::builder(toolkit, Arc::new(model()))
            .limits(Limits::none())
            .final_answer(FinalAnswer::Text)
            .context(ContextSettings::new().window_tokens(4_000))
            .approver(approver)
            .transcripts(transcripts.clone())
            .build();
        let session = match transcripts.list().first() {
            Some(info) => agent.resume(&info.id).unwrap(),
            None => agent.session(&DelegationRequest::default()).unwrap(),
        };
        let conversations = Conversations::new();
        let conversation = conversations.open("c", session, ConversationOptions::new()).unwrap();
        let (mut one, mut two) = (conversation.observe(), conversation.observe());
        let reported = fs::read_to_string(directory.join("reported")).unwrap_or_default();
        let is_open = |id: &&&str| !reported.lines().any(|line| line.split(' ').next() == Some(**id));
        let mut receipts = Vec::new();
        for id in MESSAGES.iter().filter(is_open) {
            let mut message = IncomingMessage::new(*id, *id);
            message.steers = *id == "m2";
            receipts.push((*id, conversation.send(message).unwrap()));
        }
        let cancelling = {
            let conversation = conversation.clone();
            tokio::spawn(async move {
                let is_stalled = |event: &ObservedEvent| match event {
                    ObservedEvent::Run { event, .. } => {
                        matches!(&**event, AgentEvent::Step { step, .. } if step.tool_call.as_ref().is_some_and(|call| call.name == "crash_stall"))
                    }
                    _ => false,
                };
                until(&mut one, is_stalled).await;
                conversation.cancel();
            })
        };
        for (id, receipt) in receipts {
            let ended = in_time(receipt.ended()).await.expect("each is consumed");
            ledger.note("reported", &format!("{id} {} {:?}", ended.run, ended.result.stop_reason));
        }
        cancelling.abort();
        conversations.end_all().await;
        // The second observer has missed nothing.
        assert_eq!(ended(&mut two).await, ObservedEvent::Ended);
    });
    fs::write(directory.join("done"), "").unwrap();
}

/// Reads all events to the end, of which each must follow the one before, and returns the last.
async fn ended(observation: &mut toolkit_agent::Observation) -> ObservedEvent {
    let mut last = observation.so_far.last().cloned();
    while let Some(observed) = in_time(observation.next()).await {
        let observed = observed.unwrap();
        assert_eq!(observed.seq, last.map_or(observed.seq, |last| last.seq + 1));
        last = Some(observed);
    }
    last.unwrap().event
}

/// Runs the program until it is done, and lets it crash at a point each time. Returns false if the first process passed the point not so often.
fn check(points: &[String]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let mut crashed = 0;
    for run in 0.. {
        assert!(run < points.len() + 20, "it comes to no end");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crashes::child", "--nocapture", "--test-threads", "1"]);
        command.env(DIRECTORY, directory.path()).env_remove(FAIL_POINT);
        if let Some(point) = points.get(run) {
            command.env(FAIL_POINT, point);
        }
        let output = command.output().unwrap();
        check_transcripts(directory.path(), directory.path().join("done").exists());
        if directory.path().join("done").exists() {
            break;
        }
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(run < points.len() && !error.contains("panicked"), "{points:?}: {error}");
        crashed += 1;
    }
    assert!(segments(directory.path()).len() > 1, "{points:?}: no segment was begun");
    // Each message is reported, by the process that knew its end or a later one.
    let reported = lines_of(directory.path(), "reported");
    let reported: BTreeSet<&str> = reported.iter().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(reported.into_iter().collect::<Vec<_>>(), MESSAGES);
    crashed > 0
}

/// The segments of the transcript, in their order.
fn segments(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("agents")).into_iter().flatten();
    let files = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|of| of == "jsonl")).collect();
    files.sort_by_key(|path| (path.as_os_str().len(), path.clone()));
    files
}

fn records(directory: &Path) -> Vec<Value> {
    let texts = segments(directory).into_iter().map(|path| fs::read_to_string(path).unwrap());
    texts
        .flat_map(|text| text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect::<Vec<_>>())
        .collect()
}

pub(crate) fn lines_of(directory: &Path, file: &str) -> Vec<String> {
    let text = fs::read_to_string(directory.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Checks what processes did that were killed, and what the last one did.
pub(crate) fn check_transcripts(directory: &Path, is_done: bool) {
    let mut seen = BTreeSet::new();
    for effect in lines_of(directory, "effects") {
        assert!(seen.insert(effect.clone()), "{effect} was done twice");
    }
    let (mut consumed, mut ends) = (BTreeMap::new(), BTreeMap::new());
    let mut run = Value::Null;
    for record in records(directory) {
        match record["record"].as_str() {
            Some("run") => run = record["run"].clone(),
            Some("message") => {
                for id in record["consumes"].as_array().into_iter().flatten() {
                    let before = consumed.insert(id.to_string(), run.to_string());
                    assert_eq!(before, None, "{id} was consumed twice");
                }
            }
            Some("end") => *ends.entry(record["run"].to_string()).or_insert(0) += 1,
            _ => {}
        }
    }
    assert!(ends.values().all(|count| *count == 1), "{ends:?}");
    if is_done {
        assert_eq!(consumed.len(), MESSAGES.len(), "{consumed:?}");
        for run in consumed.values() {
            assert_eq!(ends.get(run), Some(&1), "{run} of {ends:?}");
        }
        // A question that was not answered was asked again: the call is done, or it was interrupted after the answer.
        for id in ["m1-deploy", "m2-deploy", "m4-deploy"] {
            let was_asked = lines_of(directory, "asked").iter().any(|line| line == id);
            let lost = lost(directory, id);
            assert!(!was_asked || lost != Some("not run"), "{id}");
            assert!(lost != Some("not run") || !seen.contains(id), "{id}");
        }
    }
}

/// How the result of a call begins that was lost.
fn lost(directory: &Path, call: &str) -> Option<&'static str> {
    let is_its = |record: &Value| {
        let output = &record["output"];
        record["record"] == "result" && [&output["callId"], &output["id"]].contains(&&Value::from(call))
    };
    let text = records(directory).into_iter().find(is_its)?.to_string();
    ["not run", "interrupted"].into_iter().find(|word| text.contains(word))
}

/// Points at which a process ends: at each line, or after each sync.
pub(crate) fn point(name: &str, pass: usize) -> String {
    format!("{name}:{pass}")
}

#[test]
fn at_some_lines_and_syncs_nothing_is_lost_or_repeated() {
    for pass in [1, 3, 6, 8, 13, 22] {
        check(&[point("transcript_line", pass)]);
    }
    check(&[point("transcript_sync", 2), point("transcript_line", 4), point("transcript_sync", 3)]);
}

#[test]
fn while_a_segment_begins_nothing_is_lost_or_repeated() {
    for name in ["transcript_copied", "transcript_segment"] {
        assert!(check(&[point(name, 1)]), "{name} was not passed");
        check(&[point(name, 1), point(name, 1), point("transcript_line", 2)]);
    }
    // Each line before, of and behind its beginning: the summary, two lines of the segment, the next answer.
    let first = lines_until_segment();
    for pass in first..first + 4 {
        assert!(check(&[point("transcript_line", pass)]), "line {pass} was not written");
    }
}

/// The number of the line that is the first summary.
fn lines_until_segment() -> usize {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "crashes::child", "--test-threads", "1"]);
    command.env(DIRECTORY, directory.path()).env(FAIL_POINT, point("transcript_copied", 1));
    assert!(!command.output().unwrap().status.success());
    records(directory.path()).len()
}

#[allow(dead_code, reason = "the long tests check each")]
pub(crate) fn check_each_point() {
    for name in ["transcript_line", "transcript_sync", "transcript_copied", "transcript_segment"] {
        let mut pass = 1;
        while check(&[point(name, pass)]) {
            pass += 1;
        }
        let least = if name.ends_with("line") || name.ends_with("sync") { 8 } else { 1 };
        assert!(pass > least, "{name}: {pass}");
        // The next process ends early, too.
        for next in 1..pass.min(12) {
            check(&[point(name, pass / 2), point("transcript_line", next)]);
        }
    }
}

//! Tools, models and checks that several tests share.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use toolkit::prelude::*;
use toolkit::{Builder, CancellationToken, ToolCall, tool_ref};
use toolkit_agent::{
    Agent, AgentBuilder, AgentEvent, Kind, Limits, Observer, TranscriptMessage, Transcripts,
};
use toolkit_models::{Answer, Message, Model, Request, Scripted, ScriptedReply};

/// The record of the calls of a test's tools.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) lines: Mutex<Vec<String>>,
    /// How many calls run.
    pub(crate) running: AtomicUsize,
    /// The most that ran at once.
    pub(crate) most: AtomicUsize,
    /// Is cancelled when a call of `stall` begins.
    pub(crate) stalled: CancellationToken,
}

impl Log {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }
}

struct Running<'a>(&'a Log);

impl<'a> Running<'a> {
    fn new(log: &'a Log) -> Self {
        let running = log.running.fetch_add(1, Ordering::SeqCst) + 1;
        log.most.fetch_max(running, Ordering::SeqCst);
        Self(log)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns a text.
#[tool(read_only)]
async fn look(log: State<Log>, text: String) -> String {
    let log: &Log = &log;
    let _running = Running::new(log);
    tokio::task::yield_now().await;
    tokio::task::yield_now().await;
    log.note(format!("look {text}"));
    text
}

/// Changes something.
#[tool(auto_execute)]
async fn change(log: State<Log>, text: String) -> ToolOutput {
    let log: &Log = &log;
    let _running = Running::new(log);
    tokio::task::yield_now().await;
    log.note(format!("change {text}"));
    ToolOutput::text(format!("changed {text}")).with_file_modified(format!("/{text}"))
}

/// Fails.
#[tool(auto_execute)]
async fn fail(text: String) -> Result<(), ToolError> {
    Err(ToolError::failed(format!("broken {text}")))
}

/// Never ends.
#[tool(auto_execute)]
async fn stall(log: State<Log>) -> String {
    let log: &Log = &log;
    let _running = Running::new(log);
    log.stalled.cancel();
    std::future::pending::<()>().await;
    String::new()
}

/// Never ends, and only reads.
#[tool(read_only)]
async fn stall_reading(log: State<Log>) -> String {
    let log: &Log = &log;
    let _running = Running::new(log);
    log.stalled.cancel();
    std::future::pending::<()>().await;
    String::new()
}

/// Needs approval.
#[tool]
async fn ask_first(log: State<Log>, text: String) -> String {
    log.note(format!("ask_first {text}"));
    text
}

/// Returns a long text.
#[tool(read_only)]
async fn long(chars: usize, mark: String) -> String {
    format!("{mark}:{}", "lorem ipsum ".repeat(chars / 12))
}

/// Shows a text in two pieces.
#[tool(read_only)]
async fn show_in_pieces(text: String, ctx: &ToolContext) -> String {
    let (first, rest) = text.split_at(text.len() / 2);
    ctx.partial(first);
    ctx.partial(rest);
    "shown".to_owned()
}

pub(crate) fn log() -> Arc<Log> {
    Arc::default()
}

pub(crate) fn tools(log: &Arc<Log>) -> Builder {
    Toolkit::empty()
        .shared_service(Arc::clone(log))
        .tool(tool_ref!(look))
        .tool(tool_ref!(change))
        .tool(tool_ref!(fail))
        .tool(tool_ref!(stall))
        .tool(tool_ref!(stall_reading))
        .tool(tool_ref!(ask_first))
        .tool(tool_ref!(long))
        .tool(tool_ref!(show_in_pieces))
}

pub(crate) fn toolkit(log: &Arc<Log>) -> Toolkit {
    tools(log).build().unwrap()
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

pub(crate) fn finish(summary: &str) -> Answer {
    Answer::calls([call("end", "finish", json!({"success": true, "summary": summary}))])
}

pub(crate) fn scripted(replies: impl IntoIterator<Item = impl Into<ScriptedReply>>) -> Arc<Scripted> {
    Arc::new(Scripted::new(replies))
}

/// An agent without limits of time, so that no test depends on the clock.
pub(crate) fn builder(log: &Arc<Log>, model: &Arc<Scripted>) -> AgentBuilder {
    let model: Arc<dyn Model> = Arc::clone(model) as _;
    Agent::builder(toolkit(log), model).limits(Limits::none().max_turns(50))
}

pub(crate) fn agent(log: &Arc<Log>, model: &Arc<Scripted>) -> Agent {
    builder(log, model).build()
}

/// The events of a run, and an observer that collects them.
pub(crate) fn watch() -> (Arc<Mutex<Vec<AgentEvent>>>, Observer) {
    let events = Arc::<Mutex<Vec<AgentEvent>>>::default();
    let observer = Observer::new({
        let events = Arc::clone(&events);
        move |event| events.lock().unwrap().push(event)
    });
    (events, observer)
}

/// Every call has exactly one result, right behind it and in order; no result is without its call.
#[track_caller]
pub(crate) fn assert_whole<'a>(messages: impl IntoIterator<Item = &'a Message>) {
    let messages: Vec<&Message> = messages.into_iter().collect();
    for (place, message) in messages.iter().enumerate() {
        match message {
            Message::Assistant(answer) => {
                assert!(!answer.is_empty(), "message {place} is empty");
                let calls: Vec<&str> = answer.tool_calls().map(|call| &*call.id).collect();
                if calls.is_empty() {
                    continue;
                }
                let Some(Message::Tools(results)) = messages.get(place + 1) else {
                    panic!("no results follow message {place}: {messages:#?}");
                };
                let results: Vec<&str> = results.results.iter().map(|result| &*result.call_id).collect();
                assert_eq!(results, calls, "message {place}");
            }
            Message::Tools(results) => {
                assert!(!results.results.is_empty());
                let before = place.checked_sub(1).map(|before| messages[before]);
                let Some(Message::Assistant(answer)) = before else {
                    panic!("results without calls at message {place}: {messages:#?}");
                };
                assert!(answer.tool_calls().next().is_some());
            }
            _ => {}
        }
    }
}

/// The same of all requests that a model got.
#[track_caller]
pub(crate) fn assert_requests_whole(requests: &[Request]) {
    for request in requests {
        assert_whole(&request.messages);
    }
}

#[track_caller]
pub(crate) fn assert_messages_whole(messages: &[TranscriptMessage]) {
    assert_whole(messages.iter().map(|message| &message.message));
    let ids: Vec<u64> = messages.iter().map(|message| message.id).collect();
    let users = |kind: Kind| matches!(kind, Kind::Task | Kind::Addition | Kind::Summary | Kind::Note);
    // The user's messages that stay when the rest is summarised stand before the summary, whose number is later.
    let others: Vec<u64> =
        messages.iter().filter(|message| !users(message.kind)).map(|message| message.id).collect();
    assert!(others.is_sorted(), "{ids:?}");
}

/// The results of calls in a conversation: the call's id, its text, and whether it failed.
pub(crate) fn results<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<(String, String, bool)> {
    let results = messages.into_iter().filter_map(|message| match message {
        Message::Tools(results) => Some(&results.results),
        _ => None,
    });
    results.flatten().map(|result| (result.call_id.clone(), result.to_text(), result.is_error)).collect()
}

pub(crate) fn transcripts() -> (tempfile::TempDir, Transcripts) {
    let directory = tempfile::tempdir().unwrap();
    let transcripts = Transcripts::new(directory.path().join("agents"));
    (directory, transcripts)
}

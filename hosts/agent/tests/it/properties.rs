//! Random runs: whatever the model answers, and whatever happens meanwhile, every call has exactly one result in order, and the
//! transcript is whole, also cut at any byte.

use crate::common::{assert_messages_whole, assert_requests_whole, builder, call, finish, log, transcripts};
use proptest::prelude::*;
use serde_json::json;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::{CancellationToken, ToolCall};
use toolkit_agent::{AgentEvent, ContextSettings, DelegationRequest, Limits, RunOptions, StopReason};
use toolkit_models::{
    Answer, AssistantMessage, ModelError, ModelEvent, Scripted, ScriptedReply, StopReason as AnswerEnd, Usage,
};

/// A reply of a random model.
#[derive(Debug, Clone)]
enum Reply {
    Calls(Vec<u8>, bool),
    Text(bool),
    Empty,
    Broken,
    TooLong,
    Stall,
    Failure,
    Finish,
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        8 => (proptest::collection::vec(0..12_u8, 1..6), any::<bool>()).prop_map(|(calls, cut)| Reply::Calls(calls, cut)),
        2 => any::<bool>().prop_map(Reply::Text),
        1 => Just(Reply::Empty),
        1 => Just(Reply::Broken),
        1 => Just(Reply::TooLong),
        1 => Just(Reply::Stall),
        1 => Just(Reply::Failure),
        2 => Just(Reply::Finish),
    ]
}

/// Something that happens beside the answers.
#[derive(Debug, Clone)]
struct Meanwhile {
    /// After how many events the run is cancelled.
    cancel: Option<usize>,
    /// After which events a message comes.
    messages: Vec<usize>,
    window: Option<u64>,
    max_calls: Option<u32>,
    cut: prop::sample::Index,
}

fn meanwhile() -> impl Strategy<Value = Meanwhile> {
    (
        proptest::option::of(0..80_usize),
        proptest::collection::vec(0..60_usize, 0..3),
        proptest::option::of(1_500..6_000_u64),
        proptest::option::of(1..12_u32),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(cancel, messages, window, max_calls, cut)| Meanwhile {
            cancel,
            messages,
            window,
            max_calls,
            cut,
        })
}

fn tool_call(kind: u8, place: usize, turn: usize) -> ToolCall {
    let id = format!("{turn}-{place}");
    let text = json!({"text": id});
    match kind {
        0..=2 => call(&id, "look", text),
        3 | 4 => call(&id, "change", text),
        5 => call(&id, "fail", text),
        6 => call(&id, "unknown", text),
        7 => ToolCall::new(id, "look", "{\"text\""),
        8 => call("same", "look", json!({"text": "same"})),
        9 => call(&id, "long", json!({"chars": 2_000, "mark": "m"})),
        10 => call("", "change", json!({"wrong": true})),
        _ => call(&id, "finish", json!({"success": 5})),
    }
}

fn scripted(replies: Vec<Reply>, stall: CancellationToken) -> Arc<Scripted> {
    let count = AtomicUsize::new(0);
    let error = |message: &str| ModelError::Stream {
        model: "m".into(),
        message: message.into(),
        partial: Box::new(AssistantMessage::calls([call("broken", "change", json!({"text": "broken"}))])),
    };
    Arc::new(Scripted::with(move |_| {
        let turn = count.fetch_add(1, Ordering::SeqCst);
        match replies.get(turn) {
            None | Some(Reply::Finish) => finish("done").into(),
            Some(Reply::Calls(kinds, is_cut)) => {
                let calls = kinds.iter().enumerate().map(|(place, kind)| tool_call(*kind, place, turn));
                let answer = Answer::calls(calls).with_usage(Usage::new(50, 5));
                if *is_cut { answer.with_stop(AnswerEnd::MaxTokens) } else { answer }.into()
            }
            Some(Reply::Text(is_cut)) => {
                let answer = Answer::text("some text of the model");
                if *is_cut { answer.with_stop(AnswerEnd::MaxTokens) } else { answer }.into()
            }
            Some(Reply::Empty) => Answer::new(AssistantMessage::default()).into(),
            Some(Reply::Broken) => {
                let begun = vec![ModelEvent::Started, ModelEvent::Text("I".into())];
                ScriptedReply::Events(begun, Box::new(error("reset").into()))
            }
            Some(Reply::TooLong) => {
                ModelError::ContextTooLong { model: "m".into(), message: "too long".into() }.into()
            }
            // Somebody is impatient: a stall ends by cancellation alone.
            Some(Reply::Stall) => {
                stall.cancel();
                ScriptedReply::Stall
            }
            Some(Reply::Failure) => ModelError::Quota { model: "m".into(), message: "none".into() }.into(),
        }
    }))
}

async fn check(replies: Vec<Reply>, meanwhile: Meanwhile) {
    let log = log();
    let (_directory, transcripts) = transcripts();
    let cancel = CancellationToken::new();
    let model = scripted(replies, cancel.clone());
    let mut context = ContextSettings::new();
    context.window_tokens = meanwhile.window;
    let limits = Limits::none().max_turns(20).max_tool_calls(meanwhile.max_calls);
    let agent =
        builder(&log, &model).limits(limits).context(context).transcripts(transcripts.clone()).build();
    let request = DelegationRequest::new("do it");
    let mut session = agent.session(&request).unwrap();
    let id = session.id().to_owned();
    let steering = session.steering();
    let (at, count) = (cancel.clone(), AtomicUsize::new(0));
    let (stop, sent) = (meanwhile.cancel, meanwhile.messages.clone());
    let options = RunOptions::new().cancel(cancel).observer(move |_: AgentEvent| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        if stop == Some(number) {
            at.cancel();
        }
        if sent.contains(&number) {
            steering.send(format!("message {number}")).unwrap();
        }
    });
    let result = session.run(request, options).await;
    let messages = session.messages();
    assert_messages_whole(&messages);
    assert_requests_whole(&model.requests());
    assert_eq!(log.running.load(Ordering::SeqCst), 0);
    assert_eq!(result.success, result.stop_reason == StopReason::Finished);
    assert!(meanwhile.max_calls.is_none_or(|most| result.tool_call_count <= most));
    assert_eq!(
        result.steps.iter().filter(|step| step.status == toolkit::views::StepStatus::Running).count(),
        0
    );
    // Nothing of an answer that broke off was run, and no call twice.
    let mut lines = log.lines();
    assert!(!lines.iter().any(|line| line.contains("broken")));
    lines.retain(|line| line.starts_with("change"));
    let count = lines.len();
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), count, "a call was run twice");
    drop(session);
    assert_eq!(transcripts.messages(&id).unwrap(), messages);

    // Cut anywhere, it is resumed whole, and its calls are not repeated.
    let path = transcripts.directory().join(format!("{id}.jsonl"));
    let whole = fs::read(&path).unwrap();
    let first_line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let end = first_line + meanwhile.cut.index(whole.len() - first_line + 1);
    fs::write(&path, &whole[..end]).unwrap();
    let again = Arc::new(Scripted::new([finish("resumed")]));
    let log = crate::common::log();
    let agent = builder(&log, &again).transcripts(transcripts.clone()).build();
    let mut session = agent.resume(&id).unwrap();
    assert_messages_whole(&session.messages());
    let result = session.go_on(RunOptions::new()).await;
    assert!(result.success, "{result:?}");
    assert_requests_whole(&again.requests());
    assert_eq!(log.lines(), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn a_run_leaves_a_whole_conversation(
        replies in proptest::collection::vec(reply(), 0..12),
        meanwhile in meanwhile(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(replies, meanwhile));
    }
}

/// More in the profile `long`, which sets the variable of the library.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(150)
}

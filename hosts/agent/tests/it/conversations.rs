//! Conversations that are alive: their queue, their observers, and crashes at any line of the transcript.

use crate::common::{call, log, scripted, tools, transcripts};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{approval::Answer as Approval, approval::ScriptedApprover, tool_ref};
use toolkit_agent::{
    Agent, AgentEvent, Conversation, ConversationOptions, Conversations, DelegationRequest, FinalAnswer,
    IncomingMessage, Kind, Mode, Observation, ObservedEvent, SendError, Steering, StopReason, Transcripts,
};
use toolkit_models::{Answer, Message, Scripted};

/// No test waits so long for something that happens.
const LONG: Duration = Duration::from_mins(2);

fn answers_each() -> Arc<Scripted> {
    Arc::new(Scripted::with(|request| {
        let last = request.messages.iter().rev().find_map(|message| match message {
            Message::User(message) => message.content.first()?.as_text().map(str::to_owned),
            _ => None,
        });
        Answer::text(format!("answer to {}", last.unwrap_or_default())).into()
    }))
}

fn begin(model: &Arc<Scripted>, options: ConversationOptions) -> (Conversations, Conversation) {
    let log = log();
    let agent = Agent::builder(tools(&log).build().unwrap(), Arc::clone(model))
        .final_answer(FinalAnswer::Text)
        .build();
    let conversations = Conversations::new();
    let session = agent.session(&DelegationRequest::default()).unwrap();
    let conversation = conversations.open("one", session, options).unwrap();
    (conversations, conversation)
}

pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, work).await.expect("it happens")
}

/// Reads events until one fits.
pub(crate) async fn until(
    observation: &mut Observation,
    mut fits: impl FnMut(&ObservedEvent) -> bool,
) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        let observed = in_time(observation.next()).await.expect("it goes on").expect("nothing is missed");
        seen.push(observed.seq);
        if fits(&observed.event) {
            return seen;
        }
    }
}

#[tokio::test]
async fn messages_are_answered_in_order_and_an_id_counts_once() {
    let (_, conversation) = begin(&answers_each(), ConversationOptions::new());
    let send = |id: &str| conversation.send(IncomingMessage::new(id, id)).unwrap();
    let receipts = [send("a"), send("b"), send("a"), send("c")];
    let mut runs = Vec::new();
    for (receipt, expected) in receipts.into_iter().zip(["a", "b", "a", "c"]) {
        let ended = in_time(receipt.ended()).await.unwrap();
        assert_eq!(ended.result.summary, format!("answer to {expected}"));
        runs.push(ended.run);
    }
    assert_eq!(runs[0], runs[2]);
    assert!(runs[0] != runs[1] && runs[1] != runs[3]);
    // Also after its end.
    assert_eq!(in_time(send("b").ended()).await.unwrap().run, runs[1]);
}

#[tokio::test]
async fn names_are_taken_until_the_end_and_what_waits_is_told_of_it() {
    let stall = scripted([Answer::calls([call("1", "stall", json!({}))])]);
    let (conversations, conversation) = begin(&stall, ConversationOptions::new().max_waiting(1));
    let mut observation = conversation.observe();
    let running = conversation.send(IncomingMessage::new("a", "a")).unwrap();
    until(&mut observation, is_step).await;
    let waiting = conversation.send(IncomingMessage::new("b", "b")).unwrap();
    let full = conversation.send(IncomingMessage::new("c", "c")).unwrap_err();
    assert_eq!(full, SendError::Full { waiting: 1 });
    assert_eq!(conversation.waiting(), ["b"]);
    assert!(conversation.running().is_some());
    assert_eq!(conversations.list().len(), 1);
    let other = answers_each();
    let agent = Agent::builder(Toolkit::empty().build().unwrap(), other).build();
    let session = || agent.session(&DelegationRequest::default()).unwrap();
    let taken = conversations.open("one", session(), ConversationOptions::new()).unwrap_err();
    assert_eq!(taken.name, "one");
    assert!(in_time(conversations.end("one")).await && !conversations.end("one").await);
    assert_eq!(in_time(running.ended()).await.unwrap().result.stop_reason, StopReason::Cancelled);
    assert!(in_time(waiting.ended()).await.is_none());
    assert_eq!(conversation.send(IncomingMessage::new("d", "d")).unwrap_err(), SendError::Ended);
    assert!(conversations.get("one").is_none() && conversations.list().is_empty());
    while let Some(observed) = in_time(observation.next()).await {
        drop(observed.unwrap());
    }
    conversations.open("one", session(), ConversationOptions::new()).unwrap();
}

#[tokio::test]
async fn a_message_is_taken_back_while_it_waits_and_its_run_is_cancelled_once_it_runs() {
    let stall = Arc::new(Scripted::with(|request| match request.messages.last() {
        Some(Message::User(message)) if message.content[0].as_text() == Some("stall") => {
            Answer::calls([call("1", "stall", json!({}))]).into()
        }
        _ => Answer::text("done").into(),
    }));
    let (_, conversation) = begin(&stall, ConversationOptions::new());
    let mut observation = conversation.observe();
    let first = conversation.send(IncomingMessage::new("a", "stall")).unwrap();
    let [second, third] = ["b", "c"].map(|id| conversation.send(IncomingMessage::new(id, id)).unwrap());
    until(&mut observation, is_step).await;
    assert!(conversation.cancel_message("b") && !conversation.cancel_message("b"));
    assert!(conversation.cancel_message("a"));
    assert_eq!(in_time(first.ended()).await.unwrap().result.stop_reason, StopReason::Cancelled);
    assert!(in_time(second.ended()).await.is_none());
    assert_eq!(in_time(third.ended()).await.unwrap().result.summary, "done");
    assert!(!conversation.cancel() && !conversation.cancel_message("a"));
}

#[tokio::test]
async fn an_observer_that_does_not_read_is_told_what_it_missed_or_misses_nothing() {
    let (_, conversation) = begin(&answers_each(), ConversationOptions::new());
    let (mut latest, mut whole) = (conversation.observe(), conversation.observe_whole());
    let mode = *conversation.modes().first().unwrap();
    for _ in 0..1_500 {
        assert!(conversation.set_mode(mode));
    }
    assert_eq!(in_time(latest.next()).await.unwrap().unwrap_err(), 476);
    assert_eq!(in_time(latest.next()).await.unwrap().unwrap().seq, 477);
    for seq in 1..=1_500 {
        assert_eq!(in_time(whole.next()).await.unwrap().unwrap().seq, seq);
    }
    in_time(conversation.end()).await;
    assert_eq!(in_time(whole.next()).await.unwrap().unwrap().event, ObservedEvent::Ended);
    assert!(in_time(whole.next()).await.is_none());
}

#[tokio::test]
async fn observers_see_each_event_once_whenever_they_join() {
    let model = scripted([Answer::calls([call("1", "look", json!({"text": "x"}))]), Answer::text("seen")]);
    let (_, conversation) = begin(&model, ConversationOptions::new());
    let mut early = conversation.observe();
    assert!(early.so_far.is_empty() && early.waiting.is_empty());
    let receipt = conversation.send(IncomingMessage::new("a", "look at x")).unwrap();
    let seen = until(&mut early, is_step).await;
    let mut late = conversation.observe();
    in_time(receipt.ended()).await.unwrap();
    let is_end = |event: &ObservedEvent| matches!(event, ObservedEvent::RunEnded { .. });
    let mut all = seen;
    all.extend(until(&mut early, is_end).await);
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    // The one that joined late has the run from its beginning.
    let first = late.so_far.first().unwrap();
    assert!(
        matches!(&first.event, ObservedEvent::Run { event, .. } if matches!(**event, AgentEvent::Started { .. }))
    );
    let last = late.so_far.last().unwrap().seq;
    let rest = until(&mut late, is_end).await;
    assert_eq!(rest.first(), Some(&(last + 1)));
    assert_eq!(rest.last(), all.last());
}

#[tokio::test]
async fn one_that_steers_reaches_the_run_and_one_that_comes_too_late_has_a_run_of_its_own() {
    let model = scripted([
        Answer::calls([call("1", "stall_once", json!({}))]),
        Answer::text("with the addition"),
        Answer::text("late"),
    ]);
    let log = log();
    let go = Steering::default();
    let toolkit = tools(&log).tool(tool_ref!(stall_once)).service(Go(go.clone())).build().unwrap();
    let agent = Agent::builder(toolkit, Arc::clone(&model)).final_answer(FinalAnswer::Text).build();
    let conversations = Conversations::new();
    let session = agent.session(&DelegationRequest::default()).unwrap();
    let conversation = conversations.open("one", session, ConversationOptions::new()).unwrap();
    let mut observation = conversation.observe();
    let task = conversation.send(IncomingMessage::new("a", "begin")).unwrap();
    until(&mut observation, is_step).await;
    let addition = conversation.send(IncomingMessage::new("b", "and this").steering()).unwrap();
    assert!(conversation.waiting().is_empty());
    go.send("go").unwrap();
    let (task, addition) = (in_time(task.ended()).await.unwrap(), in_time(addition.ended()).await.unwrap());
    assert_eq!((&*task.run, &*task.result.summary), (&*addition.run, "with the addition"));
    let late = conversation.send(IncomingMessage::new("c", "more").steering()).unwrap();
    assert_ne!(in_time(late.ended()).await.unwrap().run, task.run);
}

struct Go(Steering);

/// Waits until it is told to go.
#[tool(auto_execute)]
async fn stall_once(go: State<Go>) -> &'static str {
    let go: &Go = &go;
    go.0.arrived().await;
    "went"
}

#[tokio::test]
async fn a_mode_holds_from_the_next_run_on() {
    let model = Arc::new(Scripted::with(|request| {
        let may_change = request.tools.as_ref().is_some_and(|tools| tools.shown("change").is_some());
        Answer::text(if may_change { "may change" } else { "reads" }).into()
    }));
    let (_, conversation) = begin(&model, ConversationOptions::new());
    assert_eq!((conversation.mode(), conversation.modes()), (Mode::Ask, vec![Mode::Ask, Mode::ReadOnly]));
    let answer = async |id: &str| {
        let receipt = conversation.send(IncomingMessage::new(id, id)).unwrap();
        in_time(receipt.ended()).await.unwrap().result.summary.clone()
    };
    assert_eq!(answer("a").await, "may change");
    assert!(conversation.set_mode(Mode::ReadOnly) && !conversation.set_mode(Mode::Auto));
    assert_eq!(answer("b").await, "reads");
}

#[tokio::test]
async fn an_answer_of_an_earlier_process_is_found_again() {
    let (_directory, transcripts) = transcripts();
    let model = answers_each();
    let log = log();
    let agent = Agent::builder(tools(&log).build().unwrap(), Arc::clone(&model))
        .final_answer(FinalAnswer::Text)
        .transcripts(transcripts)
        .approver(ScriptedApprover::new([Approval::allow()]))
        .build();
    let conversations = Conversations::new();
    let session = agent.session(&DelegationRequest::default()).unwrap();
    let first = conversations.open("one", session, ConversationOptions::new()).unwrap();
    let ended = in_time(first.send(IncomingMessage::new("a", "a")).unwrap().ended()).await.unwrap();
    in_time(first.end()).await;
    let session = agent.resume(first.id()).unwrap();
    assert_eq!((session.open_run(), session.consumer("a")), (None, Some(&*ended.run)));
    let again = conversations.open("one", session, ConversationOptions::new()).unwrap();
    let known = in_time(again.send(IncomingMessage::new("a", "a")).unwrap().ended()).await.unwrap();
    assert_eq!((&known.run, &known.result.summary), (&ended.run, &ended.result.summary));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_fork_goes_on_with_no_run_and_no_call_of_the_first_conversation() {
    let (_directory, transcripts) = transcripts();
    let model = scripted([Answer::calls([call("1", "stall", json!({}))]), Answer::text("new")]);
    let log = log();
    let agent = Agent::builder(tools(&log).build().unwrap(), Arc::clone(&model))
        .final_answer(FinalAnswer::Text)
        .transcripts(transcripts.clone())
        .build();
    let conversations = Conversations::new();
    let session = agent.session(&DelegationRequest::default()).unwrap();
    let first = conversations.open("one", session, ConversationOptions::new()).unwrap();
    let mut observation = first.observe();
    let running = first.send(IncomingMessage::new("a", "a")).unwrap();
    until(&mut observation, is_step).await;
    // The first conversation goes on while it is copied.
    let fork = agent.fork(first.id(), None).unwrap();
    assert_eq!((fork.open_run(), fork.consumer("a")), (None, None));
    let second = conversations.open("two", fork, ConversationOptions::new()).unwrap();
    let answer = in_time(second.send(IncomingMessage::new("a", "b")).unwrap().ended()).await.unwrap();
    assert_eq!((&*answer.result.summary, model.requests().len()), ("new", 2));
    in_time(first.end()).await;
    assert_eq!(in_time(running.ended()).await.unwrap().result.stop_reason, StopReason::Cancelled);
}

/// A conversation whose only run, with the message `a`, was interrupted before its last lines were written, opened again so that it does not go on by
/// itself. The last line is its end, the one before its answer.
async fn interrupted(transcripts: &Transcripts, conversations: &Conversations, lines: usize) -> Conversation {
    let log = log();
    let agent = Agent::builder(tools(&log).build().unwrap(), answers_each())
        .final_answer(FinalAnswer::Text)
        .transcripts(transcripts.clone())
        .build();
    let session = agent.session(&DelegationRequest::default()).unwrap();
    let first = conversations.open("one", session, ConversationOptions::new()).unwrap();
    in_time(first.send(IncomingMessage::new("a", "a")).unwrap().ended()).await.unwrap();
    in_time(first.end()).await;
    // As if the program had been killed before the end of the run was written.
    let path = transcripts.directory().join(format!("{}.jsonl", first.id()));
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().collect();
    let kept = &kept[..kept.len() - lines];
    std::fs::write(&path, format!("{}\n", kept.join("\n"))).unwrap();
    let session = agent.resume(first.id()).unwrap();
    assert!(session.open_run().is_some());
    conversations.open("one", session, ConversationOptions::new().resumes(false)).unwrap()
}

#[tokio::test]
async fn a_message_of_a_run_that_was_superseded_counts_as_consumed() {
    let (_directory, transcripts) = transcripts();
    let conversations = Conversations::new();
    let again = interrupted(&transcripts, &conversations, 1).await;
    in_time(again.send(IncomingMessage::new("b", "b")).unwrap().ended()).await.unwrap();
    let receipt = again.send(IncomingMessage::new("a", "a")).unwrap();
    assert!(in_time(receipt.clone().is_consumed()).await && in_time(receipt.ended()).await.is_none());
}

#[tokio::test]
async fn an_interrupted_run_goes_on_when_its_message_is_sent_again() {
    let (_directory, transcripts) = transcripts();
    let conversations = Conversations::new();
    let again = interrupted(&transcripts, &conversations, 2).await;
    let run = {
        let session = again.send(IncomingMessage::new("a", "a")).unwrap();
        // It can be cancelled at once.
        assert!(again.cancel_message("a"));
        in_time(session.ended()).await.unwrap()
    };
    assert_eq!(run.result.stop_reason, StopReason::Cancelled);
    in_time(again.end()).await;
    let texts = transcripts.messages(again.id()).unwrap();
    let tasks = texts.iter().filter(|message| message.kind == Kind::Task).count();
    assert_eq!(tasks, 1, "the message is not said twice");
    let text =
        std::fs::read_to_string(transcripts.directory().join(format!("{}.jsonl", again.id()))).unwrap();
    let runs: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| {
        runs.iter().filter(|line| line["record"] == kind).map(|line| line["run"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (of("run"), of("end")),
        (vec![run.run.clone().into(), run.run.clone().into()], vec![run.run.into()])
    );
}

#[tokio::test]
async fn a_run_that_was_interrupted_after_its_answer_ends_with_it_and_asks_nothing() {
    let (_directory, transcripts) = transcripts();
    let conversations = Conversations::new();
    let again = interrupted(&transcripts, &conversations, 1).await;
    let ended = in_time(again.send(IncomingMessage::new("a", "a")).unwrap().ended()).await.unwrap();
    assert_eq!((ended.result.stop_reason, &*ended.result.summary), (StopReason::Answered, "answer to a"));
    in_time(again.end()).await;
    let answers = transcripts.messages(again.id()).unwrap();
    assert_eq!(answers.iter().filter(|message| message.kind == Kind::Answer).count(), 1);
}

#[tokio::test]
async fn a_steering_message_is_taken_back_until_the_run_gets_it() {
    let stall = scripted([Answer::calls([call("1", "stall", json!({}))])]);
    let (_, conversation) = begin(&stall, ConversationOptions::new());
    let mut observation = conversation.observe();
    let _running = conversation.send(IncomingMessage::new("a", "a")).unwrap();
    until(&mut observation, is_step).await;
    let addition = conversation.send(IncomingMessage::new("b", "b").steering()).unwrap();
    assert_eq!(conversation.observe().waiting, ["b"]);
    assert!(conversation.cancel_message("b") && !conversation.cancel_message("b"));
    assert!(!in_time(addition.is_consumed()).await);
    in_time(conversation.end()).await;
}

fn is_step(event: &ObservedEvent) -> bool {
    matches!(event, ObservedEvent::Run { event, .. } if matches!(**event, AgentEvent::Step { .. }))
}

#[tokio::test]
async fn a_conversation_that_is_interrupted_goes_on_where_it_was() {
    let (_directory, transcripts) = transcripts();
    let agent = |model: &Arc<Scripted>| {
        let builder = Agent::builder(tools(&log()).build().unwrap(), Arc::clone(model));
        builder.final_answer(FinalAnswer::Text).transcripts(transcripts.clone()).build()
    };
    let conversations = Conversations::new();
    let stalls = scripted([Answer::calls([call("1", "stall", json!({}))])]);
    let session = agent(&stalls).session(&DelegationRequest::default()).unwrap();
    let conversation = conversations.open("one", session, ConversationOptions::new()).unwrap();
    let mut observation = conversation.observe();
    let [first, second] = ["a", "b"].map(|id| conversation.send(IncomingMessage::new(id, id)).unwrap());
    until(&mut observation, is_step).await;
    let run = conversation.running().unwrap();
    assert!(conversation.interrupt());
    // It has not ended: nobody is told so.
    assert!(in_time(first.clone().ended()).await.is_none() && in_time(first.is_consumed()).await);
    assert!(!in_time(second.is_consumed()).await, "no other run begins");
    in_time(conversation.end()).await;
    let mut seen = Vec::new();
    while let Some(observed) = in_time(observation.next()).await {
        seen.push(observed.unwrap().event);
    }
    let is_finish = |event: &ObservedEvent| matches!(event, ObservedEvent::Run { event, .. } if matches!(**event, AgentEvent::Finished { .. }));
    assert!(!seen.iter().any(is_finish), "{seen:?}");
    let told = [ObservedEvent::RunInterrupted { run: run.clone() }, ObservedEvent::Ended];
    assert_eq!(seen[seen.len() - 2..], told);

    let model = scripted([Answer::text("one"), Answer::text("two")]);
    let session = agent(&model).resume(conversation.id()).unwrap();
    assert_eq!((session.open_run(), session.end_of(&run)), (Some(&*run), None));
    let conversation = conversations.open("two", session, ConversationOptions::new()).unwrap();
    for (id, expected) in [("a", "one"), ("b", "two")] {
        let ended = conversation.send(IncomingMessage::new(id, id)).unwrap().ended();
        let ended = in_time(ended).await.unwrap();
        assert_eq!((&*ended.result.summary, ended.run == run), (expected, id == "a"));
    }
    conversations.end_all().await;
}

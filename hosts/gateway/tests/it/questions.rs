//! Questions of tools: kept over a restart, answered once, and no slot is held meanwhile.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolkit::approval::Answer;
use toolkit::prelude::*;
use toolkit::{ToolCall, tool_ref};
use toolkit_agent::{Agent, FinalAnswer, Limits, Transcripts};
use toolkit_gateway::{
    Acceptance, AgentError, AskOutcome, AskRecord, MessageId, QuestionError, Questions, RunState,
    SessionRecord, Sessions, SessionsOptions, Store, StoreOptions,
};
use toolkit_models::{Answer as ModelAnswer, Message, Scripted};

use crate::agents::{Ledger, in_time, until};
use crate::common::{key, message};

/// Pays, which must not be done twice; a person is asked first.
#[tool]
async fn pay(ledger: State<Ledger>, what: String) -> String {
    ledger.note(&what);
    format!("paid {what}")
}

/// A call for a message that begins with `pay`, and an answer with its result or the message.
fn model() -> Arc<Scripted> {
    Arc::new(Scripted::with(|request| match request.messages.last() {
        Some(Message::User(message)) => {
            let text = message.content.first().and_then(|part| part.as_text()).unwrap_or_default().to_owned();
            if text.starts_with("pay") {
                return ModelAnswer::calls([ToolCall::new(
                    format!("call-{text}"),
                    "pay",
                    json!({ "what": text }),
                )])
                .into();
            }
            ModelAnswer::text(format!("answer to {text}")).into()
        }
        Some(Message::Tools(results)) => ModelAnswer::text(
            results.results.iter().map(toolkit_models::ToolOutput::to_text).collect::<Vec<_>>().join("; "),
        )
        .into(),
        _ => ModelAnswer::text("nothing").into(),
    }))
}

struct Work {
    sessions: Sessions,
    questions: Questions,
    ledger: Arc<Ledger>,
    directory: tempfile::TempDir,
}

impl Work {
    async fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap()).await
    }

    async fn at(directory: tempfile::TempDir) -> Self {
        let store = Store::open(directory.path(), StoreOptions::new()).await.unwrap();
        let transcripts = Transcripts::new(directory.path().join("transcripts"));
        let questions = Questions::new(store.clone(), transcripts.clone());
        let ledger = Ledger::new(directory.path());
        let agents = agents(&ledger, &questions, transcripts);
        let sessions = Sessions::start(store, agents, SessionsOptions::new().max_runs(1)).await.unwrap();
        questions.give_slots_of(&sessions);
        Self { sessions, questions, ledger, directory }
    }

    async fn restart(self) -> Self {
        let Self { sessions, directory, questions, .. } = self;
        in_time(sessions.stop(Duration::ZERO)).await.unwrap();
        sessions.store().close().await;
        drop((sessions, questions));
        Self::at(directory).await
    }

    async fn send(&self, text: &str, peer: &str) -> MessageId {
        match self.sessions.send(message(text, peer)).await.unwrap() {
            Acceptance::Accepted { id } => id,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until so many questions wait.
    async fn asked(&self, count: usize) -> Vec<AskRecord> {
        until(self.sessions.store(), || async { self.questions.list().await.unwrap().len() == count }).await;
        self.questions.list().await.unwrap()
    }

    /// Waits until the run of a message has ended, and returns its state and its answer.
    async fn ended(&self, id: MessageId) -> (RunState, Option<String>) {
        let store = self.sessions.store();
        let run = async || {
            let run = store.message(id).await.unwrap().unwrap().run?;
            store.run(&run).await.unwrap().filter(|run| run.ended_at.is_some())
        };
        until(store, || async { run().await.is_some() }).await;
        let run = run().await.unwrap();
        let sent = store.deliveries_of(&run.id).await.unwrap();
        (run.state, sent.first().map(|part| part.body["text"].as_str().unwrap().to_owned()))
    }

    async fn answer(&self, ask: &AskRecord, answer: Answer) -> AskOutcome {
        self.questions.answer(&ask.code.to_lowercase(), answer, "ada").await.unwrap()
    }
}

/// Makes agents whose tool asks a person.
pub(crate) fn agents(
    ledger: &Arc<Ledger>,
    questions: &Questions,
    transcripts: Transcripts,
) -> impl Fn(&SessionRecord) -> Result<Agent, AgentError> + Send + Sync + 'static + use<> {
    let toolkit = Toolkit::empty()
        .shared_service(Arc::clone(ledger))
        .tool(tool_ref!(pay))
        .approver(questions.clone())
        .ask_store(Arc::new(questions.clone()))
        .build()
        .unwrap();
    let model = model();
    move |_: &SessionRecord| {
        Ok(Agent::builder(toolkit.clone(), Arc::clone(&model))
            .limits(Limits::none())
            .final_answer(FinalAnswer::Text)
            .transcripts(transcripts.clone())
            .build())
    }
}

#[tokio::test]
async fn a_question_outlives_the_process_and_its_answer_runs_the_call_once() {
    let work = Work::new().await;
    let sent = work.send("pay 5", "ada").await;
    let [ask] = &*work.asked(1).await else { panic!("one question") };
    assert_eq!(ask.session, Some(key("ada")));
    assert_eq!((&ask.ask["tool"], &ask.ask["question"]["type"]), (&json!("pay"), &json!("approve")));

    let work = work.restart().await;
    // The run goes on, and asks the same.
    let [again] = &*work.asked(1).await else { panic!("one question") };
    assert_eq!((&again.code, again.asked_at), (&ask.code, ask.asked_at));
    assert_eq!(work.ledger.lines(), [""; 0]);
    assert_eq!(work.answer(ask, Answer::allow()).await, AskOutcome::Answered);
    let second = work.answer(ask, Answer::deny()).await;
    assert!(
        matches!(second, AskOutcome::Unknown)
            || second == AskOutcome::AnsweredBefore { by: Some("ada".to_owned()) },
        "{second:?}"
    );
    assert_eq!(work.ended(sent).await, (RunState::Answered, Some("paid pay 5".to_owned())));
    assert_eq!(work.ledger.lines(), ["pay 5"]);
    assert!(work.asked(0).await.is_empty());

    let work = work.restart().await;
    assert_eq!(work.ledger.lines(), ["pay 5"]);
}

#[tokio::test]
async fn an_answer_that_came_while_no_run_waited_decides_the_call() {
    let work = Work::new().await;
    let sent = work.send("pay 5", "ada").await;
    let [ask] = &*work.asked(1).await else { panic!("one question") };
    in_time(work.sessions.stop(Duration::ZERO)).await.unwrap();
    assert_eq!(work.answer(ask, Answer::allow()).await, AskOutcome::Answered);
    assert_eq!(work.ledger.lines(), [""; 0]);
    let Work { sessions, directory, questions, .. } = work;
    sessions.store().close().await;
    drop((sessions, questions));
    let work = Work::at(directory).await;
    assert_eq!(work.ended(sent).await, (RunState::Answered, Some("paid pay 5".to_owned())));
    assert_eq!(work.ledger.lines(), ["pay 5"]);
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_holds_no_slot_and_gets_it_again() {
    let work = Work::new().await;
    let waits = work.send("pay 5", "ada").await;
    let [ask] = &*work.asked(1).await else { panic!("one question") };
    // There is one slot.
    let other = work.send("plain", "bob").await;
    assert_eq!(work.ended(other).await, (RunState::Answered, Some("answer to plain".to_owned())));
    let third = work.send("pay 6", "eve").await;
    let asks = work.asked(2).await;
    for ask in asks.iter().rev() {
        assert_eq!(work.answer(ask, Answer::allow()).await, AskOutcome::Answered);
    }
    assert_eq!(asks[0].code, ask.code);
    assert_eq!(work.ended(waits).await.1.as_deref(), Some("paid pay 5"));
    assert_eq!(work.ended(third).await.1.as_deref(), Some("paid pay 6"));
    let last = work.send("plain once more", "ada").await;
    assert_eq!(work.ended(last).await.0, RunState::Answered);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_and_a_denial_is_told() {
    let work = Work::new().await;
    let sent = work.send("pay 5", "ada").await;
    let [ask] = &*work.asked(1).await else { panic!("one question") };
    let unfit = work.questions.answer(&ask.code, Answer::value(json!({ "a": 1 })), "ada").await;
    assert!(matches!(unfit, Err(QuestionError::Unfit(_))), "{unfit:?}");
    assert_eq!(work.questions.answer("ZZZZZ", Answer::allow(), "ada").await.unwrap(), AskOutcome::Unknown);
    assert_eq!(work.answer(ask, Answer::deny()).await, AskOutcome::Answered);
    let (state, text) = work.ended(sent).await;
    assert_eq!(state, RunState::Answered);
    assert!(text.unwrap().contains("denied"), "the model reads it");
    assert_eq!(work.ledger.lines(), [""; 0]);
}

#[tokio::test]
async fn a_run_that_is_cancelled_takes_its_question_with_it() {
    let work = Work::new().await;
    let sent = work.send("pay 5", "ada").await;
    let [ask] = &*work.asked(1).await else { panic!("one question") };
    assert!(work.sessions.cancel(key("ada")).await.unwrap());
    assert_eq!(work.ended(sent).await.0, RunState::Cancelled);
    assert!(work.asked(0).await.is_empty());
    assert_eq!(work.answer(ask, Answer::allow()).await, AskOutcome::Unknown);
    assert_eq!(work.ledger.lines(), [""; 0]);
    // The next question of the session is another one.
    let sent = work.send("pay 6", "ada").await;
    let [ask] = &*work.asked(1).await else { panic!("one question") };
    assert_eq!(work.answer(ask, Answer::allow()).await, AskOutcome::Answered);
    assert_eq!(work.ended(sent).await.1.as_deref(), Some("paid pay 6"));
}

/// A store that is opened by hand, to see what a clean-up removes.
#[tokio::test]
async fn a_question_is_removed_seven_days_after_its_time_is_over() {
    let work = Work::new().await;
    work.send("pay 5", "ada").await;
    let [ask] = &*work.asked(1).await else { panic!("one question") };
    let (code, expires_at) = (ask.code.clone(), ask.expires_at);
    in_time(work.sessions.stop(Duration::ZERO)).await.unwrap();
    work.sessions.store().close().await;
    let at = |time| opened_at(work.directory.path(), time);
    let week = Duration::from_hours(7 * 24);
    let store = at(expires_at.after(week)).await;
    store.clean_up().await.unwrap();
    assert!(store.asks().await.unwrap().is_empty(), "its time is over");
    assert!(store.ask(&code).await.unwrap().is_some());
    store.close().await;
    let store = at(expires_at.after(week + Duration::from_millis(1))).await;
    store.clean_up().await.unwrap();
    assert!(store.ask(&code).await.unwrap().is_none());
    store.close().await;
}

async fn opened_at(directory: &Path, time: toolkit_gateway::Moment) -> Store {
    let options = StoreOptions::new().with_clock(toolkit_gateway::Clock::standing(time));
    Store::open(directory, options).await.unwrap()
}

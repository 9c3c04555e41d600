//! Sessions at work: each message is answered by one run, also over a restart.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use toolkit_gateway::{
    Acceptance, CancelOutcome, EventFilter, MessageId, MessageState, RunState, SessionKey, Sessions,
    SessionsOptions, SteerOutcome, Store, StoreOptions,
};
use toolkit_models::Scripted;

use crate::agents::{Ledger, agents, in_time, model, until};
use crate::common::{key, message, target};

struct Work {
    sessions: Sessions,
    ledger: Arc<Ledger>,
    model: Arc<Scripted>,
    directory: tempfile::TempDir,
}

impl Work {
    async fn new(options: SessionsOptions) -> Self {
        Self::at(tempfile::tempdir().unwrap(), options).await
    }

    async fn at(directory: tempfile::TempDir, options: SessionsOptions) -> Self {
        let store = Store::open(directory.path(), StoreOptions::new()).await.unwrap();
        let (ledger, model) = (Ledger::new(directory.path()), model());
        let agents = agents(directory.path(), &ledger, &model);
        let sessions = Sessions::start(store, agents, options).await.unwrap();
        Self { sessions, ledger, model, directory }
    }

    /// Stops within a time, and starts again.
    async fn restart(self, within: Duration, options: SessionsOptions) -> Self {
        let Self { sessions, directory, .. } = self;
        in_time(sessions.stop(within)).await.unwrap();
        sessions.store().close().await;
        drop(sessions);
        Self::at(directory, options).await
    }

    fn store(&self) -> &Store {
        self.sessions.store()
    }

    async fn send(&self, id: &str, peer: &str) -> MessageId {
        match self.sessions.send(message(id, peer)).await.unwrap() {
            Acceptance::Accepted { id } => id,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the run of a message has ended, and returns its state and what it sent.
    async fn ended(&self, id: MessageId) -> (RunState, Vec<String>) {
        until(self.store(), || async {
            let run = self.store().message(id).await.unwrap().unwrap().run;
            let Some(run) = run else { return false };
            self.store().run(&run).await.unwrap().unwrap().ended_at.is_some()
        })
        .await;
        let run = self.store().message(id).await.unwrap().unwrap().run.unwrap();
        let sent = self.store().deliveries_of(&run).await.unwrap();
        let texts = sent.iter().map(|part| part.body["text"].as_str().unwrap().to_owned()).collect();
        (self.store().run(&run).await.unwrap().unwrap().state, texts)
    }

    async fn state(&self, id: MessageId) -> MessageState {
        self.store().message(id).await.unwrap().unwrap().state
    }
}

fn answered(text: &str) -> (RunState, Vec<String>) {
    (RunState::Answered, vec![text.to_owned()])
}

#[tokio::test]
async fn each_session_answers_its_messages_in_order_and_to_their_peer() {
    let work = Work::new(SessionsOptions::new().steer(false)).await;
    let mut sent = Vec::new();
    for (id, peer) in [("a1", "ada"), ("b1", "bob"), ("a2", "ada"), ("b2", "bob"), ("a3", "ada")] {
        sent.push((id, peer, work.send(id, peer).await));
    }
    for (id, peer, message) in sent {
        assert_eq!(work.ended(message).await, answered(&format!("answer to {id}")));
        assert_eq!(work.state(message).await, MessageState::Consumed);
        let run = work.store().message(message).await.unwrap().unwrap().run.unwrap();
        assert_eq!(work.store().deliveries_of(&run).await.unwrap()[0].target, target(peer));
    }
    let of_ada: Vec<_> = work.ledger.lines().into_iter().filter(|line| line.starts_with('a')).collect();
    assert_eq!(of_ada, ["a1", "a2", "a3"]);
    // Each session has a transcript of its own.
    let transcript = async |peer| work.store().session(key(peer)).await.unwrap().unwrap().transcript.unwrap();
    assert_ne!(transcript("ada").await, transcript("bob").await);
}

#[tokio::test]
async fn no_more_runs_than_slots_are_under_way() {
    let work = Work::new(SessionsOptions::new().max_runs(1)).await;
    let first = work.send("hold a", "ada").await;
    in_time(work.ledger.held.cancelled()).await;
    let second = work.send("b1", "bob").await;
    assert_eq!(work.store().runs_in_flight().await.unwrap().len(), 1);
    assert_eq!(work.state(second).await, MessageState::Queued);
    work.ledger.released.cancel();
    assert_eq!(work.ended(first).await, answered("answer to hold a"));
    assert_eq!(work.ended(second).await, answered("answer to b1"));
}

#[tokio::test]
async fn a_message_of_the_same_sender_reaches_the_run_under_way() {
    let work = Work::new(SessionsOptions::new()).await;
    let first = work.send("hold a", "ada").await;
    in_time(work.ledger.held.cancelled()).await;
    let second = work.send("more", "ada").await;
    let other = message("other", "ada").with_sender("bob");
    let Acceptance::Accepted { id: third } = work.sessions.send(other).await.unwrap() else { panic!() };
    let fourth = work.send("late", "ada").await;
    assert_eq!(work.state(second).await, MessageState::Claimed);
    assert_eq!(work.state(third).await, MessageState::Queued, "somebody else sent it");
    assert_eq!(work.state(fourth).await, MessageState::Queued, "an earlier one waits");
    work.ledger.released.cancel();
    assert_eq!(work.ended(first).await, answered("answer to hold a and more"));
    let runs = async |id| work.store().message(id).await.unwrap().unwrap().run.unwrap();
    assert_eq!(work.ended(second).await, work.ended(first).await);
    assert_eq!(runs(first).await, runs(second).await);
    assert_eq!(work.ended(third).await, answered("answer to other"));
    assert_ne!(runs(third).await, runs(first).await);
    work.ended(fourth).await;
    assert_eq!(work.state(fourth).await, MessageState::Consumed);
}

#[tokio::test]
async fn a_run_is_cancelled_and_a_message_that_waits_is_taken_back() {
    let work = Work::new(SessionsOptions::new().steer(false)).await;
    let first = work.send("hold a", "ada").await;
    in_time(work.ledger.held.cancelled()).await;
    let (second, third) = (work.send("a2", "ada").await, work.send("a3", "ada").await);
    assert_eq!(work.sessions.cancel_message(second).await.unwrap(), CancelOutcome::Cancelled);
    assert!(work.sessions.cancel(key("ada")).await.unwrap());
    assert_eq!(work.ended(first).await.0, RunState::Cancelled);
    // The model sees the message of the cancelled run, too, and nothing of the one that was taken back.
    assert_eq!(work.ended(third).await, answered("answer to hold a and a3"));
    assert_eq!(work.state(second).await, MessageState::Cancelled);
    assert!(!work.ledger.lines().contains(&"a2".to_owned()));
    assert!(!work.sessions.cancel(key("ada")).await.unwrap(), "nothing is in flight");
    // The message that a run has begun with cancels it; nobody else's run.
    let work = Work::new(SessionsOptions::new()).await;
    let first = work.send("hold a", "ada").await;
    in_time(work.ledger.held.cancelled()).await;
    let steers = work.send("more", "ada").await;
    assert!(matches!(work.sessions.cancel_message(steers).await.unwrap(), CancelOutcome::TooLate { .. }));
    assert_eq!(work.store().runs_in_flight().await.unwrap().len(), 1);
    assert!(matches!(work.sessions.cancel_message(first).await.unwrap(), CancelOutcome::TooLate { .. }));
    assert_eq!(work.ended(first).await.0, RunState::Cancelled);
}

#[tokio::test]
async fn a_planned_stop_lets_runs_end_in_time_and_interrupts_the_rest() {
    let options = SessionsOptions::new().max_resumptions(0);
    let work = Work::new(options).await;
    let first = work.send("hold a", "ada").await;
    in_time(work.ledger.held.cancelled()).await;
    // It does not end in time, and goes on at the next start, although no crash is allowed: its call is told as interrupted.
    let work = work.restart(Duration::ZERO, options).await;
    assert_eq!(work.ended(first).await, answered("answer to hold a"));
    assert_eq!(work.ledger.lines(), ["hold a"], "the call is not repeated");
    // One that ends in time is not interrupted, and the next begins after the restart.
    let second = work.send("hold b", "ada").await;
    in_time(work.ledger.held.cancelled()).await;
    let other = message("a3", "ada").with_sender("bob");
    let Acceptance::Accepted { id: third } = work.sessions.send(other).await.unwrap() else { panic!() };
    let released = work.ledger.released.clone();
    let store = work.store().clone();
    let (work, ()) = tokio::join!(work.restart(Duration::from_mins(1), options), async { released.cancel() });
    drop(store);
    assert_eq!(work.ended(second).await, answered("answer to hold b"));
    assert_eq!(
        work.store()
            .run(&work.store().message(second).await.unwrap().unwrap().run.unwrap())
            .await
            .unwrap()
            .unwrap()
            .resumptions,
        0
    );
    assert_eq!(work.ended(third).await, answered("answer to a3"));
    assert_eq!(work.model.requests().len(), 2, "the second run was not asked for anew");
}

#[tokio::test]
async fn a_session_without_an_agent_says_so_and_harms_no_other() {
    let work = Work::new(SessionsOptions::new()).await;
    let other = SessionKey::main("other").unwrap();
    let message =
        toolkit_gateway::NewMessage::new("chat", "1", other.clone(), serde_json::json!({"text": "hello"}))
            .with_reply_to(target("ada"));
    let Acceptance::Accepted { id } = work.sessions.send(message).await.unwrap() else { panic!() };
    let without_text = toolkit_gateway::NewMessage::new("chat", "2", key("bob"), serde_json::json!("hello"));
    let Acceptance::Accepted { id: empty } = work.sessions.send(without_text).await.unwrap() else {
        panic!()
    };
    let failed = (RunState::Failed, vec!["there is no agent `other`".to_owned()]);
    assert_eq!(work.ended(id).await, failed);
    assert_eq!(work.ended(empty).await, (RunState::Failed, Vec::new()));
    let next = work.send("plain", "bob").await;
    assert_eq!(work.ended(next).await, answered("answer to plain"));
}

#[tokio::test]
async fn conversations_beyond_the_limit_are_closed_and_opened_again() {
    let work = Work::new(SessionsOptions::new().max_idle(2)).await;
    for round in 0..3 {
        for peer in ["ada", "bob", "cleo", "dora", "eve"] {
            let id = work.send(&format!("plain {peer} {round}"), peer).await;
            assert_eq!(work.ended(id).await, answered(&format!("answer to plain {peer} {round}")));
        }
    }
    let open = async || {
        let peers = ["ada", "bob", "cleo", "dora", "eve"];
        peers.into_iter().filter(|peer| work.sessions.observe(&key(peer)).is_some()).count()
    };
    // The last one is closed after its answer was stored.
    in_time(async {
        while open().await > 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // The model saw all that was said before.
    let last = work.model.requests().pop().unwrap();
    assert_eq!(
        last.messages.iter().filter(|message| matches!(message, toolkit_models::Message::User(_))).count(),
        3
    );
}

#[tokio::test]
async fn a_transcript_that_is_gone_or_damaged_is_told_and_the_session_goes_on() {
    let work = Work::new(SessionsOptions::new()).await;
    for peer in ["ada", "bob", "eve"] {
        let id = work.send(&format!("plain {peer}"), peer).await;
        work.ended(id).await;
    }
    let transcript =
        async |work: &Work, peer| work.store().session(key(peer)).await.unwrap().unwrap().transcript.unwrap();
    let (of_ada, of_bob) = (transcript(&work, "ada").await, transcript(&work, "bob").await);
    let of_eve = transcript(&work, "eve").await;
    let Work { sessions, directory, .. } = work;
    sessions.stop(Duration::from_mins(1)).await.unwrap();
    sessions.store().close().await;
    drop(sessions);
    let mut damaged = 0;
    for entry in walk(directory.path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains(&of_ada) {
            std::fs::remove_file(&entry).unwrap();
        } else if name.contains(&of_eve) {
            // As a loss of power may leave it.
            std::fs::write(&entry, "").unwrap();
        } else if name.contains(&of_bob) && entry.extension().is_some_and(|extension| extension == "jsonl") {
            let mut text = std::fs::read_to_string(&entry).unwrap();
            let last = text.trim_end().rfind('\n').unwrap();
            text.insert_str(last + 1, "damage\n");
            std::fs::write(&entry, text).unwrap();
            damaged += 1;
        }
    }
    assert_eq!(damaged, 1);
    let work = Work::at(directory, SessionsOptions::new()).await;
    for (peer, before) in [("ada", of_ada), ("bob", of_bob), ("eve", of_eve)] {
        let id = work.send(&format!("plain {peer} again"), peer).await;
        assert_eq!(work.ended(id).await.0, RunState::Answered, "{peer}");
        assert_ne!(transcript(&work, peer).await, before);
        let filter = EventFilter { session: Some(key(peer)), ..EventFilter::default() };
        let events = work.store().events(0, filter, 100).await.unwrap();
        let told = events.iter().find(|event| event.kind == "transcript.replaced").unwrap();
        assert_eq!(told.data["before"], before);
    }
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_its_agent_is_asked_asks_nothing() {
    let work = Work::new(SessionsOptions::new()).await;
    // The task of the run has not begun: this thread does not wait in between.
    let id = work.send("a1", "ada").await;
    until(work.store(), || async { work.store().run_in_flight(key("ada")).await.unwrap().is_some() }).await;
    assert!(work.sessions.cancel(key("ada")).await.unwrap());
    let (state, _) = work.ended(id).await;
    // It may have been answered just before.
    assert!(matches!(state, RunState::Cancelled | RunState::Answered), "{state:?}");
    let next = work.send("plain", "ada").await;
    assert_eq!(work.ended(next).await.0, RunState::Answered);
}

#[tokio::test]
async fn a_message_that_a_run_has_taken_before_a_crash_is_not_answered_twice() {
    let options = SessionsOptions::new().max_resumptions(0);
    let work = Work::new(options).await;
    let first = work.send("hold a", "ada").await;
    in_time(work.ledger.held.cancelled()).await;
    let second = work.send("more", "ada").await;
    work.ledger.released.cancel();
    let both = answered("answer to hold a and more");
    assert_eq!(work.ended(first).await, both);
    // The store is as it was before it knew of the end.
    let run = work.store().message(second).await.unwrap().unwrap().run.unwrap();
    let Work { sessions, directory, .. } = work;
    in_time(sessions.stop(Duration::from_mins(1))).await.unwrap();
    sessions.store().close().await;
    let file = rusqlite::Connection::open(sessions.store().file()).unwrap();
    file.execute("UPDATE inbox SET state = 'claimed'", []).unwrap();
    file.execute("DELETE FROM outbox", []).unwrap();
    file.execute("UPDATE runs SET state = 'running', ended_at = NULL", []).unwrap();
    drop((file, sessions));
    // Also where no crash is allowed: the end in the transcript counts, with all that it consumed.
    let work = Work::at(directory, options).await;
    assert_eq!(work.ended(first).await, both);
    assert_eq!(work.state(second).await, MessageState::Consumed);
    assert_eq!(work.store().message(second).await.unwrap().unwrap().run, Some(run));
    let next = work.send("plain", "ada").await;
    assert_eq!(work.ended(next).await, answered("answer to plain"));
    assert_eq!(work.ledger.lines(), ["hold a"]);
}

#[tokio::test]
async fn a_message_that_was_on_its_way_to_a_run_at_a_crash_is_not_overtaken() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), StoreOptions::new()).await.unwrap();
    let accept = async |id| match store.accept(message(id, "ada")).await.unwrap() {
        Acceptance::Accepted { id } => id,
        other => panic!("{other:?}"),
    };
    let first = accept("hold a").await;
    let run = store.claim(1).await.unwrap().unwrap().run;
    let second = accept("plain b").await;
    assert_eq!(store.steer(&run, second).await.unwrap(), SteerOutcome::Steered);
    // The process ended here.
    store.close().await;
    drop(store);

    let work = Work::at(directory, SessionsOptions::new()).await;
    in_time(work.ledger.held.cancelled()).await;
    let third = work.send("plain c", "ada").await;
    assert_eq!(
        (work.state(second).await, work.state(third).await),
        (MessageState::Queued, MessageState::Queued)
    );
    work.ledger.released.cancel();
    assert_eq!(work.ended(first).await, answered("answer to hold a"));
    let (_, answers) = work.ended(second).await;
    assert!(answers[0].starts_with("answer to plain b"), "{answers:?}");
    work.ended(third).await;
}

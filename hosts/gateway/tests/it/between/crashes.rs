//! A process that is killed while a session sends to one and begins another: each happens once, and the result arrives.

use std::path::Path;

use serde_json::json;
use toolkit_gateway::{
    Acceptance, MessageState, NewMessage, RunState, SessionFilter, SessionKind, SessionsOptions, Store,
    StoreOptions,
};

use super::{Settings, begin, call, key, model, send};
use crate::agents::{Ledger, in_time, until};
use crate::common::target;
use crate::process;

/// Tells the child that it is one, and where it works.
const PLACE: &str = "TOOLKIT_TEST_BETWEEN";

/// Points, and a pass of each.
const POINTS: &[(&str, u32)] = &[
    ("after_spawn", 1),
    ("after_send_between", 1),
    ("after_end_before_commit", 1),
    ("after_end_before_commit", 2),
    ("after_finish", 1),
    ("after_finish", 2),
    ("after_finish", 3),
    ("after_claim", 2),
    ("after_claim", 3),
    ("after_claim", 4),
    ("transcript_line", 5),
    ("transcript_line", 9),
    ("transcript_line", 14),
    ("transcript_line", 20),
    ("transcript_sync", 4),
    ("transcript_sync", 8),
];

/// One session begins a sub-agent, sends to another session and waits, and adds a job.
fn task() -> NewMessage {
    let effect = |id: &str| call("effect", &json!({ "id": id }));
    let spawn = call("sessions_spawn", &json!({ "prompt": effect("below") }));
    let job = call("cron", &json!({ "action": "add", "at": "2100-01-01T00:00:00Z", "prompt": "plain" }));
    let text = [spawn, send(&key("other"), &effect("other"), 3_600), job, effect("own")].join("\n");
    NewMessage::new("test", "1", key("main"), json!({ "text": text })).with_reply_to(target("main"))
}

async fn work(directory: &Path) {
    let (ledger, settings) = (Ledger::new(directory), Settings::default());
    let options = SessionsOptions::new().max_runs(1).max_resumptions(100).steer(false);
    let (sessions, _toolkit) = begin(directory, options, &settings, &ledger, &model()).await;
    let store = sessions.store().clone();
    store.open_session(key("other"), None, None).await.unwrap();
    sessions.send(task()).await.unwrap();
    let is_done = async || {
        let counts = store.counts(None).await.unwrap();
        counts.running + counts.waiting + counts.queued == 0
    };
    until(&store, is_done).await;
    in_time(sessions.stop(std::time::Duration::from_mins(1))).await.unwrap();
    store.close().await;
}

/// The process that the test below kills; without its place it does nothing.
#[tokio::test]
async fn process_to_be_killed() {
    if let Some(directory) = std::env::var_os(PLACE) {
        work(Path::new(&directory)).await;
    }
}

fn child(directory: &Path, point: Option<&str>) -> bool {
    process::run("between::crashes::process_to_be_killed", PLACE, directory, point)
}

#[tokio::test]
async fn whatever_point_a_gateway_is_killed_at_a_call_acts_once_and_its_result_arrives() {
    for (point, pass) in POINTS {
        let at = format!("{point}:{pass}");
        let place = tempfile::tempdir().unwrap();
        assert!(!child(place.path(), Some(&at)), "{at} was not passed");
        // It is killed once more at the same point, where it is passed again.
        child(place.path(), Some(&at));
        assert!(child(place.path(), None), "{at}: the next start fails");
        account(place.path(), &at).await;
    }
}

async fn account(directory: &Path, at: &str) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    assert!(store.check().await.unwrap().is_empty(), "{at}");
    let Acceptance::Again { id, state } = store.accept(task()).await.unwrap() else { panic!("{at}: lost") };
    assert_eq!(state, MessageState::Consumed, "{at}");
    let run = store.message(id).await.unwrap().unwrap().run.unwrap();
    assert_eq!(store.run(&run).await.unwrap().unwrap().state, RunState::Answered, "{at}");
    let answer = store.deliveries_of(&run).await.unwrap().remove(0).body["text"].as_str().unwrap().to_owned();
    let filter = SessionFilter { kinds: vec![SessionKind::Sub], ..SessionFilter::default() };
    let subs = store.sessions(filter).await.unwrap();
    // A call that was killed before it stored anything is reported, and not made again.
    let jobs = store.jobs(toolkit_gateway::JobFilter::default()).await.unwrap().len();
    let of_other = store.session(key("other")).await.unwrap().unwrap().message_count;
    let interrupted = answer.matches("interrupted: the program ended").count();
    let stored = subs.len() + usize::from(of_other > 0) + jobs;
    let done = stored + answer.matches("did own").count();
    assert!(
        subs.len() <= 1 && jobs <= 1 && done + interrupted == 4,
        "{at}: {subs:?} {jobs} {of_other} {answer}"
    );
    // Messages and their answers: for the session above, the task and the result.
    let count = async |key| store.session(key).await.unwrap().unwrap().message_count;
    assert_eq!(count(key("main")).await, if subs.is_empty() { 2 } else { 4 }, "{at}");
    if let Some(sub) = subs.first() {
        assert!(answer.contains(sub.key.as_str()), "{at}: {answer}");
        assert_eq!(sub.message_count, 2, "{at}");
    }
    assert!(of_other == 0 || of_other == 2, "{at}: {of_other}");
    assert_eq!(store.waits().await.unwrap(), [], "{at}");
    let mut effects = Ledger::new(directory).lines();
    effects.sort();
    effects.dedup();
    assert_eq!(effects.len(), Ledger::new(directory).lines().len(), "{at}: something was done twice");
    store.close().await;
}

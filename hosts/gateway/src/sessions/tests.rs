#![allow(clippy::unwrap_used)]

use serde_json::json;
use toolkit::prelude::*;
use toolkit::{CancellationToken, ToolCall, tool_ref};
use toolkit_agent::{Agent, FinalAnswer, Transcripts};
use toolkit_models::{Answer, Scripted};

use super::*;
use crate::store::{SessionRecord, StoreOptions};

#[derive(Default)]
struct Held {
    begun: CancellationToken,
    released: CancellationToken,
}

/// Ends when it is told to.
#[tool(auto_execute)]
async fn wait_in_drain(held: State<Held>) -> String {
    held.begun.cancel();
    held.released.cancelled().await;
    "done".to_owned()
}

async fn at_work(directory: &std::path::Path, held: &Arc<Held>) -> (Sessions, RunRecord) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    let toolkit = Toolkit::empty().shared_service(Arc::clone(held)).tool(tool_ref!(wait_in_drain));
    let toolkit = toolkit.build().unwrap();
    let model = Arc::new(Scripted::new([Answer::calls([ToolCall::new("1", "wait_in_drain", json!({}))])]));
    let transcripts = Transcripts::new(directory.join("transcripts"));
    let agents = move |_: &SessionRecord| {
        let agent = Agent::builder(toolkit.clone(), Arc::clone(&model));
        Ok(agent.final_answer(FinalAnswer::Text).transcripts(transcripts.clone()).build())
    };
    let sessions = Sessions::start(store, agents, SessionsOptions::new()).await.unwrap();
    let key = SessionKey::main("main").unwrap();
    sessions.send(NewMessage::new("test", "1", key.clone(), json!({ "text": "x" }))).await.unwrap();
    held.begun.cancelled().await;
    let run = sessions.store().run_in_flight(key).await.unwrap().unwrap();
    (sessions, run)
}

#[tokio::test]
async fn a_planned_stop_waits_for_runs_but_not_for_the_one_that_asked_for_it() {
    let (directory, held) = (tempfile::tempdir().unwrap(), Arc::new(Held::default()));
    let (sessions, run) = at_work(directory.path(), &held).await;
    let stopping = sessions.stop(Duration::from_hours(1));
    tokio::pin!(stopping);
    let waited = tokio::time::timeout(Duration::from_millis(50), &mut stopping).await;
    assert!(waited.is_err(), "it waits");
    sessions.do_not_drain(run.id.clone());
    stopping.await.unwrap();
    let run = sessions.store().run(&run.id).await.unwrap().unwrap();
    assert_eq!((run.ended_at, run.resumptions), (None, 0), "it goes on at the next start");
}

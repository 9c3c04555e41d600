//! The background tasks of a host: clean-up, and following its configuration.

use crate::bench::Bench;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::unbounded_channel;
use toolkit_host::Host;
use toolkit_host::toolkit_agent::{Agent, DelegationRequest};
use toolkit_host::toolkit_models::{Answer, Scripted};

#[tokio::test]
async fn old_files_are_removed_and_a_changed_configuration_is_loaded() {
    let bench = Bench::new(&json!({"tools": {"deny": ["write"]}}));
    let (swept, mut sweeps) = unbounded_channel();
    let (reloaded, mut reloads) = unbounded_channel();
    let host = Host::builder(bench.load())
        .with_toolkit(|toolkit| toolkit.sweeper("test", move || swept.send(()).unwrap()))
        .on_reload(move |outcome| reloaded.send(outcome.map(|reloaded| reloaded.changed)).unwrap())
        .build()
        .unwrap();
    sweeps.recv().await.unwrap();
    assert!(host.toolbox(host.caller()).await.tool("write").is_none());
    bench.write(&json!({"tools": {"deny": ["edit"]}}));
    assert_eq!(reloads.recv().await.unwrap().unwrap(), ["tools"]);
    assert!(host.toolbox(host.caller()).await.tool("write").is_some());
    assert_eq!(host.configuration().document()["tools"]["deny"], json!(["edit"]));

    host.shutdown(Duration::from_secs(5)).await;
    // The function that reports reloads is dropped with the task.
    assert_eq!(reloads.recv().await.map(|outcome| outcome.unwrap()), None);
}

#[tokio::test(start_paused = true)]
async fn conversations_beyond_a_limit_are_removed_some_minutes_after_the_start() {
    let bench = Bench::new(&json!({"transcripts": {"maxCount": 1}}));
    let prepared = Host::builder(bench.load()).background_tasks(false).build().unwrap();
    let transcripts = prepared.transcripts().unwrap().clone();
    let agent = Agent::builder(prepared.toolkit().clone(), Arc::new(Scripted::new([Answer::text("done")])))
        .transcripts(transcripts.clone())
        .build();
    let sessions = [(); 4].map(|()| agent.session(&DelegationRequest::default()).unwrap());
    let [open, awaited, old, _] = sessions.each_ref().map(|session| session.id().to_owned());
    let [first, others @ ..] = sessions;
    drop(others);
    for (age, id) in [&open, &awaited, &old].into_iter().enumerate() {
        let path = transcripts.directory().join(format!("{id}.jsonl"));
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(1 + age as u64)).unwrap();
    }
    let host = Host::builder(bench.load()).is_kept(move |id| id == awaited).build().unwrap();
    // Until then, a host opens again what goes on.
    tokio::time::sleep(Duration::from_mins(9)).await;
    assert_eq!(transcripts.list().len(), 4);
    // The latest one is kept, the one that is open, and the one that the host has a message for.
    while transcripts.list().len() > 3 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(transcripts.list().iter().all(|info| info.id != old));
    tokio::time::resume();
    host.shutdown(Duration::from_secs(5)).await;
    drop(first);
}

/// A host of one task needs no runtime to start.
#[test]
fn without_background_tasks_no_runtime_is_needed() {
    let bench = Bench::new(&json!({}));
    let host = Host::builder(bench.load()).background_tasks(false).build().unwrap();
    assert!(host.toolkit().tool("read").is_some());
}

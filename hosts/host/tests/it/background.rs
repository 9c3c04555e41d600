//! The background tasks of a host: clean-up, and following its configuration.

use crate::bench::Bench;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
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

#[tokio::test]
async fn conversations_beyond_a_limit_are_removed() {
    let bench = Bench::new(&json!({"transcripts": {"maxCount": 1}}));
    let prepared = Host::builder(bench.load()).background_tasks(false).build().unwrap();
    let transcripts = prepared.transcripts().unwrap().clone();
    let agent = Agent::builder(prepared.toolkit().clone(), Arc::new(Scripted::new([Answer::text("done")])))
        .transcripts(transcripts.clone())
        .build();
    let sessions = [(); 3].map(|()| agent.session(&DelegationRequest::default()).unwrap());
    let open = sessions[0].id().to_owned();
    let [first, second, third] = sessions;
    drop((second, third));
    assert_eq!(transcripts.list().len(), 3);
    let host = Host::builder(bench.load()).build().unwrap();
    // The latest one is kept, and the one that is open.
    while transcripts.list().len() > 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(transcripts.list().iter().any(|info| info.id == open));
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

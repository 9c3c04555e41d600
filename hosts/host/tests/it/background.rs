//! The background tasks of a host: clean-up, and following its configuration.

use crate::bench::Bench;
use serde_json::json;
use std::time::Duration;
use tokio::sync::mpsc::unbounded_channel;
use toolkit_host::Host;

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

/// A host of one task needs no runtime to start.
#[test]
fn without_background_tasks_no_runtime_is_needed() {
    let bench = Bench::new(&json!({}));
    let host = Host::builder(bench.load()).background_tasks(false).build().unwrap();
    assert!(host.toolkit().tool("read").is_some());
}

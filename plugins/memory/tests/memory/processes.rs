//! Several processes at once.

use super::bench::{ALLOWED, error, file_of, found, store, told, toolbox};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use toolkit::{ToolErrorKind, output::Retry};

#[tokio::test]
async fn a_writer_elsewhere_is_waited_for_and_then_told() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED, "plugins.memory.waitMs=50"]).await;
    store(&toolbox, "a note").await;
    let other = rusqlite::Connection::open(file_of(data.path(), "ada")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = error(&toolbox, "memory_store", json!({ "text": "another" })).await;
    assert_eq!((error.kind(), error.retry()), (ToolErrorKind::Unavailable, Retry::Now), "{error}");
    assert!(error.message().contains("in use"), "{error}");
    assert_eq!(found(&toolbox, "note").await, ["a note"], "readers need not wait");
    other.execute_batch("COMMIT").unwrap();
    store(&toolbox, "another").await;
}

const WHERE: &str = "TOOLKIT_MEMORY_TEST_DATA";

const PROCESSES: usize = 4;

const NOTES: usize = 25;

/// A process of its own for the test below; without that, nothing.
#[tokio::test]
async fn child() {
    let Ok(data) = std::env::var(WHERE) else { return };
    let toolbox = toolbox(Path::new(&data), "ada", &[ALLOWED]).await;
    for number in 0..NOTES {
        store(&toolbox, &format!("note {number} of the process {}", std::process::id())).await;
        store(&toolbox, &format!("number {number}")).await;
    }
}

/// They all begin with the file not there.
#[tokio::test]
async fn processes_write_at_once_and_nothing_is_lost() {
    let data = tempfile::tempdir().unwrap();
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::child"])
            .env(WHERE, data.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..PROCESSES).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    let last = told(&toolbox, "memory_store", json!({ "text": "last" })).await;
    assert_eq!(last["notes"], PROCESSES * NOTES + NOTES + 1, "the same note is there once");
    assert_eq!(found(&toolbox, "number").await.len(), 20);
}

//! Configuration, permissions and limits, and the owners of notes.

use super::bench::{ALLOWED, error, file_of, found, store, told, toolbox, toolkit};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use toolkit::lint::Lint;
use toolkit::prelude::*;
use toolkit::{
    ToolErrorKind,
    config::{Configuration, LoadOptions},
    descriptor::Source,
};

#[tokio::test]
async fn agents_see_nothing_of_each_other() {
    let data = tempfile::tempdir().unwrap();
    let toolkit = toolkit(data.path(), &[ALLOWED]);
    let long = "x".repeat(5_000);
    let agents = ["ada", "Ada", "../ada", "a/b", "", "nobody", "\u{0}", "*", long.as_str()];
    for agent in agents {
        let toolbox = toolkit.toolbox(&Caller::new().with_agent(agent)).await;
        assert!(found(&toolbox, "secret").await.is_empty(), "{agent:?}");
        store(&toolbox, &format!("secret of {}", agent.len())).await;
        store(&toolbox, "secret").await;
        assert_eq!(found(&toolbox, "secret").await.len(), 2, "{agent:?}");
    }
    let nobody = toolkit.toolbox(&Caller::new()).await;
    assert!(found(&nobody, "secret").await.is_empty());
    assert_eq!(
        error(&nobody, "memory_store", json!({ "text": "x y", "replaces": 1 })).await.kind(),
        ToolErrorKind::NotFound
    );
    let files: Vec<PathBuf> =
        fs::read_dir(data.path().join("memory")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let databases =
        files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "sqlite3"));
    assert_eq!(databases.count(), agents.len() + 1, "{files:?}");
    assert_eq!(fs::read_dir(data.path()).unwrap().count(), 1, "nothing elsewhere");
}

#[tokio::test]
async fn limits_hold_and_say_what_to_do() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED, "plugins.memory.maxNotes=2"]).await;
    let first = store(&toolbox, "first note").await;
    store(&toolbox, "second note").await;
    let full = error(&toolbox, "memory_store", json!({ "text": "third note" })).await;
    assert!(full.message().contains("the memory is full: it holds 2 notes"), "{full}");
    assert!(
        full.message().contains("`replaces`") && full.message().contains("plugins.memory.maxNotes"),
        "{full}"
    );
    // The same again is no further note, and one that is replaced makes room.
    let again = told(&toolbox, "memory_store", json!({ "text": "first note" })).await;
    assert_eq!(again, json!({ "id": first, "is_new": false, "notes": 2 }));
    let third = told(&toolbox, "memory_store", json!({ "text": "third note", "replaces": first })).await;
    assert_eq!((&third["is_new"], &third["notes"]), (&json!(true), &json!(2)));
    assert!(third["id"].as_i64().unwrap() > first, "an id is never used again");
    assert!(found(&toolbox, "first").await.is_empty());
    assert_eq!(found(&toolbox, "note").await.len(), 2);
    let gone = error(&toolbox, "memory_store", json!({ "text": "fourth", "replaces": first })).await;
    assert_eq!(gone.kind(), ToolErrorKind::NotFound);
    for arguments in [
        json!({ "text": "" }),
        json!({ "text": "x".repeat(4_001) }),
        json!({ "text": "x", "tags": [""] }),
        json!({ "text": "x", "tags": ["y".repeat(41)] }),
        json!({ "text": "x", "tags": vec!["y"; 11] }),
        json!({ "text": "x", "replaces": 0 }),
        json!({ "text": " -- " }),
    ] {
        let error = error(&toolbox, "memory_store", arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
    }
    for arguments in
        [json!({ "query": "" }), json!({ "query": "x".repeat(501) }), json!({ "query": "x", "limit": 21 })]
    {
        let error = error(&toolbox, "memory_search", arguments.clone()).await;
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}: {error}");
    }
    let longest = "漢".repeat(4_000);
    let arguments = json!({ "text": longest, "replaces": third["id"] });
    told(&toolbox, "memory_store", arguments).await;
    assert_eq!(found(&toolbox, "漢").await, [longest]);
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "a note").await;
    let keeps = rusqlite::Connection::open(file_of(data.path(), "ada")).unwrap();
    keeps.query_row("SELECT count(*) FROM notes", [], |_| Ok(())).unwrap();
    store(&toolbox, "another").await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data.path().join("memory")), 0o700);
    let files: Vec<PathBuf> =
        fs::read_dir(data.path().join("memory")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "with what SQLite keeps beside it: {files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn it_is_a_plugin_as_others() {
    let data = tempfile::tempdir().unwrap();
    let plain = toolkit(data.path(), &[]);
    for name in ["memory_store", "memory_search"] {
        let tool = plain.tool(name).unwrap();
        assert_eq!(*tool.source(), Source::Plugin { id: "memory".into() });
    }
    let toolbox = plain.toolbox(&Caller::new()).await;
    assert_eq!(
        error(&toolbox, "memory_store", json!({ "text": "x" })).await.kind(),
        ToolErrorKind::Denied,
        "it asks"
    );
    assert!(found(&toolbox, "x").await.is_empty(), "and nothing was stored");
    for settings in
        [["tools.deny=[\"memory\"]"], ["tools.allow=[\"group:mcp\"]"], ["plugins.memory.enabled=false"]]
    {
        let toolbox = toolkit(data.path(), &settings).toolbox(&Caller::new()).await;
        assert!(!toolbox.definitions().iter().any(|tool| tool.name.starts_with("memory")), "{settings:?}");
    }
    let denied = toolkit(data.path(), &["permission.memory=deny"]).toolbox(&Caller::new()).await;
    for (name, arguments) in
        [("memory_store", json!({ "text": "x" })), ("memory_search", json!({ "query": "x" }))]
    {
        assert_eq!(error(&denied, name, arguments).await.kind(), ToolErrorKind::Denied, "{name}");
    }
    for wrong in [
        "plugins.memory.maxNotes=0",
        "plugins.memory.maxNotes=1000001",
        "plugins.memory.waitMs=-1",
        "plugins.memory.file=x",
    ] {
        assert!(Configuration::load(LoadOptions::new().set(wrong)).is_err(), "{wrong}");
    }
}

/// A model stumbles over nothing in these tools.
#[test]
fn lint_finds_nothing() {
    let toolkit = Toolkit::builder().build().unwrap();
    assert!(toolkit.tools().len() >= 2, "{toolkit}");
    let findings = Lint::new().check(&toolkit.tools());
    assert!(findings.is_empty(), "{findings:#?}");
}

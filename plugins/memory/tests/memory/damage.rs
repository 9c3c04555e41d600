//! Files that are damaged, older, newer or none.

use super::bench::{ALLOWED, call, error, file_of, found, store, told, toolbox};
use serde_json::json;
use std::fs;
use std::path::Path;
use toolkit::ToolErrorKind;

#[tokio::test]
async fn a_damaged_memory_says_so_and_takes_nothing() {
    let garbage = vec![b'x'; 5_000];
    for (what, damage) in [
        (
            "no database",
            Box::new(move |file: &Path| fs::write(file, &garbage).unwrap()) as Box<dyn Fn(&Path)>,
        ),
        (
            "cut short",
            Box::new(|file| {
                let whole = fs::read(file).unwrap();
                fs::write(file, &whole[..whole.len() / 2]).unwrap();
            }),
        ),
        (
            "other tables",
            Box::new(|file| {
                fs::remove_file(file).unwrap();
                let other = rusqlite::Connection::open(file).unwrap();
                other.execute_batch("CREATE TABLE notes (x); PRAGMA user_version = 2;").unwrap();
            }),
        ),
        (
            "other tables of the first format",
            Box::new(|file| {
                fs::remove_file(file).unwrap();
                let other = rusqlite::Connection::open(file).unwrap();
                other.execute_batch("CREATE TABLE notes (x); PRAGMA user_version = 1;").unwrap();
            }),
        ),
        (
            "an index of nonsense",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database
                    .execute_batch("UPDATE words_data SET block = x'ffffffffffffffffffffffffffff';")
                    .unwrap();
            }),
        ),
        (
            "tags of nonsense",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database.execute_batch("UPDATE notes SET tags = 'nonsense';").unwrap();
            }),
        ),
        (
            "an index without what it was",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database.execute_batch("DELETE FROM words_data WHERE id > 10;").unwrap();
            }),
        ),
        (
            "a huge value",
            Box::new(|file| {
                let database = rusqlite::Connection::open(file).unwrap();
                database.execute_batch("UPDATE notes SET text = hex(zeroblob(2000000));").unwrap();
            }),
        ),
    ] {
        let data = tempfile::tempdir().unwrap();
        let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
        store(&toolbox, "a note").await;
        let file = file_of(data.path(), "ada");
        damage(&file);
        let result = call(&toolbox, "memory_search", json!({ "query": "note" })).await;
        let Err(error) = result.outcome else { panic!("{what}: {}", result.text()) };
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{what}: {error}");
        assert!(
            error.message().contains("damaged") && error.message().contains(file.to_str().unwrap()),
            "{what}: {error}"
        );
        // The advice of the error helps.
        for file in fs::read_dir(data.path().join("memory")).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        store(&toolbox, "a note").await;
        assert_eq!(found(&toolbox, "note").await.len(), 1, "{what}");
    }
}

/// A memory of the first format, whose index knew no symbols.
#[tokio::test]
async fn an_older_memory_is_indexed_anew() {
    let data = tempfile::tempdir().unwrap();
    let file = file_of(data.path(), "ada");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let older = rusqlite::Connection::open(&file).unwrap();
    older
        .execute_batch(
            "CREATE TABLE notes (
                id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, tags TEXT NOT NULL,
                stored INTEGER NOT NULL, digest BLOB NOT NULL UNIQUE
            );
            CREATE VIRTUAL TABLE words USING fts5(
                text, tags, content='', contentless_delete=1,
                tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* M* Co'\"
            );
            INSERT INTO notes VALUES (7, '🎂 12 May', '[\"☎ call\"]', 1790000000, x'00');
            INSERT INTO words (rowid, text, tags) VALUES (7, '12 may', 'call');
            PRAGMA user_version = 1;",
        )
        .unwrap();
    drop(older);
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    for query in ["🎂", "☎", "may", "call"] {
        assert_eq!(found(&toolbox, query).await, ["🎂 12 May"], "{query}");
    }
    let replaced = json!({ "text": "🎂 13 May", "replaces": 7 });
    told(&toolbox, "memory_store", replaced).await;
    assert_eq!(found(&toolbox, "🎂 12").await, ["🎂 13 May"]);
}

#[tokio::test]
async fn what_cannot_be_opened_is_told() {
    let data = tempfile::tempdir().unwrap();
    let toolbox = toolbox(data.path(), "ada", &[ALLOWED]).await;
    store(&toolbox, "a note").await;
    let file = file_of(data.path(), "ada");
    let newer = rusqlite::Connection::open(&file).unwrap();
    newer.execute_batch("PRAGMA user_version = 7;").unwrap();
    drop(newer);
    let newer = error(&toolbox, "memory_search", json!({ "query": "note" })).await;
    assert!(newer.message().contains("newer version of the plugin"), "{newer}");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    for name in ["memory_store", "memory_search"] {
        let argument = if name == "memory_store" { json!({ "text": "x" }) } else { json!({ "query": "x" }) };
        let error = error(&toolbox, name, argument).await;
        assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
        assert!(error.message().contains("cannot be used"), "{error}");
    }
    // The directory itself is in the way.
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("memory"), "").unwrap();
    let toolbox = self::toolbox(other.path(), "ada", &[ALLOWED]).await;
    let error = error(&toolbox, "memory_store", json!({ "text": "x" })).await;
    assert_eq!(error.kind(), ToolErrorKind::Unavailable, "{error}");
}

//! The file: made for its owner, opened once, and clear about what is wrong with it.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use toolkit_gateway::{Problem, Store, StoreError, StoreOptions};

use crate::common::{Place, key, message};

async fn open(directory: &Path) -> Result<Store, StoreError> {
    Store::open(directory, StoreOptions::new()).await
}

async fn problem(directory: &Path) -> (Problem, String) {
    let error = open(directory).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("gateway.db"), "{text}");
    (error.problem, text)
}

#[tokio::test]
async fn only_its_owner_can_read_it() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("new/data");
    let store = open(&directory).await.unwrap();
    store.accept(message("1", "ada")).await.unwrap();
    assert_eq!(std::fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
    let mut seen = 0;
    for entry in std::fs::read_dir(&directory).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.path());
        seen += 1;
    }
    assert!(seen >= 3, "the file, its log and the lock");
}

#[tokio::test]
async fn a_second_one_is_refused_while_the_first_is_open() {
    let place = Place::new().await;
    let (found, text) = problem(place.directory.path()).await;
    assert!(matches!(found, Problem::InUse), "{text}");
    let place = place.reopen().await;
    place.store.close().await;
    let error = place.store.accept(message("1", "ada")).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Closed), "{error}");
    assert!(matches!(place.store.session(key("ada")).await.unwrap_err().problem, Problem::Closed));
}

#[tokio::test]
async fn a_file_that_is_no_database_or_a_newer_one_is_named_and_left_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gateway.db");
    std::fs::write(&file, "this is not a database, and long enough to be read as one. ".repeat(100)).unwrap();
    let before = std::fs::read(&file).unwrap();
    let (found, text) = problem(place.path()).await;
    assert!(matches!(found, Problem::Damaged(_)), "{text}");
    assert_eq!(std::fs::read(&file).unwrap(), before);

    std::fs::remove_file(&file).unwrap();
    let store = open(place.path()).await.unwrap();
    store.close().await;
    drop(store);
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let (found, text) = problem(place.path()).await;
    assert!(matches!(found, Problem::Newer { found: 99, known: 3 }), "{text}");

    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.pragma_update(None, "user_version", 0).unwrap();
    drop(connection);
    let (_, text) = problem(place.path()).await;
    assert!(text.contains("another program"), "{text}");
}

#[tokio::test]
async fn damage_within_the_file_is_told_and_found_by_a_check() {
    let place = Place::new().await;
    for number in 0..50 {
        place.accept(&number.to_string(), &number.to_string()).await;
    }
    assert!(place.store.check().await.unwrap().is_empty());
    place.store.close().await;
    let file = place.store.file().to_owned();
    let mut bytes = std::fs::read(&file).unwrap();
    // Every page but the first, which holds the schema.
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0xa5;
    }
    std::fs::write(&file, bytes).unwrap();
    let Place { store, directory, .. } = place;
    drop(store);
    let error = match open(directory.path()).await {
        Ok(store) => {
            assert!(!store.check().await.is_ok_and(|wrong| wrong.is_empty()));
            store.accept(message("x", "ada")).await.unwrap_err()
        }
        Err(error) => error,
    };
    assert!(matches!(error.problem, Problem::Damaged(_)), "{error}");
    assert!(error.to_string().contains("put a backup in its place"), "{error}");
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_named() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = open(&file.join("data")).await.unwrap_err();
    assert!(error.to_string().contains("file/data"), "{error}");
}

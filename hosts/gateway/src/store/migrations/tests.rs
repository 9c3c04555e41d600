#![allow(clippy::unwrap_used)]

use super::*;

fn value(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn an_older_file_is_copied_and_then_brought_up_to_date() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gateway.db");
    std::fs::write(&file, "").unwrap();
    let steps = [
        "CREATE TABLE first (a INTEGER) STRICT; INSERT INTO first VALUES (7);",
        "ALTER TABLE first ADD COLUMN b INTEGER DEFAULT 8;",
    ];
    let mut connection = files::connect(&file).unwrap();
    run(&mut connection, &file, &steps[..1]).unwrap();
    let copy = place.path().join("gateway.format-1.db");
    assert!(!copy.exists(), "there was nothing to copy");

    run(&mut connection, &file, &steps).unwrap();
    assert_eq!(value(&connection, "SELECT a + b FROM first"), 15);
    assert_eq!(value(&connection, "PRAGMA user_version"), 2);
    let copy = Connection::open(copy).unwrap();
    assert_eq!((value(&copy, "SELECT a FROM first"), value(&copy, "PRAGMA user_version")), (7, 1));

    // Nothing is done twice, and a newer file is left as it is.
    run(&mut connection, &file, &steps).unwrap();
    assert!(matches!(run(&mut connection, &file, &steps[..1]), Err(Fault::Newer { found: 2, known: 1 })));
}

#[test]
fn a_step_that_fails_leaves_the_file_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("gateway.db");
    std::fs::write(&file, "").unwrap();
    let mut connection = files::connect(&file).unwrap();
    let steps = [
        "CREATE TABLE first (a INTEGER) STRICT;",
        "CREATE TABLE second (a INTEGER) STRICT; SELECT nonsense;",
    ];
    run(&mut connection, &file, &steps[..1]).unwrap();
    run(&mut connection, &file, &steps).unwrap_err();
    assert_eq!(value(&connection, "PRAGMA user_version"), 1);
    assert_eq!(value(&connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'second'"), 0);
}

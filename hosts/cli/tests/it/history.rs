//! Calls are recorded, and `history` lists, filters and shows them.
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture::person::Person;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A person who called `read` on two files, one of which exists.
fn reader() -> Person {
    let person = Person::new();
    fs::write(person.path("work/notes.txt"), "first line\n").unwrap();
    person.fine(&["call", "read", "--file-path", "notes.txt"]);
    person.fails(&["call", "--session", "other", "read", "--file-path", "absent.txt"]);
    person
}

fn listed(person: &Person, args: &[&str]) -> Vec<Value> {
    let args = [&["history", "-o", "json"], args].concat();
    person.fine(&args).json().as_array().unwrap().clone()
}

#[test]
fn calls_are_listed_and_filtered() {
    let person = reader();
    let all = listed(&person, &[]);
    assert_eq!(all.len(), 2, "{all:#?}");
    assert_eq!((&all[0]["tool"], &all[0]["status"]), (&"read".into(), &"ok".into()));
    assert_eq!(all[1]["status"], "error");
    for (args, expected) in [
        (&["--last", "1"][..], &["error"][..]),
        (&["--last", "0"], &[]),
        (&["--status", "ok"], &["ok"]),
        (&["--status", "interrupted"], &[]),
        (&["--tool", "read"], &["ok", "error"]),
        (&["--tool", "write"], &[]),
        (&["--of-session", "other"], &["error"]),
        (&["--since", "1h"], &["ok", "error"]),
        (&["--since", "0s"], &[]),
    ] {
        let found = listed(&person, args);
        let statuses: Vec<&str> = found.iter().filter_map(|call| call["status"].as_str()).collect();
        assert_eq!(statuses, expected, "{args:?}");
    }
    let text = person.fine(&["history"]).out;
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains(r#"read {"file_path":"notes.txt"}  ok ("#), "{text}");
    let error = person.fails(&["history", "--since", "yesterday"]);
    assert!(error.contains("`--since yesterday` is not an age"), "{error}");
}

#[test]
fn one_call_is_shown_in_full() {
    let person = reader();
    let all = listed(&person, &[]);
    let key = all[0]["key"].as_str().unwrap();
    let text = person.fine(&["history", key]).out;
    assert!(text.contains("first line") && text.contains("workspace: "), "{text}");
    let key = all[1]["key"].as_str().unwrap();
    assert!(person.fine(&["history", key]).out.contains("error:\n"));
    assert_eq!(person.fine(&["history", "-o", "json", key]).json()["key"], key);
    let error = person.fails(&["history", "no-such-key"]);
    assert!(error.contains("no recorded call has the key `no-such-key`"), "{error}");
}

#[test]
fn only_the_owner_reads_the_file_and_no_secret_is_in_it() {
    let person = Person::new();
    person.fails(&["call", "read", "--file-path", "sk-ant-api03-0123456789abcdefghijklmnop.txt"]);
    let file = person.path("data/history/calls.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"tool\":\"read\"") && !text.contains("0123456789abcdef"), "{text}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Nor does a tool read it.
    let error = person.fails(&["call", "read", "--file-path", file.to_str().unwrap()]);
    assert!(error.contains("not allowed: read "), "{error}");
}

#[test]
fn the_configuration_turns_it_off_and_a_fault_stops_no_call() {
    let person = Person::new();
    fs::write(person.path("work/notes.txt"), "first line\n").unwrap();
    let read = ["call", "read", "--file-path", "notes.txt"];
    fs::write(person.path("user/toolkit.json5"), "{ history: { enabled: false } }").unwrap();
    person.fine(&read);
    assert!(!person.path("data/history").exists());
    assert!(person.fine(&["history"]).err.contains("No calls are recorded"));
    fs::remove_file(person.path("user/toolkit.json5")).unwrap();
    fs::write(person.path("data/history"), "in the way").unwrap();
    assert_eq!(person.fine(&read).out, "     1→first line\n");
}

#[test]
fn a_line_that_cannot_be_read_is_noted() {
    let person = reader();
    let file = person.path("data/history/calls.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{{\"time\": broken\n{text}")).unwrap();
    let run = person.fine(&["history"]);
    assert_eq!(run.out.lines().count(), 2);
    assert!(run.err.contains("calls.jsonl:1: a line that cannot be read"), "{}", run.err);
}

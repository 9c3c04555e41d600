//! Memory that is limited: whatever does not fit is an error that names the limit, and the host goes on.

use super::{is_well, place, read, told};
use crate::hosts::{Http, Pipe, Place};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::process::Command;
use std::thread;

/// Addresses of the process in MiB, of which the program itself takes a part.
const LIMIT: u32 = 640;

/// Number of calls at once.
const MANY: usize = 60;

/// The command with limited addresses.
fn limited(place: &Place, args: &[&str]) -> Command {
    let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", LIMIT << 10);
    place.command_by(&["/bin/sh", "-c", &limit], args)
}

/// A place with a text that a search goes through as a whole, and a file that is too large to be edited within the limit.
fn full_place() -> Place {
    let place = place();
    fs::write(place.work().join("long.txt"), "a line of text\n".repeat(2 << 20)).unwrap();
    File::create(place.work().join("large.bin")).unwrap().set_len(250 << 20).unwrap();
    place
}

/// Arguments that take many times more memory than their text.
fn numbers(count: usize) -> Value {
    json!({"file_path": "notes.txt", "numbers": vec![0; count]})
}

#[track_caller]
fn names_the_limit(text: &str) {
    assert!(text.contains("not enough memory") && text.contains("`ulimit -v`"), "{text}");
}

#[test]
fn calls_beyond_the_memory_are_errors_and_the_server_goes_on() {
    let place = full_place();
    let mut server = Pipe::of(limited(&place, &["mcp", "serve"]));
    is_well(&mut server);
    let edit = json!({"file_path": "large.bin", "old_string": "one", "new_string": "two"});
    let (text, is_error) = told(&server.answer("edit", &edit));
    assert!(is_error);
    names_the_limit(&text);
    for response in server.responses(&vec![read(); 300]) {
        assert!(told(&response).0.contains("two"), "{response}");
    }
    let search = json!({"pattern": "(?s)text.*nowhere", "multiline": true, "path": "long.txt"});
    for response in server.responses(&vec![("grep", search); MANY]) {
        let (text, is_error) = told(&response);
        if is_error {
            names_the_limit(&text);
        } else {
            assert!(text.contains("no matches"), "{text}");
        }
    }
    is_well(&mut server);
}

#[test]
fn messages_beyond_the_memory_are_errors_and_the_server_goes_on() {
    let place = place();
    let mut server = Pipe::of(limited(&place, &["mcp", "serve"]));
    let mut refused = 0;
    let calls = [vec![("read", numbers(2_000_000)); 20], vec![("read", numbers(3_000)); 2_000]].concat();
    let ids = server.ask_aside(calls);
    for response in server.answers(&ids) {
        let message = response["error"]["message"].as_str();
        match message {
            Some(text) => {
                names_the_limit(text);
                refused += 1;
            }
            None => assert!(told(&response).0.contains("/numbers"), "{response}"),
        }
    }
    assert!(refused > 0);
    is_well(&mut server);
}

#[test]
fn requests_beyond_the_memory_are_told_to_come_later_and_the_server_goes_on() {
    let place = place();
    let server = Http::of(limited(&place, &["mcp", "serve", "--http", "127.0.0.1:0"]), &place);
    let session = server.begun();
    let refused = thread::scope(|scope| {
        let asking: Vec<_> = (0..MANY)
            .map(|_| {
                scope.spawn(|| {
                    let call = crate::hosts::call(7, "read", &numbers(1_900_000)).to_string();
                    server.exchange("POST", None, &call)
                })
            })
            .collect();
        let answers = asking.into_iter().map(|asked| asked.join().unwrap());
        answers.filter(|answer| answer.status == 503 && answer.body.contains("`ulimit -v`")).count()
    });
    assert!(refused > 0);
    assert!(server.call(&session, "read", &read().1).contains("two"));
}

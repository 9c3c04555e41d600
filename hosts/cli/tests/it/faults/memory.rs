//! Memory that is limited: whatever does not fit is an error that names the limit, and the host goes on.

use super::{is_well, place, read, told};
use crate::hosts::{Http, Pipe, Place};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::process::Command;

/// Number of calls at once.
const MANY: usize = 60;

/// The command with addresses limited to a number of MiB, of which the program itself takes a part.
fn limited(place: &Place, limit: u32, args: &[&str]) -> Command {
    let limit = format!("ulimit -v {}; exec \"$0\" \"$@\"", limit << 10);
    place.command_by(&["/bin/sh", "-c", &limit], args)
}

/// A place with a text that a search goes through as a whole, and a file that is too large to be edited within the limit.
fn full_place() -> Place {
    let place = place();
    fs::write(place.work().join("long.txt"), "a line of text\n".repeat(2 << 20)).unwrap();
    File::create(place.work().join("large.bin")).unwrap().set_len(250 << 20).unwrap();
    place
}

/// Arguments of 4 MB, which take more than 500 MiB once they are read.
fn large() -> Value {
    json!({"file_path": "a.txt", "numbers": vec![0; 2_000_000]})
}

#[track_caller]
fn names_the_limit(text: &str) {
    assert!(text.contains("not enough memory") && text.contains("`ulimit -v`"), "{text}");
}

#[test]
fn calls_beyond_the_memory_are_errors_and_the_server_goes_on() {
    let place = full_place();
    let mut server = Pipe::of(limited(&place, 640, &["mcp", "serve"]));
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
fn a_message_beyond_the_memory_is_an_error_and_the_server_goes_on() {
    let place = place();
    let mut server = Pipe::of(limited(&place, 500, &["mcp", "serve"]));
    let response = server.answer("read", &large());
    names_the_limit(response["error"]["message"].as_str().unwrap_or_default());
    assert!(told(&server.answer("read", &json!({"file_path": "x".repeat(1 << 20)}))).1);
    is_well(&mut server);
}

#[test]
fn a_request_beyond_the_memory_is_told_to_come_later_and_the_server_goes_on() {
    let place = place();
    let server = Http::of(limited(&place, 500, &["mcp", "serve", "--http", "127.0.0.1:0"]), &place);
    let session = server.begun();
    let call = crate::hosts::call(7, "read", &large());
    let answer = server.exchange("POST", Some(&session), &call.to_string());
    assert_eq!(answer.status, 503, "{answer:?}");
    names_the_limit(&answer.body);
    assert!(server.call(&session, "read", &read().1).contains("two"));
}

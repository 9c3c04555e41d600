//! Hosts under faults: each fault is named, no answer is "ok" with something missing, and the host goes on or ends in order.

#![cfg(all(target_os = "linux", feature = "mcp", feature = "fs"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod data;
mod memory;
mod signals;

use crate::hosts::{self, Http, Pipe, Place, job};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A place where commands run without a question.
fn place() -> Place {
    Place::new("{ tools: { exec: { security: 'auto' } }, permission: { edit: 'allow' } }")
}

fn read() -> (&'static str, Value) {
    ("read", json!({"file_path": "notes.txt"}))
}

fn exec(command: &str) -> (&'static str, Value) {
    ("exec", json!({"command": command}))
}

/// Makes two calls whose results do not depend on what is broken.
#[track_caller]
fn is_well(server: &mut Pipe) {
    let texts = server.calls(&[read(), exec("echo $((40 + 2))")]);
    assert!(texts[0].contains("two") && texts[1].contains("42"), "{texts:?} {}", server.host.said());
}

/// The text of a response, and true if it is an error.
fn told(response: &Value) -> (String, bool) {
    let blocks = response["result"]["content"].as_array().into_iter().flatten();
    let text: String = blocks.filter_map(|block| block["text"].as_str()).collect();
    (text, response["result"]["isError"] == true || response.get("error").is_some())
}

#[test]
fn sixty_four_descriptors_are_enough_or_the_error_names_them() {
    let place = place();
    let limited = ["/bin/sh", "-c", "ulimit -n 64; exec \"$0\" \"$@\""];
    let mut server = Pipe::of(place.command_by(&limited, &["mcp", "serve"]));
    for response in server.responses(&vec![read(); 300]) {
        let (text, is_error) = told(&response);
        assert!(text.contains("two") || is_error && text.contains("Too many open files"), "{response}");
    }
    // More jobs than there are descriptors for: those that began can be stopped, and those that did not said why.
    let began = server.responses(&vec![("exec", job::lasting()); 40]);
    let jobs: Vec<String> = began
        .iter()
        .filter_map(|response| match told(response) {
            (text, false) => Some(job::id_of(&text)),
            (text, true) => {
                assert!(text.contains("Too many open files"), "{response}");
                None
            }
        })
        .collect();
    assert!(!jobs.is_empty(), "{began:?}");
    for job in &jobs {
        server.call("process", &json!({"action": "stop", "task_id": job}));
    }
    is_well(&mut server);
}

#[test]
fn a_client_that_reads_late_gets_every_answer() {
    let place = place();
    let mut server = Pipe::mcp(&place);
    let ids = server.ask_aside(vec![read(); 3_000]);
    for response in server.answers(&ids) {
        assert!(hosts::text(&response).contains("two"), "{response}");
    }
    is_well(&mut server);
}

#[test]
fn a_warning_of_a_library_reaches_standard_error() {
    let place = place();
    let mut server = Pipe::mcp(&place);
    let long = json!({"file_path": "x".repeat(17 << 20)});
    assert!(told(&server.answer("read", &long)).1);
    server.host.says("warning: the client sent a line of more than 16777216 bytes");
    is_well(&mut server);
}

#[test]
fn a_thousand_connections_keep_nobody_out() {
    let place = place();
    let server = Http::start(&place);
    let idle: Vec<_> = (0..1_000).filter_map(|_| server.try_connect()).collect();
    let session = server.begun();
    assert!(server.call(&session, "read", &read().1).contains("two"));
    drop(idle);
    assert!(server.call(&session, "read", &read().1).contains("two"));
}

#[test]
fn a_configuration_that_becomes_garbage_changes_nothing_and_is_named() {
    let place = place();
    let mut server = Pipe::mcp(&place);
    is_well(&mut server);
    place.configure("{ tools: { allow: [");
    server.host.says("toolkit.json5");
    is_well(&mut server);
    place.configure("{ tools: { deny: ['read'], exec: { security: 'auto' } } }");
    let (name, arguments) = read();
    let began = Instant::now();
    while !told(&server.answer(name, &arguments)).1 {
        assert!(began.elapsed() < hosts::PATIENCE, "{}", server.host.said());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_workspace_that_is_removed_is_named_and_may_come_back() {
    let place = place();
    let mut server = Pipe::mcp(&place);
    is_well(&mut server);
    fs::remove_dir_all(place.work()).unwrap();
    for (name, arguments) in [read(), exec("echo 2"), ("grep", json!({"pattern": "two"}))] {
        let (text, is_error) = told(&server.answer(name, &arguments));
        assert!(is_error, "{name}: {text}");
    }
    fs::create_dir(place.work()).unwrap();
    fs::write(place.work().join("notes.txt"), "one\ntwo\n").unwrap();
    is_well(&mut server);
}

#[test]
fn a_directory_for_temporary_files_that_is_long_or_missing_stops_nothing() {
    let place = place();
    let long = place.path().join("t".repeat(200));
    fs::create_dir(&long).unwrap();
    for directory in [long, place.path().join("missing")] {
        let mut command = place.command(&["mcp", "serve"]);
        command.env("TMPDIR", &directory);
        is_well(&mut Pipe::of(command));
    }
}

#[test]
fn a_user_without_a_home_or_a_name_is_served() {
    let place = place();
    let owned = Command::new("chown").arg("-R").arg("65534:65534").arg(place.path()).status().unwrap();
    assert!(owned.success(), "this test needs to be root");
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "-u", "HOME"];
    let mut command = place.command_by(&other, &["mcp", "serve"]);
    command.env_remove("USER").env_remove("LOGNAME");
    is_well(&mut Pipe::of(command));
}

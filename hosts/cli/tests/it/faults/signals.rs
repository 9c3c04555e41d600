//! Signals during calls.

use super::{exec, place, read};
use crate::hosts::{self, Http, Pipe, Place};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpStream;

const CALLS: usize = 50;

fn is_answered(response: &Value) -> bool {
    response.get("result").is_some() || response["error"]["message"].is_string()
}

/// Returns `Some` if a command has made a file whose name ends with `.begun`.
fn begun(place: &Place) -> Option<()> {
    let mut files = fs::read_dir(place.work()).unwrap().flatten();
    files.any(|file| file.path().extension().is_some_and(|end| end == "begun")).then_some(())
}

#[test]
fn each_call_over_http_has_its_answer_when_the_host_is_told_to_end() {
    for signal in ["TERM", "HUP", "QUIT", "INT"] {
        let place = place();
        let mut server = Http::start(&place);
        let sessions: Vec<String> = (0..CALLS).map(|_| server.begun()).collect();
        let lasting = json!({"command": "touch $$.begun; sleep 1000"});
        let lasting = hosts::call(1, "exec", &lasting).to_string();
        let calls: Vec<TcpStream> =
            sessions.iter().map(|session| server.send("POST", Some(session), &lasting)).collect();
        // A request that the host has not read when the signal comes is no call yet, and has no answer.
        server.reads_all();
        server.host.becomes("a call runs", |_| begun(&place));
        server.host.signal(signal);
        let answers = calls.into_iter().map(|call| Http::answer_on(call).found().unwrap_or_default());
        let missing = answers.filter(|answer| !is_answered(answer)).count();
        assert_eq!(missing, 0, "{signal}: of {CALLS} calls");
        let status = server.host.end();
        assert!(status.code().is_some(), "{signal}: {status} {}", server.host.said());
    }
}

#[test]
fn each_call_over_stdio_has_its_answer_when_the_host_is_told_to_end() {
    for signal in ["TERM", "HUP", "QUIT", "INT"] {
        let place = place();
        let mut server = Pipe::mcp(&place);
        let ids = server.ask(&vec![exec("touch $$.begun; sleep 1000"); CALLS]);
        let mut told = server.ping();
        server.host.becomes("a call runs", |_| begun(&place));
        server.host.signal(signal);
        told.extend(server.rest());
        for id in ids {
            let answer = told.iter().find(|message| message["id"] == id && message.get("method").is_none());
            assert!(answer.is_some_and(is_answered), "{signal}: call {id} of {CALLS}: {answer:?}");
        }
        let status = server.host.end();
        assert!(status.code().is_some(), "{signal}: {status} {}", server.host.said());
    }
}

#[test]
fn a_host_that_was_stopped_goes_on() {
    let place = place();
    let mut server = Pipe::mcp(&place);
    let ids = server.ask(&vec![exec("echo $((40 + 2))"); CALLS]);
    server.host.signal("STOP");
    server.host.signal("CONT");
    let answers = server.answers(&ids);
    assert!(answers.iter().all(|answer| hosts::text(answer).contains("42")), "{answers:?}");
    assert!(server.call(read().0, &read().1).contains("two"));
}

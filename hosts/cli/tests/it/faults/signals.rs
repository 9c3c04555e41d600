//! Signals during calls.

use super::{exec, place, read};
use crate::hosts::{Http, Pipe};
use serde_json::{Value, json};
use std::thread;

const CALLS: usize = 50;

fn is_answered(response: &Value) -> bool {
    response.get("result").is_some() || response["error"]["message"].is_string()
}

#[test]
fn each_call_over_http_has_its_answer_when_the_host_is_told_to_end() {
    for signal in ["TERM", "HUP", "QUIT", "INT"] {
        let place = place();
        let mut server = Http::start(&place);
        let sessions: Vec<String> = (0..CALLS).map(|_| server.begun()).collect();
        let answers: Vec<Value> = thread::scope(|scope| {
            let lasting =
                |session| server.answered(session, "exec", &json!({"command": "touch $$.begun; sleep 1000"}));
            let calls: Vec<_> =
                sessions.iter().map(|session| scope.spawn(move || lasting(session))).collect();
            let begun = || {
                let files = std::fs::read_dir(place.work()).unwrap().flatten();
                files.filter(|file| file.path().extension().is_some_and(|end| end == "begun")).count()
            };
            while begun() == 0 {
                thread::sleep(std::time::Duration::from_millis(20));
            }
            server.host.signal(signal);
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        let missing = answers.iter().filter(|answer| !is_answered(answer)).count();
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
        let ids = server.ask(&vec![exec("touch begun; sleep 1000"); CALLS]);
        server.host.becomes("the first call runs", |_| place.work().join("begun").exists().then_some(()));
        server.host.signal(signal);
        let rest = server.rest();
        for id in ids {
            let answer = rest.iter().find(|message| message["id"] == id && message.get("method").is_none());
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
    assert!(answers.iter().all(|answer| crate::hosts::text(answer).contains("42")), "{answers:?}");
    assert!(server.call(read().0, &read().1).contains("two"));
}

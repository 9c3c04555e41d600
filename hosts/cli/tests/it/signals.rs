//! Ctrl-C and SIGTERM while a tool runs.

#![cfg(unix)]

use crate::fixture;

use fixture::command;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A call of a tool that never ends by itself, and that is under way.
struct Waiting {
    child: Child,
    err: BufReader<ChildStderr>,
    /// Kills the fixture unless this is dropped in time.
    _watched: mpsc::Sender<()>,
}

/// How long a test waits for the fixture to end.
const PATIENCE: Duration = Duration::from_secs(30);

fn kill(id: u32, signal: &str) {
    let status = Command::new("kill").args([format!("-{signal}"), id.to_string()]).status();
    assert!(status.expect("`kill` starts").success());
}

impl Waiting {
    fn call(args: &[&str]) -> Self {
        let child = command([&["call"], args].concat()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the fixture starts");
        let (watched, ended) = mpsc::channel();
        let id = child.id();
        thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                kill(id, "KILL");
            }
        });
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        err.read_line(&mut line).expect("text");
        assert_eq!(line, "waiting\n");
        Self { child, err, _watched: watched }
    }

    fn signal(&self, name: &str) {
        kill(self.child.id(), name);
    }

    /// Exit code, standard output and standard error once it ended.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut out, mut err) = (String::new(), String::new());
        self.err.read_to_string(&mut err).expect("text");
        self.child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
        (self.child.wait().expect("an end").code(), out, err)
    }
}

#[test]
fn a_signal_cancels_the_call() {
    let signals = [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)];
    for (tool, (signal, code)) in
        ["wait", "block"].into_iter().flat_map(|tool| signals.map(|one| (tool, one)))
    {
        let call = Waiting::call(&[tool]);
        call.signal(signal);
        let expected = (Some(code), String::new(), "error: the call was cancelled\n".to_owned());
        assert_eq!(call.end(), expected, "{tool} {signal}");
    }
}

#[test]
fn a_cancelled_call_has_its_result_too() {
    let call = Waiting::call(&["-o", "json", "wait"]);
    call.signal("INT");
    let (code, out, _) = call.end();
    let result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &result["error"]["kind"]), (Some(130), &serde_json::json!("aborted")));
}

/// A tool that blocks its thread cannot be cancelled, so one signal is not enough.
#[test]
fn a_second_signal_ends_the_process_at_once() {
    let mut call = Waiting::call(&["hog"]);
    // Signals that are not yet taken up are merged into one, so the second may have to be sent again.
    while call.child.try_wait().unwrap().is_none() {
        call.signal("INT");
        std::thread::yield_now();
    }
    assert_eq!(call.end(), (Some(130), String::new(), String::new()));
}

//! A server over stdio, and clients that send more than they read.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Number of requests of a client, far beyond those that are handled at once.
const MANY: u32 = 3000;

/// The greatest number of calls in progress.
const MAX_IN_FLIGHT: usize = 64;

struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts the example `served`, with at most `descriptors` open files, and begins a session.
    fn start(args: &[&str], descriptors: u32) -> Self {
        let test = std::env::current_exe().unwrap();
        let program = test.parent().and_then(Path::parent).unwrap().join("examples/served");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"")]).arg(program).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, input, output };
        // The example prints a line before it serves.
        client.output.read_line(&mut String::new()).unwrap();
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        assert_eq!(client.next()["id"], 0);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn note(id: u32, file: &Path, length: usize) -> Value {
    let params = json!({"name": "note", "arguments": {"file": file, "length": length}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().count()
}

#[test]
fn a_client_that_reads_only_after_all_requests_gets_every_answer() {
    let directory = tempfile::tempdir().unwrap();
    let notes = directory.path().join("notes");
    let mut client = Client::start(&[], 100);
    for id in 1..=MANY {
        client.send(&note(id, &notes, 1000));
    }
    // Those that wait are answered also after the end of the input.
    client.input = None;
    let mut answered = BTreeSet::new();
    for _ in 0..MANY {
        let answer = client.next();
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
        assert!(answered.insert(answer["id"].as_u64()), "{answer}");
    }
    assert!(client.server.wait().unwrap().success());
    assert_eq!(lines(&notes), MANY as usize);
}

#[test]
fn a_client_that_never_reads_has_few_calls_begun_and_is_left() {
    const LENGTH: usize = 16_000;
    let directory = tempfile::tempdir().unwrap();
    let notes = directory.path().join("notes");
    let mut client = Client::start(&["--read-within", "1"], 1024);
    for id in 1..=MANY {
        client.send(&note(id, &notes, LENGTH));
    }
    assert!(!client.server.wait().unwrap().success());
    let mut errors = String::new();
    client.server.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(errors.contains("Unread(1s)"), "{errors}");
    // 4 MiB of answers wait, beside those in the pipe, and of the calls in progress.
    let most = (4 << 20) / LENGTH + (1 << 20) / LENGTH + MAX_IN_FLIGHT;
    let begun = lines(&notes);
    assert!((MAX_IN_FLIGHT..=most).contains(&begun), "{begun} calls began, at most {most} may");
}

//! Hosts that speak JSON-RPC in lines: `toolkit mcp serve` and `toolkit acp`.

use super::place::{Host, Place};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::fd::OwnedFd;
use std::process::{ChildStdout, Command, Stdio};

pub(crate) struct Pipe {
    pub(crate) host: Host,
    input: File,
    output: Lines<BufReader<ChildStdout>>,
    last: u64,
}

impl Pipe {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut host = Host::start(command);
        let input = OwnedFd::from(host.child.stdin.take().expect("a pipe")).into();
        let output = BufReader::new(host.child.stdout.take().expect("a pipe")).lines();
        Self { host, input, output, last: 0 }
    }

    pub(crate) fn mcp(place: &Place) -> Self {
        Self::of(place.command(&["mcp", "serve"]))
    }

    /// The server of MCP that this command is.
    pub(crate) fn of(command: Command) -> Self {
        let mut pipe = Self::start(command);
        pipe.send(&super::initialize());
        pipe.answers(&[0]);
        pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        pipe
    }

    pub(crate) fn acp(place: &Place) -> Self {
        let mut pipe = Self::start(place.command(&["acp"]));
        pipe.request("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
        pipe
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("it reads");
    }

    /// The next message.
    fn message(&mut self) -> Value {
        let line = self.output.next().expect("it is still there").expect("text");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Sends a `ping`, and returns the messages before its response: then all that was sent before it is read.
    pub(crate) fn ping(&mut self) -> Vec<Value> {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": "ping"}));
        let mut before = Vec::new();
        loop {
            let message = self.message();
            if message["id"] == self.last && message.get("method").is_none() {
                return before;
            }
            before.push(message);
        }
    }

    /// The responses to these requests, in the order of the requests; other messages are dropped.
    pub(crate) fn answers(&mut self, ids: &[u64]) -> Vec<Value> {
        let mut found = vec![Value::Null; ids.len()];
        while found.iter().any(Value::is_null) {
            let message = self.message();
            let id = message.get("method").is_none().then(|| message["id"].as_u64()).flatten();
            if let Some(place) = id.and_then(|id| ids.iter().position(|asked| *asked == id)) {
                found[place] = message;
            }
        }
        found
    }

    /// The result of a request.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        let answer = self.answers(&[self.last]).remove(0);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The text of a call that succeeds.
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> String {
        self.calls(&[(name, arguments.clone())]).remove(0)
    }

    /// The texts of calls that are sent at once.
    pub(crate) fn calls(&mut self, calls: &[(&str, Value)]) -> Vec<String> {
        self.responses(calls).iter().map(super::text).collect()
    }

    /// The response to a call.
    pub(crate) fn answer(&mut self, name: &str, arguments: &Value) -> Value {
        self.responses(&[(name, arguments.clone())]).remove(0)
    }

    /// The responses to calls that are sent at once.
    pub(crate) fn responses(&mut self, calls: &[(&str, Value)]) -> Vec<Value> {
        let ids = self.ask(calls);
        self.answers(&ids)
    }

    /// Sends calls, and returns their ids.
    pub(crate) fn ask(&mut self, calls: &[(&str, Value)]) -> Vec<u64> {
        let mut ids = Vec::new();
        for (name, arguments) in calls {
            self.last += 1;
            ids.push(self.last);
            self.send(&super::call(self.last, name, arguments));
        }
        ids
    }

    /// Sends calls in a thread of its own, since the host may read nothing while nothing is read, and returns their ids at once. Nothing
    /// else may be sent until they are answered.
    pub(crate) fn ask_aside(&mut self, calls: Vec<(&'static str, Value)>) -> Vec<u64> {
        let mut input = self.input.try_clone().expect("a descriptor");
        let first = self.last + 1;
        self.last += calls.len() as u64;
        let ids: Vec<u64> = (first..=self.last).collect();
        let numbered = ids.clone();
        std::thread::spawn(move || {
            for (id, (name, arguments)) in numbered.into_iter().zip(calls) {
                writeln!(input, "{}", super::call(id, name, &arguments)).expect("it reads");
            }
        });
        ids
    }

    /// Everything that still comes, up to the end.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        self.output.by_ref().map(|line| serde_json::from_str(&line.expect("text")).expect("JSON")).collect()
    }
}

//! Hosts that speak JSON-RPC in lines: `toolkit mcp serve` and `toolkit acp`.

use super::place::{Host, Place};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};

pub(super) struct Pipe {
    pub(super) host: Host,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    last: u64,
}

impl Pipe {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut host = Host::start(command);
        let input = host.child.stdin.take().expect("a pipe");
        let output = BufReader::new(host.child.stdout.take().expect("a pipe")).lines();
        Self { host, input, output, last: 0 }
    }

    pub(super) fn mcp(place: &Place) -> Self {
        let mut pipe = Self::start(place, &["mcp", "serve"]);
        pipe.send(&super::initialize());
        pipe.answers(&[0]);
        pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        pipe
    }

    pub(super) fn acp(place: &Place) -> Self {
        let mut pipe = Self::start(place, &["acp"]);
        pipe.request("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
        pipe
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("it reads");
    }

    /// The responses to these requests, in the order of the requests; other messages are dropped.
    fn answers(&mut self, ids: &[u64]) -> Vec<Value> {
        let mut found = vec![Value::Null; ids.len()];
        while found.iter().any(Value::is_null) {
            let line = self.output.next().expect("it is still there").expect("text");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            let id = message.get("method").is_none().then(|| message["id"].as_u64()).flatten();
            if let Some(place) = id.and_then(|id| ids.iter().position(|asked| *asked == id)) {
                found[place] = message;
            }
        }
        found
    }

    /// The result of a request.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        let answer = self.answers(&[self.last]).remove(0);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The text of a call that succeeds.
    pub(super) fn call(&mut self, name: &str, arguments: &Value) -> String {
        self.calls(&[(name, arguments.clone())]).remove(0)
    }

    /// The texts of calls that are sent at once.
    pub(super) fn calls(&mut self, calls: &[(&str, Value)]) -> Vec<String> {
        let mut ids = Vec::new();
        for (name, arguments) in calls {
            self.last += 1;
            ids.push(self.last);
            self.send(&super::call(self.last, name, arguments));
        }
        self.answers(&ids).iter().map(super::text).collect()
    }
}

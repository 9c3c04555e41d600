//! A client of the Model Context Protocol over standard streams.

use super::toolkit;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use tempfile::TempDir;

pub(super) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u32,
}

impl Client {
    /// Starts `mcp serve` and initializes the session.
    pub(super) fn start(user: &TempDir) -> Self {
        let mut serve = toolkit(user, &["mcp", "serve"]);
        let mut server = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut client = Self { server, input, output, id: 0 };
        let info = json!({ "name": "test", "version": "1" });
        client.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
        );
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == self.id {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// Calls a tool and returns the result.
    pub(super) fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": name, "arguments": arguments }))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.server.wait();
    }
}

/// The bytes of a Base64 text.
pub(super) fn decoded(text: &str) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.trim_end_matches('=').bytes();
    let digits = digits
        .map(|letter| u32::try_from(LETTERS.iter().position(|known| *known == letter).unwrap()).unwrap());
    let digits: Vec<u32> = digits.collect();
    let bytes = digits.chunks(4).flat_map(|chunk| {
        let number = chunk.iter().fold(0, |number, digit| number << 6 | digit) << (6 * (4 - chunk.len()));
        let [_, bytes @ ..] = number.to_be_bytes();
        bytes.into_iter().take(chunk.len() - 1).collect::<Vec<_>>()
    });
    bytes.collect()
}

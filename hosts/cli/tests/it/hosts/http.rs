//! `toolkit mcp serve --http`, and clients that come, call, leave, or are never heard of again.

use super::place::{Host, Place};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) struct Http {
    pub(crate) host: Host,
    address: String,
    token: String,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: String,
}

impl Answer {
    /// The one JSON-RPC response that the body holds, as an event or alone.
    fn response(&self) -> Value {
        self.found().unwrap_or_else(|| panic!("no response: {self:?}"))
    }

    fn found(&self) -> Option<Value> {
        let line =
            self.body.lines().find_map(|line| line.strip_prefix("data: {")).map(|rest| format!("{{{rest}"));
        let text = line.as_deref().unwrap_or(&self.body);
        serde_json::from_str(text).ok()
    }
}

impl Http {
    pub(crate) fn start(place: &Place) -> Self {
        Self::of(place.command(&["mcp", "serve", "--http", "127.0.0.1:0"]), place)
    }

    /// The server that this command is.
    pub(crate) fn of(mut command: Command, place: &Place) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut host = Host::start(command);
        let said = host.says("/mcp\n");
        let address =
            said.lines().find_map(|line| line.strip_prefix("serving at http://")?.strip_suffix("/mcp"));
        let address = address.expect("an address").to_owned();
        let token = fs::read_to_string(place.data().join("mcp-token")).expect("a token");
        Self { host, address, token: token.trim().to_owned() }
    }

    fn connect(&self) -> TcpStream {
        self.try_connect().expect("it listens")
    }

    pub(crate) fn try_connect(&self) -> Option<TcpStream> {
        TcpStream::connect(&self.address).ok()
    }

    pub(crate) fn exchange(&self, method: &str, session: Option<&str>, body: &str) -> Answer {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(Duration::from_mins(2))).expect("a time limit");
        let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n{session}Content-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        read(&answer)
    }

    /// Begins a session.
    pub(crate) fn open(&self) -> String {
        let answer = self.exchange("POST", None, &super::initialize().to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.session.expect("the id of the session")
    }

    pub(crate) fn begun(&self) -> String {
        let session = self.open();
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let answer = self.exchange("POST", Some(&session), &begun.to_string());
        assert_eq!(answer.status, 202, "{answer:?}");
        session
    }

    /// The response to a call.
    pub(crate) fn answer(&self, session: &str, name: &str, arguments: &Value) -> Value {
        self.exchange("POST", Some(session), &super::call(1, name, arguments).to_string()).response()
    }

    /// The response to a call, null if there is none.
    pub(crate) fn answered(&self, session: &str, name: &str, arguments: &Value) -> Value {
        let answer = self.exchange("POST", Some(session), &super::call(1, name, arguments).to_string());
        answer.found().unwrap_or_default()
    }

    /// The text of a call that succeeds.
    pub(crate) fn call(&self, session: &str, name: &str, arguments: &Value) -> String {
        super::text(&self.answer(session, name, arguments))
    }

    pub(crate) fn end(&self, session: &str) {
        let answer = self.exchange("DELETE", Some(session), "");
        assert!((200..300).contains(&answer.status), "{answer:?}");
    }
}

fn read(bytes: &[u8]) -> Answer {
    let split = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("an end of the head");
    let (head, body) = bytes.split_at(split);
    let body = body.get(4..).unwrap_or_default();
    let head = String::from_utf8_lossy(head);
    let header = |name: &str| {
        head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = if header("transfer-encoding").is_some() { unchunked(body) } else { body.to_vec() };
    let body = String::from_utf8(body).expect("text");
    Answer { status, session: header("mcp-session-id"), body }
}

/// A body that was sent in chunks.
fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size =
            std::str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let size = size.expect("the size of a chunk");
        let start = end + 2;
        body.extend_from_slice(&rest[start..start + size]);
        if size == 0 {
            break;
        }
        rest = &rest[start + size + 2..];
    }
    body
}

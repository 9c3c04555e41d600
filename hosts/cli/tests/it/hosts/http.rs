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

    /// The response, if there is one.
    pub(crate) fn found(&self) -> Option<Value> {
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
        Self::answer_on(self.send(method, session, body))
    }

    /// Sends a request, and returns the connection that its answer comes on.
    pub(crate) fn send(&self, method: &str, session: Option<&str>, body: &str) -> TcpStream {
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
        stream
    }

    /// The answer to a request that was sent.
    pub(crate) fn answer_on(mut stream: TcpStream) -> Answer {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("it answers");
        read(&answer)
    }

    /// Waits until the host has read all that was sent to it.
    #[track_caller]
    pub(crate) fn reads_all(&mut self) {
        let port = self.address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
        self.host.becomes("it reads the requests", |_| (!is_unread(port)).then_some(()));
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

    /// The text of a call that succeeds.
    pub(crate) fn call(&self, session: &str, name: &str, arguments: &Value) -> String {
        super::text(&self.answer(session, name, arguments))
    }

    pub(crate) fn end(&self, session: &str) {
        let answer = self.exchange("DELETE", Some(session), "");
        assert!((200..300).contains(&answer.status), "{answer:?}");
    }
}

/// Returns true if something that was sent to a port of this machine is still to be read. Connections that are not accepted yet count too.
fn is_unread(port: u16) -> bool {
    const ESTABLISHED: &str = "01";
    const NOTHING: &str = "00000000";
    let is_there = |address: &str| {
        address.rsplit_once(':').is_some_and(|(_, found)| u16::from_str_radix(found, 16) == Ok(port))
    };
    let is_unread = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, local, remote, state, queues, ..] = fields[..] else { return false };
        let Some((sending, receiving)) = queues.split_once(':') else { return false };
        let waits_there = is_there(local) && receiving != NOTHING;
        let is_on_its_way = is_there(remote) && sending != NOTHING;
        state == ESTABLISHED && (waits_there || is_on_its_way)
    };
    fs::read_to_string("/proc/net/tcp").expect("the connections").lines().any(is_unread)
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

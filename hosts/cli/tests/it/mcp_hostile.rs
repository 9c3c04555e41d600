//! Clients and servers of the Model Context Protocol that mean harm, with a command that may have no more than 1 GiB of memory: whatever
//! asks for more gets none.

#![cfg(all(target_os = "linux", feature = "mcp", feature = "fs"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The limit of the whole address space, in KiB.
const LIMIT: u64 = 1 << 20;
/// The limit of the memory in use, in KiB.
const MOST: u64 = 192 << 10;

fn place(servers: &Value) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for directory in ["work", "user", "data"] {
        fs::create_dir(place.path().join(directory)).unwrap();
    }
    fs::write(place.path().join("work/notes.txt"), "one\ntwo\n").unwrap();
    let settings = json!({"mcp": servers, "permission": {"mcp": "allow"}});
    fs::write(place.path().join("user/toolkit.json5"), settings.to_string()).unwrap();
    place
}

/// The command, which gets no memory beyond the limit.
fn limited(place: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new("/bin/sh");
    let line = format!("ulimit -v {LIMIT}; exec \"$0\" \"$@\"");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_toolkit")]).args(args);
    command.current_dir(place.path().join("work")).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.env("TOOLKIT_CONFIG_DIR", place.path().join("user"));
    command.env("TOOLKIT_DATA_DIR", place.path().join("data")).stderr(Stdio::piped());
    command
}

/// The most memory that a process held, in KiB; nothing of one that is gone.
fn peak(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(place: &TempDir) -> Self {
        let mut child = limited(place, &["mcp", "serve", "--http", "127.0.0.1:0"]).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = loop {
            let line = said.next().unwrap().unwrap();
            let address = line.strip_prefix("serving at http://").and_then(|rest| rest.strip_suffix("/mcp"));
            if let Some(address) = address {
                break address.to_owned();
            }
        };
        // Its later output is not read, so it must not wait for that.
        std::thread::spawn(move || said.for_each(drop));
        let token = fs::read_to_string(place.path().join("data/mcp-token")).unwrap().trim().to_owned();
        Self { child, address, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    fn head(&self, more: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n{more}\r\n",
            self.address, self.token
        )
    }

    /// The status of the answer, and its beginning.
    fn answer(mut stream: TcpStream) -> (u16, String) {
        let mut answer = Vec::new();
        let mut buffer = [0; 4096];
        while answer.len() < 1 << 20 {
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => break,
                Ok(count) => answer.extend_from_slice(&buffer[..count]),
            }
        }
        let text = String::from_utf8_lossy(&answer).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, text)
    }

    fn post(&self, more: &str, body: &[u8]) -> (u16, String) {
        let mut stream = self.connect();
        let length = format!("Content-Length: {}\r\n{more}", body.len());
        let _ = stream.write_all(self.head(&length).as_bytes()).and_then(|()| stream.write_all(body));
        Self::answer(stream)
    }

    /// Checks that another client is served as if nothing had happened.
    fn is_well(&mut self, after: &str) {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "read", "arguments": {"file_path": "notes.txt"}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "well-meaning", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}
            }
        }});
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: read\r\n";
        let (status, text) = self.post(headers, call.to_string().as_bytes());
        assert!(status == 200 && text.contains("two"), "after {after}: {text}");
        assert!(self.child.try_wait().unwrap().is_none(), "after {after} it is gone");
        let peak = peak(&self.child);
        assert!(peak < MOST, "after {after} it held {peak} KiB");
    }
}

fn initialize() -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}
    }})
    .to_string()
    .into_bytes()
}

#[test]
fn clients_over_http_that_mean_harm_harm_nobody() {
    let place = place(&json!({}));
    let mut server = Server::start(&place);
    server.is_well("nothing");

    for body in [
        &b"{"[..],
        b"null",
        b"[[[[",
        b"\xff\xfe",
        b"{\"jsonrpc\":\"2.0\"}",
        b"{\"jsonrpc\":\"1.0\",\"id\":{},\"method\":7}",
    ] {
        let (status, text) = server.post("", body);
        assert!((400..500).contains(&status), "{text}");
    }
    let deep = "[".repeat(3 << 20);
    assert!((400..500).contains(&server.post("", deep.as_bytes()).0));
    server.is_well("what is no JSON");

    // More than it takes, said beforehand and not.
    let mut stream = server.connect();
    let head = server.head("Content-Length: 1000000000000\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b' '; 1 << 16]));
    assert_eq!(Server::answer(stream).0, 413);
    let piece = [&b"100000\r\n"[..], &vec![b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..8 {
        let mut stream = server.connect();
        stream.write_all(server.head("Transfer-Encoding: chunked\r\n").as_bytes()).unwrap();
        for _ in 0..512 {
            if stream.write_all(&piece).is_err() {
                break;
            }
        }
        let status = Server::answer(stream).0;
        assert!(status == 413 || status == 0, "{status}");
    }
    server.is_well("giant bodies");

    // Heads without an end.
    for _ in 0..8 {
        let mut stream = server.connect();
        let line = format!("X-More: {}\r\n", "x".repeat(8000));
        let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\n");
        for _ in 0..4_000 {
            if stream.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
        let status = Server::answer(stream).0;
        assert!(status == 431 || status == 400 || status == 0, "{status}");
    }
    server.is_well("giant heads");

    // Many that say little, slowly; and more than it takes at once.
    let slow: Vec<TcpStream> = (0..400)
        .map(|_| {
            let mut stream = server.connect();
            let _ = stream.write_all(server.head("Content-Length: 4000000\r\n").as_bytes());
            let _ = stream.write_all(&[b' '; 1 << 14]);
            stream
        })
        .collect();
    server.is_well("slow bodies");
    drop(slow);

    // Who is not let in, and who is somebody else's page.
    for (from, to) in [
        ("Authorization: Bearer ", "Authorization: Bearer x"),
        ("Authorization", "X-Authorization"),
        ("Connection: close", "Connection: close\r\nOrigin: https://evil.example"),
    ] {
        let head = server.head(&format!("Content-Length: {}\r\n", initialize().len())).replacen(from, to, 1);
        let mut stream = server.connect();
        stream.write_all(&[head.as_bytes(), &initialize()].concat()).unwrap();
        let (status, text) = Server::answer(stream);
        assert!(status == 401 || status == 403, "{text}");
    }
    let head = server.head(&format!("Content-Length: {}\r\n", initialize().len()));
    let host = head.replacen(&format!("Host: {}", server.address), "Host: evil.example", 1);
    let mut stream = server.connect();
    stream.write_all(&[host.as_bytes(), &initialize()].concat()).unwrap();
    assert_eq!(Server::answer(stream).0, 403);

    // More sessions than there are places for, none of which says goodbye: those that were left make room.
    for number in 0..1_500 {
        let mut stream = server.connect();
        stream.write_all(&[head.as_bytes(), &initialize()].concat()).unwrap();
        assert_eq!(Server::answer(stream).0, 200, "{number}");
    }
    let peak = peak(&server.child);
    assert!(peak < MOST, "after a flood of sessions it held {peak} KiB");
    assert!(server.child.try_wait().unwrap().is_none());
}

#[test]
fn a_client_at_standard_input_that_means_harm_is_told_or_left() {
    let place = place(&json!({}));
    for (what, bytes, times) in [
        ("what is no JSON", &b"{\"nonsense\n"[..], 20_000_usize),
        ("a line without an end", &vec![b'x'; 1 << 20], 500),
        ("brackets without an end", &vec![b'['; 1 << 20], 500),
    ] {
        let mut child = limited(&place, &["mcp", "serve"]).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let drain = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()).unwrap());
        let said = std::thread::spawn(move || {
            let mut text = Vec::new();
            err.by_ref().take(1 << 20).read_to_end(&mut text).unwrap();
            let _ = std::io::copy(&mut err, &mut std::io::sink());
            String::from_utf8_lossy(&text).into_owned()
        });
        for _ in 0..times {
            if input.write_all(bytes).is_err() {
                break;
            }
        }
        let held = peak(&child);
        drop(input);
        let status = child.wait().unwrap();
        drain.join().unwrap();
        let said = said.join().unwrap();
        assert!(held < MOST, "{what}: it held {held} KiB");
        assert!(status.code().is_some(), "{what}: {status} {said}");
        assert!(!said.contains("panicked") && !said.contains("memory allocation"), "{what}: {said}");
    }
}

#[test]
fn servers_that_mean_harm_harm_nobody() {
    let shell = |line: &str| json!({"command": "/bin/sh", "args": ["-c", line]});
    let place = place(&json!({
        "zeros": shell("exec cat /dev/zero"),
        "lines": shell("exec yes '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}'"),
        "brackets": shell("yes '[' | tr -d '\\n'"),
        "errors": shell("yes complaint >&2"),
        "silent": shell("exec sleep 1000"),
        "good": {"command": env!("CARGO_BIN_EXE_toolkit"), "args": ["mcp", "serve"]},
    }));
    let mut child = limited(&place, &["call", "good__read", "--file-path", "notes.txt"]).spawn().unwrap();
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("two"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );

    // All of them at once, for as long as a toolbox waits: on a busy machine, the good one may need more than that.
    let (mut text, mut said) = listed(&place);
    for _ in 1..6 {
        if text.contains("good__read") {
            break;
        }
        (text, said) = listed(&place);
    }
    assert!(text.contains("good__read"), "{text}{said}");
}

/// Lists the tools, with little memory and without a panic. Returns the list, and what was said meanwhile.
fn listed(place: &TempDir) -> (String, String) {
    let mut child = limited(place, &["list"]).spawn().unwrap();
    drop(child.stdin.take());
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let said = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).unwrap();
        text
    });
    let mut held = 0;
    while child.try_wait().unwrap().is_none() {
        held = held.max(peak(&child));
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    let said = said.join().unwrap();
    assert!(held > 0 && held < MOST, "it held {held} KiB");
    assert!(!said.contains("panicked") && !said.contains("memory allocation"), "{said}");
    (text, said)
}

//! `toolkit http`: the tools of a configuration over HTTP, for clients with tokens.

#![cfg(all(target_os = "linux", feature = "http", feature = "mcp", feature = "fs"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use super::hosts::{Host, Place};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

struct Served {
    host: Host,
    address: String,
    token: String,
}

impl Served {
    fn start(place: &Place, options: &[&str]) -> Self {
        let mut command = place.command(&[&["http", "127.0.0.1:0"], options].concat());
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut host = Host::start(command);
        let said = host.says("/v1/tools\n");
        let line = said.lines().find_map(|line| line.strip_prefix("serving at http://")).unwrap();
        let address = line.strip_suffix("/v1/tools").unwrap().to_owned();
        let token = fs::read_to_string(place.data().join("http-token")).unwrap().trim().to_owned();
        Self { host, address, token }
    }

    /// Sends a request, and returns the status and the JSON of the answer.
    fn send(&self, token: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn call(&self, token: &str, tool: &str, arguments: &Value) -> (u16, Value) {
        self.send(token, "POST", &format!("/v1/tools/{tool}/call"), &arguments.to_string())
    }
}

#[test]
fn tools_are_listed_and_called_and_the_command_ends_in_order() {
    let place = Place::new("{}");
    let mut served = Served::start(&place, &[]);
    let token = served.token.clone();
    let (status, list) = served.send(&token, "GET", "/v1/tools?group=fs", "");
    assert_eq!(status, 200);
    assert!(list["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "read"), "{list}");
    let (status, result) = served.call(&token, "read", &json!({ "file_path": "notes.txt" }));
    assert_eq!(status, 200, "{result}");
    assert!(result["content"][0]["text"].as_str().unwrap().contains("two"), "{result}");
    // Nobody can be asked.
    let (status, refused) = served.call(&token, "write", &json!({ "file_path": "new.txt", "content": "x" }));
    assert_eq!(status, 403, "{refused}");
    assert!(!place.work().join("new.txt").exists());
    assert_eq!(served.send("a-wrong-token-of-some-length", "GET", "/v1/tools", "").0, 401);
    let (status, document) = served.send(&token, "GET", "/v1/openapi.json", "");
    assert_eq!((status, &document["openapi"]), (200, &json!("3.1.0")));
    assert!(document["paths"]["/v1/tools/read/call"].is_object());
    served.host.signal("TERM");
    assert_eq!(served.host.end().code(), Some(0));
}

#[test]
fn a_token_of_a_client_counts_until_it_is_removed() {
    let place = Place::new("{}");
    let served = Served::start(&place, &[]);
    let token = |args: &[&str]| {
        let output = place.command(&[&["http", "token"], args].concat()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let laptop = token(&["add", "laptop"]).trim().to_owned();
    assert_eq!(token(&["list"]), "laptop\n");
    assert_eq!(served.send(&laptop, "GET", "/v1/tools", "").0, 200);
    token(&["remove", "laptop"]);
    assert_eq!(served.send(&laptop, "GET", "/v1/tools", "").0, 401);
    // A token of `mcp serve` opens nothing here.
    let mcp = place.command(&["mcp", "token", "add", "editor"]).output().unwrap();
    let mcp = String::from_utf8(mcp.stdout).unwrap();
    assert_eq!(served.send(mcp.trim(), "GET", "/v1/tools", "").0, 401);
}

#[test]
fn with_asks_the_client_answers_the_questions_of_its_calls() {
    let place = Place::new("{}");
    let served = Served::start(&place, &["--asks"]);
    let write = json!({ "file_path": "new.txt", "content": "x" });
    std::thread::scope(|scope| {
        let call = scope.spawn(|| served.call(&served.token, "write", &write));
        let id = loop {
            let (status, asks) = served.send(&served.token, "GET", "/v1/asks", "");
            assert_eq!(status, 200, "{asks}");
            if let Some(id) = asks["asks"][0]["id"].as_str() {
                break id.to_owned();
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let answer = json!({ "type": "allow", "scope": "always" }).to_string();
        let (status, answered) = served.send(&served.token, "POST", &format!("/v1/asks/{id}"), &answer);
        assert_eq!(status, 200, "{answered}");
        let (status, result) = call.join().unwrap();
        assert_eq!(status, 200, "{result}");
    });
    assert_eq!(fs::read_to_string(place.work().join("new.txt")).unwrap(), "x");
    // No approval is kept for others.
    let kept = place.command(&["permission", "list", "-o", "json"]).output().unwrap();
    assert!(!String::from_utf8(kept.stdout).unwrap().contains("new.txt"));
}

#[test]
fn an_address_that_other_machines_reach_needs_a_proxy_in_front() {
    let place = Place::new("{}");
    let output = place.command(&["http", "0.0.0.0:0"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("--behind-proxy"), "{text}");
}

//! `toolkit mcp login` and `logout`, with a server that wants to know who asks.

#![cfg(all(target_os = "linux", feature = "mcp"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A request to the server.
struct Asked {
    line: String,
    token: Option<String>,
    body: String,
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let (mut length, mut token) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => token = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line, token, body: String::from_utf8(body).ok()? })
}

/// The server's answer: the status with its headers, and the body.
fn answer(url: &str, asked: &Asked, tokens: &Mutex<Vec<String>>) -> (String, Value) {
    let path = asked.line.split(' ').nth(1).unwrap_or_default();
    let fine = |body: Value| ("200 OK".to_owned(), body);
    match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            fine(json!({"resource": format!("{url}/mcp"), "authorization_servers": [url]}))
        }
        "/.well-known/oauth-authorization-server" => fine(json!({
            "issuer": url, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token"),
            "registration_endpoint": format!("{url}/register"), "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"]
        })),
        "/register" => fine(json!({"client_id": "this-program", "redirect_uris": []})),
        "/token" => {
            assert!(asked.body.contains("code=the-code"), "{}", asked.body);
            tokens.lock().unwrap().push("Bearer very-secret".to_owned());
            fine(json!({"access_token": "very-secret", "token_type": "Bearer", "expires_in": 3600}))
        }
        "/mcp" => {
            if asked.token.is_none() || !tokens.lock().unwrap().contains(asked.token.as_ref().unwrap()) {
                let metadata = format!("{url}/.well-known/oauth-protected-resource/mcp");
                let header = format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"");
                return (format!("401 Unauthorized\r\n{header}"), Value::Null);
            }
            let message: Value = serde_json::from_str(&asked.body).unwrap_or_default();
            let result = match message["method"].as_str().unwrap_or_default() {
                "initialize" => json!({
                    "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "far", "version": "1"}
                }),
                "tools/list" => json!({"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}),
                "tools/call" => json!({"content": [{"type": "text", "text": "good day"}]}),
                _ if message["id"].is_null() => return ("202 Accepted".to_owned(), Value::Null),
                _ => {
                    let error = json!({"code": -32601, "message": "no such method"});
                    return fine(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
                }
            };
            fine(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        }
        _ => ("404 Not Found".to_owned(), Value::Null),
    }
}

/// Starts the server. Nobody ends it but the end of the tests.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (own, tokens) = (url.clone(), Arc::new(Mutex::new(Vec::new())));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (url, tokens) = (own.clone(), Arc::clone(&tokens));
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let Some(asked) = read(&stream) else { return };
                let (status, body) = answer(&url, &asked, &tokens);
                let body = if body.is_null() { String::new() } else { body.to_string() };
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            });
        }
    });
    url
}

fn toolkit(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    command.args(args).current_dir(directory.join("work")).stdin(Stdio::null());
    command.env("TOOLKIT_CONFIG_DIR", directory.join("user")).env("TOOLKIT_DATA_DIR", directory.join("data"));
    command.env("HOME", directory.join("work"));
    command
}

fn place(url: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in ["work", "user", "data"] {
        fs::create_dir(directory.path().join(name)).unwrap();
    }
    let settings = json!({"mcp": {
        "far": {"url": format!("{url}/mcp")},
        "near": {"command": "true"},
        "known": {"url": format!("{url}/mcp"), "headers": {"Authorization": "x"}},
    }, "permission": {"mcp": "allow"}});
    fs::write(directory.path().join("user/toolkit.json5"), settings.to_string()).unwrap();
    directory
}

fn run(directory: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = toolkit(directory, args).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// The value of a parameter in an address.
fn parameter(url: &str, name: &str) -> String {
    let value = url.split(['?', '&']).find_map(|pair| pair.strip_prefix(&format!("{name}="))).unwrap();
    value.replace("%3A", ":").replace("%2F", "/")
}

#[test]
fn a_person_signs_in_and_out() {
    let url = serve();
    let directory = place(&url);
    let (code, text) = run(directory.path(), &["call", "far__greet"]);
    assert_ne!(code, Some(0));
    assert!(text.contains("sign in with `toolkit mcp login far`"), "{text}");

    let mut login = toolkit(directory.path(), &["mcp", "login", "far", "--scope", "greeting"]);
    let mut login = login.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(login.stderr.take().unwrap());
    let opened = loop {
        let mut line = String::new();
        assert_ne!(said.read_line(&mut line).unwrap(), 0, "it shows no address");
        if line.contains("/authorize?") {
            break line.trim().to_owned();
        }
    };
    assert!(opened.starts_with(&url), "{opened}");
    assert_eq!(parameter(&opened, "scope"), "greeting");
    let back = parameter(&opened, "redirect_uri");
    let to: SocketAddr = back
        .strip_prefix("http://")
        .and_then(|rest| rest.strip_suffix("/callback"))
        .unwrap()
        .parse()
        .unwrap();
    assert!(to.ip().is_loopback());
    let mut browser = TcpStream::connect(to).unwrap();
    let state = parameter(&opened, "state");
    write!(browser, "GET /callback?code=the-code&state={state} HTTP/1.1\r\nHost: {to}\r\n\r\n").unwrap();
    let mut page = String::new();
    browser.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let output = login.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "Signed in to `far`: 1 tools (far 1, protocol 2025-06-18)\n");

    let (code, text) = run(directory.path(), &["call", "far__greet"]);
    assert_eq!((code, text.trim()), (Some(0), "good day"));
    let (code, text) = run(directory.path(), &["mcp", "logout", "far"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("Removed the tokens for `far`"), "{text}");
    let (code, text) = run(directory.path(), &["mcp", "logout", "far"]);
    assert_eq!((code, text.trim()), (Some(0), "No tokens are stored for `far`"));
    let (code, _) = run(directory.path(), &["call", "far__greet"]);
    assert_ne!(code, Some(0));

    // The data of a server that is configured no more is removed, too; of it alone.
    let kept = directory.path().join("data/mcp-oauth");
    fs::create_dir_all(&kept).unwrap();
    for (file, server) in [("1", "gone"), ("2", "other"), ("3", "far")] {
        let credentials = json!({"client_id": "c", "token_response": null});
        let text = json!({
            "server": server, "url": "https://elsewhere.example", "token_endpoint": "https://elsewhere.example/token",
            "credentials": credentials
        });
        fs::write(kept.join(file).with_extension("json"), text.to_string()).unwrap();
    }
    for name in ["gone", "far"] {
        let (code, text) = run(directory.path(), &["mcp", "logout", name]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.starts_with(&format!("Removed the tokens for `{name}`")), "{text}");
    }
    assert!(!kept.join("1.json").exists() && kept.join("2.json").exists() && !kept.join("3.json").exists());
    let (code, text) = run(directory.path(), &["mcp", "logout", "gone"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("there is no server `gone`"), "{text}");
}

#[test]
fn who_cannot_sign_in_is_told_why() {
    let directory = place("http://127.0.0.1:9");
    for (name, expected) in [
        ("near", "`near` is a command, which has no sign-in"),
        ("known", "has a header `Authorization` in its `headers`"),
        ("none", "there is no server `none`; `mcp list` lists those that are configured"),
        ("far", "`far` cannot be reached: "),
    ] {
        let (code, text) = run(directory.path(), &["mcp", "login", name]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

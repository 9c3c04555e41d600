//! `toolkit mcp serve`, as a client of the protocol starts it.

#![cfg(all(target_os = "linux", feature = "mcp", feature = "runtime"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn user() -> TempDir {
    let user = tempfile::tempdir().unwrap();
    for directory in ["work", "user", "data"] {
        fs::create_dir(user.path().join(directory)).unwrap();
    }
    fs::write(user.path().join("work/notes.txt"), "one\ntwo\n").unwrap();
    user
}

fn serve(user: &TempDir, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    command.args(["mcp", "serve"]).args(more).current_dir(user.path().join("work"));
    command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
    command.env("TOOLKIT_DATA_DIR", user.path().join("data"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(user: &TempDir, capabilities: &Value) -> Self {
        Self::start_with(user, &[], capabilities)
    }

    fn start_with(user: &TempDir, options: &[&str], capabilities: &Value) -> Self {
        let mut child = serve(user, options).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output };
        client.initialize(capabilities);
        client
    }

    fn initialize(&mut self, capabilities: &Value) {
        let info = json!({"name": "test", "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
        self.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        assert_eq!(self.next()["result"]["serverInfo"]["name"], "toolkit");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// The next message. All that comes is one.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    fn call(&mut self, id: u32, name: &str, arguments: &Value) {
        let params = json!({"name": name, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes of this machine whose command line has a text in it.
fn processes_with(text: &str) -> usize {
    let named = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(text)
    });
    named.count()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn tools_are_listed_and_called() {
    let user = user();
    let mut client = Client::start(&user, &json!({}));
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let listed = client.next();
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    // A client without forms cannot allow anything, so it is not shown what it could only be refused.
    assert!(["exec", "grep", "process", "read"].iter().all(|name| names.contains(name)), "{names:?}");
    assert!(["apply_patch", "edit", "write"].iter().all(|name| !names.contains(name)), "{names:?}");
    client.call(2, "read", &json!({"file_path": "notes.txt"}));
    let read = client.next();
    assert!(read["result"]["content"][0]["text"].as_str().unwrap().contains("two"));
    // Clients show structured content in place of the text, so it is there only where it says as much.
    let schema = |name: &str| {
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap()["outputSchema"].clone()
    };
    assert_eq!((&schema("read"), &read["result"]["structuredContent"]), (&Value::Null, &Value::Null));
    client.call(5, "grep", &json!({"pattern": "two"}));
    let found = client.next()["result"]["structuredContent"].clone();
    assert_eq!(found["results"][0]["lines"][0]["text"], "two");
    let required = schema("grep")["required"].as_array().unwrap().clone();
    assert!(required.iter().all(|name| found.get(name.as_str().unwrap()).is_some()), "{required:?} {found}");
    assert_eq!(required.len(), found.as_object().unwrap().len());
    client.call(3, "exec", &json!({"command": "echo said; cat notes.txt"}));
    let ran = client.next();
    assert!(ran["result"]["content"][0]["text"].as_str().unwrap().starts_with("said\none\n"), "{ran}");
    client.call(4, "write", &json!({"file_path": "new.txt", "content": "x"}));
    let denied = client.next();
    assert_eq!(denied["result"]["isError"], json!(true), "{denied}");
    assert!(!user.path().join("work/new.txt").exists());
    let said = denied["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("`permission.edit = \"allow\"`") && said.contains("--client-approves"), "{said}");
}

#[test]
fn a_command_of_which_each_needs_an_answer_is_not_shown_to_a_client_that_cannot_be_asked() {
    let shown = |settings: &str, capabilities: &Value| {
        let user = user();
        fs::write(user.path().join("user/toolkit.json5"), settings).unwrap();
        let mut client = Client::start(&user, capabilities);
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        let listed = client.next();
        let tools = listed["result"]["tools"].as_array().unwrap();
        let is_there = tools.iter().any(|tool| tool["name"] == "exec");
        (is_there, client)
    };
    let always = "{ tools: { exec: { ask: 'always' } } }";
    let (is_there, mut client) = shown(always, &json!({}));
    assert!(!is_there);
    client.call(2, "exec", &json!({"command": "pwd"}));
    let refused = client.next();
    let said = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("`tools.exec.ask` is `always`") && said.contains("on-miss"), "{said}");
    assert!(shown("{}", &json!({})).0);
    assert!(shown(always, &json!({"elicitation": {}})).0, "its user can be asked");
}

#[test]
fn what_an_unattended_caller_is_not_shown_is_explained() {
    let user = user();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
        command.args(args).current_dir(user.path().join("work")).stdin(Stdio::null());
        command.env("TOOLKIT_CONFIG_DIR", user.path().join("user"));
        let ran = command.env("TOOLKIT_DATA_DIR", user.path().join("data")).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned())
    };
    for args in [
        &["explain", "tool", "write", "--unattended"][..],
        &["describe", "write", "--unattended"],
        &["call", "--unattended", "write", "--file-path", "x"],
    ] {
        let (code, said) = run(args);
        assert_eq!(code, Some(5), "{args:?}: {said}");
        assert!(
            said.contains("each call needs approval") && said.contains("permission.edit = \"allow\""),
            "{said}"
        );
    }
    let listed = run(&["list", "--unattended"]).1;
    assert!(listed.contains("exec ") && !listed.contains("write "), "{listed}");
    assert!(run(&["list"]).1.contains("write "));
}

#[test]
fn the_clients_own_approval_allows_what_it_was_shown() {
    let user = user();
    fs::write(user.path().join("work/.env"), "KEY=1\n").unwrap();
    let rules = "{ permission: { exec: [{ match: 'touch *', do: 'deny' }] } }";
    fs::write(user.path().join("user/toolkit.json5"), rules).unwrap();
    let mut client = Client::start_with(&user, &["--client-approves"], &json!({}));
    for (id, tool, arguments, is_error) in [
        (1, "write", json!({"file_path": "new.txt", "content": "x"}), false),
        (2, "exec", json!({"command": "mkdir made"}), false),
        // A call that a rule denies, that is about secrets or that runs commands later is not for the client to allow.
        (3, "exec", json!({"command": "touch denied"}), true),
        (4, "exec", json!({"command": "cp .env copy"}), true),
        (5, "read", json!({"file_path": ".env"}), true),
        (6, "write", json!({"file_path": ".git/hooks/pre-commit", "content": "x"}), true),
    ] {
        client.call(id, tool, &arguments);
        let answered = client.next();
        assert_eq!(
            answered["result"]["isError"].as_bool().unwrap_or_default(),
            is_error,
            "{arguments}: {answered}"
        );
    }
    let work = user.path().join("work");
    assert!(work.join("new.txt").exists() && work.join("made").exists());
    assert!(["denied", "copy", ".git"].iter().all(|name| !work.join(name).exists()));
}

#[test]
fn what_a_tool_asks_is_asked_of_the_client() {
    let user = user();
    let mut client = Client::start(&user, &json!({"elicitation": {}}));
    for (id, action, is_there) in [(1, "decline", false), (2, "accept", true)] {
        client.call(id, "write", &json!({"file_path": "new.txt", "content": "x\n"}));
        let asked = client.next();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert!(asked["params"]["message"].as_str().unwrap().contains("new.txt"), "{asked}");
        let result = json!({"action": action, "content": {}});
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
        let answered = client.next();
        assert_eq!(answered["result"]["isError"], json!(!is_there), "{answered}");
        assert_eq!(user.path().join("work/new.txt").exists(), is_there);
    }
}

#[test]
fn a_command_that_the_client_cancels_is_gone() {
    let user = user();
    fs::write(
        user.path().join("user/toolkit.json5"),
        "{ permission: { exec: [{ match: 'sleep *', do: 'allow' }] } }",
    )
    .unwrap();
    let mut client = Client::start(&user, &json!({}));
    let mark = format!("98765{}", std::process::id());
    client.call(1, "exec", &json!({"command": format!("sleep {mark}")}));
    wait_until("the command's start", || processes_with(&mark) > 0);
    let params = json!({"requestId": 1, "reason": "enough"});
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    wait_until("the command's end", || processes_with(&mark) == 0);
    client.call(2, "read", &json!({"file_path": "notes.txt"}));
    let next = client.next();
    assert_eq!(next["id"], json!(2), "{next}");
}

#[test]
fn a_changed_configuration_takes_effect_while_it_serves() {
    let user = user();
    // As a whole, so that no part of it is read.
    let configure = |text: &str| {
        let new = user.path().join("user/new");
        fs::write(&new, text).unwrap();
        fs::rename(new, user.path().join("user/toolkit.json5")).unwrap();
    };
    configure("{}");
    let mut client = Client::start(&user, &json!({}));
    let log = BufReader::new(client.child.stderr.take().unwrap());
    let (told, notes) = std::sync::mpsc::channel();
    std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| told.send(line)));
    let note = || notes.recv_timeout(Duration::from_mins(1)).expect("a note");
    client.call(1, "read", &json!({"file_path": "notes.txt"}));
    assert_eq!(client.next()["result"]["isError"], json!(false));
    configure("{ tools: { deny: ['read'] } }");
    // The server notifies the client of the change.
    assert_eq!(client.next()["method"], "notifications/tools/list_changed");
    assert_eq!(note(), "note: the configuration was reloaded; changed: tools");
    client.call(2, "read", &json!({"file_path": "notes.txt"}));
    let denied = client.next();
    assert_eq!(denied["result"]["isError"], json!(true), "{denied}");
    assert!(denied["result"]["content"][0]["text"].as_str().unwrap().contains("/tools/deny/0"), "{denied}");
    // A file that cannot be used changes nothing.
    configure("{ tools: { dney: [] } }");
    let refused = [note(), note()].concat();
    assert!(refused.contains("stays in effect") && refused.contains("did you mean `deny`"), "{refused}");
    client.call(3, "read", &json!({"file_path": "notes.txt"}));
    assert_eq!(client.next()["result"]["isError"], json!(true));
    configure("{}");
    assert_eq!(client.next()["method"], "notifications/tools/list_changed");
    assert_eq!(note(), "note: the configuration was reloaded; changed: tools");
    client.call(4, "read", &json!({"file_path": "notes.txt"}));
    assert_eq!(client.next()["result"]["isError"], json!(false));
}

#[test]
fn old_outputs_are_removed_while_it_serves() {
    let user = user();
    let session = user.path().join("data/tool-output/s");
    fs::create_dir_all(&session).unwrap();
    let old = session.join(format!("{:016}.txt", 1));
    fs::write(&old, "old").unwrap();
    let week = std::time::SystemTime::now() - Duration::from_hours(8 * 24);
    fs::File::options().write(true).open(&old).unwrap().set_modified(week).unwrap();
    // No tool is called, which would remove it too.
    let _client = Client::start(&user, &json!({}));
    wait_until("the removal of an old output", || !old.exists());
}

#[test]
fn it_ends_with_its_client() {
    let user = user();
    let mut child = serve(&user, &[]).spawn().unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
}

#[test]
fn what_is_no_protocol_is_told_and_not_answered_on_the_protocols_stream() {
    let user = user();
    let mut child = serve(&user, &[]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}\n").unwrap();
    drop(input);
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(told.contains("did not initialize as the protocol requires"), "{told}");
    for line in String::from_utf8_lossy(&ended.stdout).lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn over_http_a_token_is_needed_which_is_made_once() {
    let user = user();
    let token_file = user.path().join("data/mcp-token");
    for is_new in [true, false] {
        let mut child = serve(&user, &["--http", "127.0.0.1:0"]).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let serving = told.next().unwrap();
        let address = serving.strip_prefix("serving at http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.unwrap_or_else(|| panic!("{serving}")).to_owned();
        let said = told.next().unwrap();
        let token = fs::read_to_string(&token_file).unwrap().trim().to_owned();
        assert_eq!(said.contains(&token), is_new, "it is shown when it is made, and not again");
        assert_eq!(mode(&token_file), 0o600);
        let lasting = told.next().unwrap();
        assert!(lasting.contains("toolkit mcp token add NAME"), "{lasting}");
        let with_token = format!("Authorization: Bearer {token}\r\n");
        for (header, expected) in [("", "401"), ("Authorization: Bearer x\r\n", "401"), (&with_token, "200")]
        {
            assert_eq!(status(&address, header), expected, "{header}");
        }
        // Without its file, the token does not count; with it, it does again.
        let aside = user.path().join("data/aside");
        fs::rename(&token_file, &aside).unwrap();
        assert_eq!(status(&address, &with_token), "401");
        fs::rename(&aside, &token_file).unwrap();
        assert_eq!(status(&address, &with_token), "200");
        let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(killed.success() && child.wait().unwrap().success());
    }
}

/// HTTP libraries close connections that are idle, and in the version without sessions nothing else says whose a request is.
#[test]
fn what_was_read_by_one_connection_may_be_written_by_the_next() {
    let user = user();
    for name in ["unread.txt", "of_session.txt"] {
        fs::write(user.path().join("work").join(name), "one\n").unwrap();
    }
    fs::write(user.path().join("user/toolkit.json5"), "{ permission: { edit: 'allow' } }").unwrap();
    let mut child = serve(&user, &["--http", "127.0.0.1:0"]).spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let serving = told.next().unwrap();
    let address =
        serving.strip_prefix("serving at http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
    told.next().unwrap();
    let token = fs::read_to_string(user.path().join("data/mcp-token")).unwrap();
    let call = |name: &str, arguments: Value| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let head =
            format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n");
        post(address, token.trim(), &head, &body).1["result"].clone()
    };
    let write = |name: &str| call("write", json!({"file_path": name, "content": "new\n"}));
    assert_eq!(call("read", json!({"file_path": "notes.txt"}))["isError"], json!(false));
    let written = write("notes.txt");
    assert_eq!(written["isError"], json!(false), "{written}");
    assert_eq!(fs::read_to_string(user.path().join("work/notes.txt")).unwrap(), "new\n");
    // A file that nobody has read, or that has changed since, is not replaced.
    let refused = write("unread.txt");
    assert_eq!(refused["isError"], json!(true), "{refused}");
    fs::write(user.path().join("work/notes.txt"), "by another hand\n").unwrap();
    let refused = write("notes.txt");
    assert_eq!(refused["isError"], json!(true), "{refused}");
    // A session of the protocol is known, so what it reads is its own.
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let session = post(address, token.trim(), "", &begin).0.expect("a session");
    let head = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let params = json!({"name": "read", "arguments": {"file_path": "of_session.txt"}});
    let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    assert_eq!(post(address, token.trim(), &head, &body).1["result"]["isError"], json!(false));
    let refused = write("of_session.txt");
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let _ = child.kill();
    let _ = child.wait();
}

/// A command that is allowed and runs until it is ended, and a text that its process alone has.
fn long_command(user: &TempDir, number: usize) -> (Value, String) {
    fs::write(user.path().join("user/toolkit.json5"), "{ permission: { exec: 'allow' } }").unwrap();
    let mark = format!("9876{number}{}", std::process::id());
    (json!({"command": format!("sleep {mark}")}), mark)
}

#[test]
fn a_signal_over_stdio_cancels_the_calls_which_get_results() {
    for (number, signal) in ["-TERM", "-HUP", "-QUIT"].into_iter().enumerate() {
        let user = user();
        let (command, mark) = long_command(&user, number);
        let mut client = Client::start(&user, &json!({}));
        client.call(1, "exec", &command);
        wait_until("the command's start", || processes_with(&mark) > 0);
        assert!(
            Command::new("kill").args([signal, &client.child.id().to_string()]).status().unwrap().success()
        );
        let answer = client.next();
        assert_eq!(answer["id"], 1, "{answer}");
        assert!(answer["result"]["isError"] == true || answer["error"].is_object(), "{answer}");
        assert!(client.child.wait().unwrap().success(), "{signal}");
    }
}

#[test]
fn a_signal_over_http_cancels_the_calls_which_get_results() {
    for (number, signal) in ["-TERM", "-HUP", "-QUIT"].into_iter().enumerate() {
        let user = user();
        let (command, mark) = long_command(&user, 10 + number);
        let mut child = serve(&user, &["--http", "127.0.0.1:0"]).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let serving = told.next().unwrap();
        let address =
            serving.strip_prefix("serving at http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
        told.next().unwrap();
        let token = fs::read_to_string(user.path().join("data/mcp-token")).unwrap();
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let session = post(address, token.trim(), "", &begin).0.expect("a session");
        let head = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        let params = json!({"name": "exec", "arguments": command});
        let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let answer = std::thread::scope(|scope| {
            let asking = scope.spawn(|| post(address, token.trim(), &head, &body).1);
            wait_until("the command's start", || processes_with(&mark) > 0);
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            asking.join().unwrap()
        });
        assert_eq!(answer["id"], 2, "{answer}");
        assert!(answer["result"]["isError"] == true || answer["error"].is_object(), "{answer}");
        assert!(child.wait().unwrap().success(), "{signal}");
    }
}

#[test]
fn a_server_that_was_started_to_outlive_its_terminal_does() {
    let user = user();
    let mut server = serve(&user, &[]);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(server.get_program()).args(server.get_args());
    for (name, value) in server.get_envs() {
        command.env(name, value.unwrap());
    }
    server = command;
    server.current_dir(user.path().join("work")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = server.spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut client = Client { child, input, output };
    client.initialize(&json!({}));
    assert!(Command::new("kill").args(["-HUP", &client.child.id().to_string()]).status().unwrap().success());
    client.call(1, "read", &json!({"file_path": "notes.txt"}));
    assert_eq!(client.next()["id"], 1);
}

/// Sends a message by a connection of its own. The id of the session, and the message that comes back.
fn post(address: &str, token: &str, head: &str, body: &Value) -> (Option<String>, Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\nAuthorization: Bearer {token}\r\n{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let (mut session, mut message) = (None, None);
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("mcp-session-id")
        {
            session = Some(value.trim().to_owned());
        }
        let text = line.strip_prefix("data: ").unwrap_or(&line);
        if text.starts_with('{') {
            message = Some(serde_json::from_str(text).unwrap());
            break;
        }
    }
    (session, message.expect("an answer"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The status of an answer to `initialize`.
fn status(address: &str, header: &str) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         {header}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line.split(' ').nth(1).unwrap_or_default().to_owned()
}

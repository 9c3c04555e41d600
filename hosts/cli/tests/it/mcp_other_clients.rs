//! Clients of the Model Context Protocol in other languages, with the tools of the command.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod apart;
mod driven;
pub(crate) mod large;
mod person;

use person::{Person, client, is_running, tools, until};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Command;
use toolkit_tests::run;

fn python(library: &str) {
    let person = Person::new();
    let script = client("python_client.py").display().to_string();
    let (_served, address) = person.serve();
    for mode in ["legacy", "auto"] {
        for target in [person.command(), address.clone()] {
            person.run(&tools().join("python/bin/python"), &[&script, library, mode], &target);
        }
    }
}

/// Both clients of the version with sessions share the token of the server; those of the version without have one each, which is
/// what a session is known by there.
#[test]
#[ignore = "needs the Python client of MCP: cargo xtask test"]
fn two_clients_at_one_server_have_nothing_of_each_other() {
    let person = Person::new();
    let rules = "{ permission: { exec: [{ match: 'sleep *', do: 'allow' }] } }";
    fs::write(person.path("user/toolkit.json5"), rules).unwrap();
    let (_served, address) = person.serve_with(&["--session-idle", "4"]);
    let [url, shared] = &address[..] else { panic!("{address:?}") };
    let own = ["ada", "bob"].map(|name| person.add_token(&[name]));
    let script = client("two_clients.py");
    let mark = |number: u32| format!("{number}{}", std::process::id());
    // Both versions at once: their clients have nothing of each other either.
    std::thread::scope(|scope| {
        for (mode, [ada, bob], mark) in
            [("legacy", [shared, shared], mark(77)), ("auto", [&own[0], &own[1]], mark(88))]
        {
            let (person, script) = (&person, &script);
            scope.spawn(move || {
                let mut command = Command::new(tools().join("python/bin/python"));
                command.arg(script).args([mode, url, ada, bob, &mark]);
                let ran = run(person.settled(&mut command));
                assert!(ran.code == Some(0) && ran.stdout.ends_with("done\n"), "{mode}: {ran:#?}");
            });
        }
    });
    // The sessions of clients with a token of their own end once no request has come for that long.
    let jobs = [mark(77), mark(88)].map(|mark| [format!("{mark}1"), format!("{mark}2")]);
    until("the jobs' end", || jobs.iter().flatten().all(|job| !is_running(job)));
    // A connection of the version without sessions that names nobody has what is its own until it is closed.
    let job = mark(99);
    let connection =
        by_connection(url, shared, &json!({"command": format!("sleep {job}"), "run_in_background": true}));
    until("the job's start", || is_running(&job));
    drop(connection);
    until("the job's end", || !is_running(&job));
}

/// Calls `exec` by a connection, without a session of the protocol.
fn by_connection(url: &str, token: &str, arguments: &Value) -> TcpStream {
    let host = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "exec", "arguments": arguments, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {token}\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: exec\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

#[test]
#[ignore = "needs the Python client of MCP: cargo xtask test"]
fn the_python_client_calls_every_tool_in_both_generations() {
    python("mcp");
}

#[test]
#[ignore = "needs FastMCP: cargo xtask test"]
fn fastmcp_calls_every_tool_in_both_generations() {
    python("fastmcp");
}

#[test]
#[ignore = "needs the TypeScript client of MCP: cargo xtask test"]
fn the_typescript_client_calls_every_tool() {
    let person = Person::new();
    let script = client("node_client.mjs").display().to_string();
    let (_served, address) = person.serve();
    for target in [person.command(), address] {
        person.run(&tools().join("python/bin/node"), &[&script], &target);
    }
}

#[test]
#[ignore = "needs the MCP Inspector: cargo xtask test"]
fn the_inspector_lists_and_calls() {
    let person = Person::new();
    let (_served, address) = person.serve();
    let inspector =
        tools().join("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    for is_http in [false, true] {
        let inspect = |args: &[&str]| {
            let mut command = Command::new(tools().join("python/bin/node"));
            command.arg(&inspector).arg("--cli");
            if is_http {
                command.arg(&address[0]).args(["--transport", "http"]);
                command.args(["--header", &format!("Authorization: Bearer {}", address[1])]);
            } else {
                command.args(person.command());
            }
            run(person.settled(command.args(args))).success()
        };
        let listed = inspect(&["--method", "tools/list"]);
        // The inspector's command line shows no prompts, so tools that always need one are not listed.
        for (name, is_listed) in [
            ("read", true),
            ("glob", true),
            ("grep", true),
            ("exec", true),
            ("write", false),
            ("edit", false),
        ] {
            assert_eq!(listed.contains(&format!("\"name\": \"{name}\"")), is_listed, "{name}: {listed}");
        }
        let read =
            inspect(&["--method", "tools/call", "--tool-name", "read", "--tool-arg", "file_path=notes.txt"]);
        assert!(read.contains("two"), "{read}");
    }
}

/// A little more than 1 MiB, which some clients do not read as one message over HTTP.
const LARGE: u64 = 1_200_000;

#[test]
#[ignore = "needs the Python and TypeScript clients of MCP: cargo xtask test"]
fn large_results_arrive_whole_or_as_links() {
    let [mcp, .., fastmcp, v1, _, v2] = large::CLIENTS else { panic!("too few clients") };
    let over_http = [mcp, fastmcp, v1, v2].map(|client| (*client, true));
    let over_streams = [mcp, v2].map(|client| (*client, false));
    large::arrive(&[&over_http[..], &over_streams].concat(), &[LARGE]);
}

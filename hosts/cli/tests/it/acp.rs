//! `acp`: sessions of an editor with the command.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::agent::{Bench, call, chunks};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use toolkit_loopback::Answer;
use toolkit_tests::{repository, run};

fn text(text: &str) -> Answer {
    chunks(&json!({"role": "assistant", "content": text}), "stop")
}

/// Sends lines, closes standard input, and returns the lines that come.
async fn spoken(bench: &Bench, lines: Vec<String>) -> (i32, Vec<Value>, String) {
    spoken_to(bench.any_command(&["acp"]), lines).await
}

async fn spoken_to(mut command: Command, lines: Vec<String>) -> (i32, Vec<Value>, String) {
    let output = tokio::task::spawn_blocking(move || {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        for line in lines {
            writeln!(stdin, "{line}").unwrap();
        }
        drop(stdin);
        child.wait_with_output().unwrap()
    });
    let output = output.await.unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let lines = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code().unwrap(), lines, String::from_utf8(output.stderr).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_output_is_protocol_alone() {
    let bench = Bench::new([]).await;
    let request = |id: u64, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let lines = vec![
        request(1, "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}})),
        "{".to_owned(),
        request(2, "session/new", json!({"cwd": bench.work(), "mcpServers": []})),
        request(3, "session/fly", json!({})),
    ];
    let (code, answers, err) = spoken(&bench, lines).await;
    assert_eq!((code, &*err), (0, ""));
    assert_eq!(answers.len(), 4, "{answers:?}");
    let of = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(of(json!(1))["result"]["agentInfo"]["name"], "toolkit");
    assert_eq!(of(Value::Null)["error"]["code"], -32700);
    assert!(of(json!(2))["result"]["sessionId"].is_string(), "{answers:?}");
    assert_eq!(of(json!(3))["error"]["code"], -32601);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_the_configuration_of_its_workspace() {
    let bench = Bench::new([text("Well.")]).await;
    // It can only take away.
    std::fs::write(bench.work().join("toolkit.json5"), "{ tools: { deny: ['read'] } }").unwrap();
    let other = tempfile::tempdir().unwrap();
    let mut command = bench.any_command(&["acp"]);
    command.current_dir(other.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let work = bench.work();
    let session = tokio::task::spawn_blocking(move || {
        use std::io::{BufRead as _, BufReader};
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let setup = json!({"cwd": work, "mcpServers": []});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": setup});
        writeln!(stdin, "{message}").unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let params =
            json!({"sessionId": answer["result"]["sessionId"], "prompt": [{"type": "text", "text": "Hi"}]});
        let message = json!({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params});
        writeln!(stdin, "{message}").unwrap();
        let answer = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let answer = answer.into_iter().find(|message| message["id"] == 2).unwrap();
        drop(stdin);
        assert!(child.wait().unwrap().success());
        answer
    });
    assert_eq!(session.await.unwrap()["result"]["stopReason"], "end_turn");
    let request = bench.server.requests()[0].json();
    let names: Vec<&str> = request["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"grep") && !names.contains(&"read"), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_for_an_agent_that_is_not_configured_is_refused() {
    let bench = Bench::new([]).await;
    std::fs::write(bench.work().join("toolkit.json5"), "{ agents: { kid: { tools: { deny: ['read'] } } } }")
        .unwrap();
    for (agent, error) in
        [("kdi", Some("there is no agent `kdi` in the configuration; did you mean `kid`?")), ("kid", None)]
    {
        let setup = json!({"cwd": bench.work(), "mcpServers": []});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": setup});
        let command = bench.any_command(&["acp", "--agent", agent]);
        let (_, answers, _) = spoken_to(command, vec![message.to_string()]).await;
        let shown = answers[0].to_string();
        assert_eq!(answers[0].get("error").is_some(), error.is_some(), "{shown}");
        assert!(error.is_none_or(|error| shown.contains(error)), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the Python packages of the tests: cargo xtask test"]
async fn the_official_library_holds_a_session() {
    let change = |content: &str| json!({"file_path": "new.txt", "content": content});
    let bench = Bench::asking([
        text("Good day."),
        call("1", "write", &change("new\n")),
        text("Written."),
        call("1", "write", &change("newer\n")),
        call("2", "write", &change("newer\n")),
        text("I may not."),
        Answer::Hang,
        text("The end."),
    ])
    .await;
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/acp_client.py");
    let mut command = Command::new(repository().join("target/tools/python/bin/python"));
    command.arg(script).arg(env!("CARGO_BIN_EXE_toolkit")).arg(bench.work());
    bench.prepare(&mut command);
    let said = tokio::task::spawn_blocking(move || run(&mut command).success()).await.unwrap();
    assert_eq!(said, "the session was held\n");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_in_order() {
    for (signal, code) in [("-TERM", 143), ("-HUP", 129), ("-QUIT", 131)] {
        let bench = Bench::new([]).await;
        let mut child =
            bench.any_command(&["acp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let ended = tokio::task::spawn_blocking(move || {
            let params = json!({"protocolVersion": 1, "clientCapabilities": {}});
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            writeln!(input, "{request}").unwrap();
            let mut answer = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
            run(Command::new("kill").args([signal, &child.id().to_string()])).success();
            // Its input stays open until it has ended.
            let ended = child.wait().unwrap();
            drop(input);
            ended.code()
        });
        assert_eq!(ended.await.unwrap(), Some(code), "{signal}");
    }
}

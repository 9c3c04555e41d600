//! `gateway`, with `sessions` and `chat --gateway`: a process that runs, is killed, and goes on.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod channels;
mod console;
#[cfg(target_os = "linux")]
mod faults;
mod jobs;
mod nodes;

use crate::agent::{Bench, call, chunks};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use toolkit_loopback::Answer;

fn text(text: &str) -> Answer {
    chunks(&json!({"role": "assistant", "content": text}), "stop")
}

/// The most looks for a question, each by a process of its own.
const MAX_LOOKS: usize = 1_000;

/// A gateway that runs; killed at the end of the test.
struct Running {
    child: Child,
    /// Its words before it was ready.
    said: String,
    err: BufReader<std::process::ChildStderr>,
}

impl Running {
    /// Starts one, and waits until it is ready.
    fn start(bench: &Bench) -> Self {
        Self::with(bench, &[]).unwrap_or_else(|(code, said)| panic!("{code:?}: {said}"))
    }

    fn with(bench: &Bench, args: &[&str]) -> Result<Self, (Option<i32>, String)> {
        Self::of(command(bench, &[&["gateway", "--address", "127.0.0.1:0"], args].concat()))
    }

    fn of(mut command: Command) -> Result<Self, (Option<i32>, String)> {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("stops it") {
            if err.read_line(&mut said).unwrap() == 0 {
                return Err((child.wait().unwrap().code(), said));
            }
        }
        Ok(Self { child, said, err })
    }

    fn address(&self) -> &str {
        let rest = self.said.split_once("http://").unwrap().1;
        rest.lines().next().unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end; returns its exit code and what it said at the end.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.err.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program itself, which can contain commands; the fixture cannot.
fn command(bench: &Bench, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolkit"));
    bench.prepare(&mut command);
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs a command beside the server.
async fn run(bench: &Bench, args: &[&str]) -> Output {
    let mut command = command(bench, args);
    tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output().unwrap()).await.unwrap()
}

async fn printed(bench: &Bench, args: &[&str]) -> String {
    let output = run(bench, args).await;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn as_json(bench: &Bench, args: &[&str]) -> Value {
    serde_json::from_str(&printed(bench, &[args, &["-o", "json"]].concat()).await).unwrap()
}

/// Starts a gateway, off the threads of the model's server.
fn started(bench: &Bench) -> Running {
    tokio::task::block_in_place(|| Running::start(bench))
}

/// Waits until one question waits, and returns its code.
async fn asked(bench: &Bench) -> String {
    for _ in 0..MAX_LOOKS {
        let asks = as_json(bench, &["gateway", "asks"]).await;
        if let [ask] = &asks["asks"].as_array().unwrap()[..] {
            return ask["code"].as_str().unwrap().to_owned();
        }
    }
    panic!(
        "nothing is asked: {:?}",
        bench.server.requests().iter().map(toolkit_loopback::Request::json).collect::<Vec<_>>()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_answered_and_the_session_goes_on_after_an_orderly_stop() {
    let bench = Bench::new([text("Good day."), text("Still here."), text("By chat.")]).await;
    let status = run(&bench, &["gateway", "status"]).await;
    assert_eq!(status.status.code(), Some(1));
    let gateway = started(&bench);
    assert_eq!(printed(&bench, &["sessions", "send", "main", "Hello"]).await, "Good day.\n");
    let status = as_json(&bench, &["gateway", "status"]).await;
    assert_eq!((&status["status"], status["address"].as_str()), (&json!("ok"), Some(gateway.address())));

    printed(&bench, &["gateway", "stop"]).await;
    let (code, said) = tokio::task::block_in_place(|| gateway.ended());
    assert_eq!(code, Some(0), "{said}");
    assert!(!bench.directory.path().join("data/gateway.address").exists());

    let gateway = started(&bench);
    assert_eq!(printed(&bench, &["sessions", "send", "main", "And now?"]).await, "Still here.\n");
    // The agent remembers what was said before the stop.
    let request = bench.server.requests()[1].json().to_string();
    assert!(request.contains("Hello") && request.contains("Good day."), "{request}");

    let mut command = command(&bench, &["chat", "--gateway"]);
    let chat = tokio::task::spawn_blocking(move || {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        child.stdin.take().unwrap().write_all(b"Hi\n").unwrap();
        child.wait_with_output().unwrap()
    });
    let chat = chat.await.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&chat.stdout),
        "By chat.\n",
        "{}",
        String::from_utf8_lossy(&chat.stderr)
    );
    let shown = as_json(&bench, &["sessions", "show", "main"]).await;
    assert_eq!(shown["messages"].as_array().unwrap().len(), 6, "{shown}");
    drop(gateway);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_waits_over_a_kill_and_its_answer_runs_the_command_once() {
    let command = json!({ "command": "echo once >> effects" });
    let bench = Bench::asking([call("1", "exec", &command), text("Done.")]).await;
    let gateway = started(&bench);
    printed(&bench, &["sessions", "send", "main", "Do it", "--no-wait"]).await;
    let code = asked(&bench).await;
    gateway.kill();

    // Nothing runs, and the question is there, with its answer.
    assert_eq!(run(&bench, &["gateway", "status"]).await.status.code(), Some(1));
    assert_eq!(asked(&bench).await, code);
    let shown = printed(&bench, &["gateway", "asks"]).await;
    assert!(shown.contains(&code) && shown.contains("echo once"), "{shown}");
    printed(&bench, &["gateway", "approve", &code.to_lowercase()]).await;
    let again = run(&bench, &["gateway", "deny", &code]).await;
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("answered already by owner"));

    let _gateway = started(&bench);
    // The same message once more is the same one; its answer is that of the run that goes on.
    let effects = bench.directory.path().join("data-workspaces/main/effects");
    let messages = loop {
        let shown = as_json(&bench, &["sessions", "show", "main"]).await;
        let messages = shown["messages"].as_array().unwrap().clone();
        if messages.last().unwrap()["text"] == "Done." {
            break messages;
        }
    };
    let result = bench.server.requests()[1].json()["messages"].to_string();
    assert_eq!(fs::read_to_string(effects).ok().as_deref(), Some("once\n"), "{messages:?}: {result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_without_rights_sees_and_answers_nothing_of_others() {
    let bench =
        Bench::asking([call("1", "exec", &json!({ "command": "echo once >> effects" })), text("Done.")])
            .await;
    let gateway = started(&bench);
    let token = printed(&bench, &["gateway", "token", "add", "phone", "--person", "ada"]).await;
    printed(&bench, &["sessions", "send", "main", "Do it", "--no-wait"]).await;
    let code = asked(&bench).await;

    let client = toolkit_gateway::client::GatewayClient::new(gateway.address(), token.trim()).unwrap();
    assert_eq!(client.get("/v1/asks").await.unwrap(), json!({ "asks": [] }));
    let error = client.post(&format!("/v1/asks/{code}"), &json!({ "type": "allow" })).await.unwrap_err();
    assert!(error.to_string().contains("no question"), "{error}");
    assert_eq!(client.get("/v1/sessions").await.unwrap()["sessions"], json!([]));
    for (path, body) in [("/v1/stop", json!({})), ("/v1/backup", json!({ "directory": "/tmp/x" }))] {
        let error = client.post(path, &body).await.unwrap_err();
        assert!(error.to_string().contains("only the owner"), "{error}");
    }

    printed(&bench, &["gateway", "token", "revoke", "phone"]).await;
    let error = client.get("/v1/sessions").await.unwrap_err();
    assert!(matches!(error, toolkit_gateway::client::ClientError::Refused { status: 401, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_other_than_the_owner_has_no_tools_for_files_and_commands() {
    let bench = Bench::new([call("1", "read", &json!({ "file_path": "/etc/hostname" })), text("No.")]).await;
    let gateway = started(&bench);
    let token = printed(&bench, &["gateway", "token", "add", "phone", "--person", "ada"]).await;
    let client = toolkit_gateway::client::GatewayClient::new(gateway.address(), token.trim()).unwrap();
    let sent = client.post("/v1/sessions/main/messages", &json!({ "text": "Read it" })).await.unwrap();
    let path = format!("/v1/sessions/main/inbox/{}?waitSeconds=60", sent["id"]);
    assert_eq!(client.get(&path).await.unwrap()["text"], "No.");
    let offered = bench.server.requests()[0].json()["tools"].to_string();
    assert!(!offered.contains("\"read\"") && !offered.contains("\"exec\""), "{offered}");
    let result = bench.server.requests()[1].json()["messages"].to_string();
    assert!(result.contains("not among the tools"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_run_in_the_sandbox_or_not_at_all_unless_the_configuration_lifts_it() {
    let outside = json!({ "command": "echo once", "escalate": "no-sandbox" });
    let contained = json!({ "command": "echo once" });
    let calls = || [call("1", "exec", &outside), call("2", "exec", &contained), text("Done.")];
    let off = ["--set", "tools.exec.sandbox=off", "--set", "tools.exec.enableSandbox=false"];
    let bench = Bench::new(calls()).await;
    let gateway = tokio::task::block_in_place(|| Running::with(&bench, &off)).unwrap();
    assert_eq!(printed(&bench, &["sessions", "send", "main", "Do it"]).await, "Done.\n");
    drop(gateway);
    let results = |bench: &Bench| {
        let request = bench.server.requests().last().unwrap().json();
        let messages = request["messages"].as_array().unwrap().clone();
        let results = messages.into_iter().filter(|message| message["role"] == "tool");
        results.map(|message| message["content"].to_string()).collect::<Vec<_>>()
    };
    let [refused, done] = &results(&bench)[..] else { panic!("{:?}", results(&bench)) };
    assert!(refused.contains("no command runs without a sandbox here"), "{refused}");
    assert!(done.contains("once"), "{done}");

    // Where it is lifted, the owner is asked.
    let bench = Bench::new(calls()).await;
    let lifted = ["--set", "gateway.uncontainedCommands=true"];
    let _gateway = tokio::task::block_in_place(|| Running::with(&bench, &lifted)).unwrap();
    printed(&bench, &["sessions", "send", "main", "Do it", "--no-wait"]).await;
    let code = asked(&bench).await;
    let shown = printed(&bench, &["gateway", "asks"]).await;
    assert!(shown.contains(&code) && shown.contains("to run without a sandbox"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_to_a_question_opens_the_data_directory() {
    // Seen from the workspace of the agent.
    let token = "../../data/gateway.token";
    let bench = Bench::new([
        call("1", "read", &json!({ "path": token })),
        call("2", "exec", &json!({ "command": format!("cat {token}") })),
        call("3", "grep", &json!({ "pattern": ".", "path": "../../data" })),
        text("Done."),
    ])
    .await;
    let allowed = ["--set", "permission={ \"*\": \"allow\" }"];
    let _gateway = tokio::task::block_in_place(|| Running::with(&bench, &allowed)).unwrap();
    let secret = fs::read_to_string(bench.directory.path().join("data/gateway.token")).unwrap();
    assert_eq!(printed(&bench, &["sessions", "send", "main", "Do it"]).await, "Done.\n");
    let request = bench.server.requests().last().unwrap().json();
    let results = request["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    let results: Vec<String> = results.map(|message| message["content"].to_string()).collect();
    assert_eq!(results.len(), 3, "{results:?}");
    for result in results {
        let is_refused = result.contains("no approval opens") || result.contains("the command was not run");
        assert!(is_refused && !result.contains(secret.trim()), "{result}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_of_the_owner_restarts_the_gateway_and_its_run_goes_on() {
    let bench =
        Bench::new([call("1", "gateway", &json!({ "action": "restart" })), text("Back again.")]).await;
    let set = ["--set", "gateway.agentsMayRestart=true", "--set", "permission.gateway=allow"];
    let gateway = tokio::task::block_in_place(|| Running::with(&bench, &set)).unwrap();
    let since = as_json(&bench, &["gateway", "status"]).await["startedAt"].clone();
    printed(&bench, &["sessions", "send", "main", "Restart", "--no-wait"]).await;
    for _ in 0..MAX_LOOKS {
        // Between the two there is none.
        let status = run(&bench, &["gateway", "status", "-o", "json"]).await;
        let status: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if status["startedAt"].is_u64() && status["startedAt"] != since {
            break;
        }
    }
    let messages = loop {
        let shown = as_json(&bench, &["sessions", "show", "main"]).await;
        let messages = shown["messages"].as_array().unwrap().clone();
        if messages.last().is_some_and(|last| last["text"] == "Back again.") {
            break messages;
        }
    };
    assert_eq!(messages.len(), 2, "{messages:?}");
    let status = as_json(&bench, &["gateway", "status"]).await;
    assert!(status["startedAt"].as_u64() > since.as_u64(), "{status}");
    printed(&bench, &["gateway", "stop"]).await;
    assert_eq!(tokio::task::block_in_place(|| gateway.ended()).0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_is_not_possible_says_why_and_with_which_exit_code() {
    let bench = Bench::new([]).await;
    let fails = |args: Vec<&'static str>| {
        let bench = &bench;
        async move {
            let args: Vec<&str> = ["gateway"].into_iter().chain(args).collect();
            let output = run(bench, &args).await;
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        }
    };
    // An address that others reach.
    let (code, said) = fails(vec!["--address", "0.0.0.0:0"]).await;
    assert!(code == Some(78) && said.contains("gateway.behindProxy"), "{code:?} {said}");
    let (code, said) = fails(vec!["--set", "gateway.adress=1"]).await;
    assert!(code == Some(78) && said.contains("adress"), "{code:?} {said}");
    // A second one.
    let gateway = started(&bench);
    let (code, said) = fails(vec!["--address", "127.0.0.1:0"]).await;
    assert!(code == Some(6) && said.contains("another gateway has it open"), "{code:?} {said}");
    drop(gateway);
    // A port that is taken.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address: &'static str = taken.local_addr().unwrap().to_string().leak();
    let (code, said) = fails(vec!["--address", address]).await;
    assert!(code == Some(6) && said.contains("cannot listen on"), "{code:?} {said}");
    drop(taken);
    // A newer store, a damaged one.
    let data = bench.directory.path().join("data");
    fs::write(data.join("gateway.db"), "no database, and long enough to be read as one").unwrap();
    let (code, said) = fails(vec!["--address", "127.0.0.1:0"]).await;
    assert!(code == Some(6) && said.contains("gateway.db") && said.contains("damaged"), "{code:?} {said}");
    // A token file that somebody replaced.
    for name in ["gateway.db", "gateway.db-wal", "gateway.db-shm"] {
        let _ = fs::remove_file(data.join(name));
    }
    let (code, said) = fails(vec!["--address", "127.0.0.1:0"]).await;
    assert!(
        code == Some(6) && said.contains("gateway.token") && said.contains("Delete the file"),
        "{code:?} {said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_it_runs_and_says_so() {
    let bench = Bench::new([]).await;
    fs::write(bench.directory.path().join("user/toolkit.json5"), "{}").unwrap();
    let gateway = started(&bench);
    assert!(gateway.said.contains("no model"), "{}", gateway.said);
    let status = as_json(&bench, &["gateway", "status"]).await;
    assert_eq!((&status["status"], &status["hasModel"]), (&json!("degraded"), &json!(false)));
    let sent = run(&bench, &["sessions", "send", "main", "Hello"]).await;
    assert_eq!(sent.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&sent.stderr).contains("model"), "{sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_put_back_and_what_was_there_is_kept() {
    let bench = Bench::new([text("One."), text("Two."), text("Three.")]).await;
    let backup: PathBuf = bench.directory.path().join("backup");
    let gateway = started(&bench);
    printed(&bench, &["sessions", "send", "main", "first"]).await;
    printed(&bench, &["gateway", "backup", backup.to_str().unwrap()]).await;
    printed(&bench, &["sessions", "send", "main", "second"]).await;
    let refused = run(&bench, &["gateway", "restore", backup.to_str().unwrap()]).await;
    assert!(String::from_utf8_lossy(&refused.stderr).contains("another gateway has it open"), "{refused:?}");
    let twice = run(&bench, &["gateway", "backup", backup.to_str().unwrap()]).await;
    assert_eq!(twice.status.code(), Some(1), "a backup replaces nothing");
    gateway.kill();

    printed(&bench, &["gateway", "restore", backup.to_str().unwrap()]).await;
    assert!(bench.directory.path().join("data/before-restore-1/gateway.db").exists());
    let _gateway = started(&bench);
    let shown = printed(&bench, &["sessions", "show", "main"]).await;
    assert!(shown.contains("first") && !shown.contains("second"), "{shown}");
    assert_eq!(printed(&bench, &["sessions", "send", "main", "third"]).await, "Three.\n");
    printed(&bench, &["gateway", "doctor"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_sent_without_a_gateway_waits_for_one() {
    let bench = Bench::new([text("At last.")]).await;
    let sent = run(&bench, &["sessions", "send", "main", "Hello", "--id", "1"]).await;
    assert!(String::from_utf8_lossy(&sent.stderr).contains("waits for the next start"), "{sent:?}");
    let _gateway = started(&bench);
    // The same id is the same message.
    assert_eq!(printed(&bench, &["sessions", "send", "main", "Hello", "--id", "1"]).await, "At last.\n");
    assert_eq!(bench.server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_stops_it_in_order() {
    let bench = Bench::new([]).await;
    for signal in ["TERM", "INT", "HUP"] {
        let gateway = started(&bench);
        let pid = gateway.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let (code, said) = tokio::task::block_in_place(|| gateway.ended());
        assert_eq!(code, Some(0), "{signal}: {said}");
    }
    let log = printed(&bench, &["gateway", "logs"]).await;
    assert_eq!(log.lines().count(), log.lines().filter(|line| line.contains(" UTC ")).count(), "{log}");
}

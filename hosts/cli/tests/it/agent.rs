//! `agent`, with a server on loopback in place of a model.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use crate::fixture;

use fixture::{Run, command, finish};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use toolkit_loopback::{Answer, Loopback};

/// A server that gives these answers, and its workspace.
pub(crate) struct Bench {
    pub(crate) server: Loopback,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    pub(crate) directory: tempfile::TempDir,
}

/// An answer of Chat Completions with one call.
pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Answer {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let calls = json!([{"index": 0, "id": id, "type": "function", "function": function}]);
    chunks(&json!({"role": "assistant", "tool_calls": calls}), "tool_calls")
}

fn done(summary: &str) -> Answer {
    call("end", "finish", &json!({"success": true, "summary": summary}))
}

pub(crate) fn chunks(delta: &Value, reason: &str) -> Answer {
    let chunk = |choice: Value| {
        let chunk = json!({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let body = chunk(json!({"index": 0, "delta": delta}))
        + &chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}))
        + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":10,\"total_tokens\":110}}\n\n"
        + "data: [DONE]\n\n";
    Answer::bytes(200, body).with_header("content-type", "text/event-stream")
}

impl Bench {
    pub(crate) async fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(answers, "permission: { edit: \"allow\" }").await
    }

    /// One where changes are asked for.
    pub(crate) async fn asking(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(answers, "").await
    }

    pub(crate) async fn with(answers: impl IntoIterator<Item = Answer>, further: &str) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
        let next = Arc::clone(&answers);
        let server = Loopback::start(move |_| {
            next.lock().unwrap().pop_front().unwrap_or_else(|| Answer::json(400, &json!({})))
        })
        .await;
        let directory = tempfile::tempdir().unwrap();
        for name in ["user", "work"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let config = format!(
            "{{ models: {{ local: {{ baseUrl: \"{}/v1\", model: \"m\" }} }}, {further} }}",
            server.url()
        );
        fs::write(directory.path().join("user/toolkit.json5"), config).unwrap();
        fs::write(directory.path().join("work/notes.txt"), "remember the milk\n").unwrap();
        Self { server, answers, directory }
    }

    /// Adds answers of the model.
    pub(crate) fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.answers.lock().unwrap().extend(answers);
    }

    fn command(&self, args: &[&str]) -> Command {
        self.any_command(&[&["agent"], args].concat())
    }

    pub(crate) fn any_command(&self, args: &[&str]) -> Command {
        let mut command = command(args);
        self.prepare(&mut command);
        command
    }

    /// Gives a command the configuration and the directory.
    pub(crate) fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.work())
            .env("TOOLKIT_CONFIG_DIR", self.directory.path().join("user"))
            .env("TOOLKIT_DATA_DIR", self.directory.path().join("data"));
    }

    /// Runs the command beside the server.
    async fn run(&self, args: &[&str]) -> Run {
        let mut command = self.command(args);
        tokio::task::spawn_blocking(move || finish(&mut command)).await.unwrap()
    }

    pub(crate) fn work(&self) -> std::path::PathBuf {
        self.directory.path().join("work")
    }
}

/// Hosts that wait for their user remove what has expired; no tool saves an output, which would remove it too.
#[tokio::test(flavor = "multi_thread")]
async fn old_outputs_are_removed_while_a_host_waits() {
    let bench = Bench::new([]).await;
    let session = bench.directory.path().join("data/tool-output/s");
    let week = SystemTime::now() - Duration::from_hours(8 * 24);
    let setup = json!({"cwd": bench.work(), "mcpServers": []});
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": setup});
    for (host, input) in [("chat", String::new()), ("acp", format!("{open}\n"))] {
        fs::create_dir_all(&session).unwrap();
        let old = session.join(format!("{:016}.txt", 1));
        fs::write(&old, "old").unwrap();
        fs::File::options().write(true).open(&old).unwrap().set_modified(week).unwrap();
        let mut command = bench.any_command(&[host]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let began = Instant::now();
        while old.exists() {
            assert!(began.elapsed() < Duration::from_mins(1), "{host} keeps an old output");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(stdin);
        assert!(child.wait().unwrap().success(), "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_done_and_its_answer_printed() {
    let bench =
        Bench::new([call("1", "read", &json!({"file_path": "notes.txt"})), done("Remember the milk.")]).await;
    let run = bench.run(&["What do I have to remember?", "--expected-outcome", "It is stated."]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "Remember the milk.\n"), "{run:?}");
    assert!(run.err.contains("✓") && run.err.contains("1 tool calls"), "{run:?}");
    let requests = bench.server.requests();
    let first = requests[0].json();
    let task =
        first["messages"].as_array().unwrap().iter().find(|message| message["role"] == "user").unwrap();
    assert!(task["content"].to_string().contains("Expected outcome"), "{task}");
    let last = requests[1].json();
    let result = last["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("1")));
    assert!(result["content"].to_string().contains("remember the milk"), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_json_lines() {
    let bench = Bench::new([done("done")]).await;
    let run = bench.run(&["-o", "json", "Do nothing"]).await;
    let events: Vec<Value> = run.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["type"], "started");
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["result"]["summary"]), (&json!("finished"), &json!("done")));
    assert_eq!(last["result"]["usage"]["inputTokens"], 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_listed_resumed_and_forked() {
    let bench = Bench::new([done("first"), done("second"), done("third")]).await;
    bench.run(&["one"]).await.ok();
    assert!(bench.run(&["--list"]).await.ok().contains("one"));
    let messages = bench.run(&["--messages"]).await.ok();
    assert!(messages.contains("task") && messages.contains("[finish]"), "{messages}");
    assert_eq!(bench.run(&["--resume", "two"]).await.ok(), "second\n");
    let list: Value = serde_json::from_str(&bench.run(&["--list", "-o", "json"]).await.ok()).unwrap();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["turns"]), (1, &json!(2)));
    let id = list[0]["id"].as_str().unwrap();
    assert_eq!(bench.run(&[&format!("--fork={id}@1"), "other"]).await.ok(), "third\n");
    let requests = bench.server.requests();
    let texts = |number: usize| requests[number].json()["messages"].to_string();
    assert!(texts(1).contains("first") && texts(1).contains("two"), "{}", texts(1));
    assert!(!texts(2).contains("first") && texts(2).contains("other"), "{}", texts(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_put_back() {
    let change = json!({"file_path": "new.txt", "content": "new\n"});
    let bench = Bench::new([call("1", "write", &change), done("written")]).await;
    let run = bench.run(&["Write it"]).await;
    assert!(run.err.contains("+new"), "{run:?}");
    run.ok();
    let file = bench.work().join("new.txt");
    assert!(file.exists());
    let run = bench.run(&["--rewind"]).await;
    assert!(run.ok().contains("new.txt"));
    assert!(!file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn later_changes_of_a_file_are_kept_unless_forced() {
    let change = json!({"file_path": "new.txt", "content": "new\n"});
    let bench = Bench::new([call("1", "write", &change), done("written")]).await;
    bench.run(&["Write it"]).await.ok();
    let file = bench.work().join("new.txt");
    fs::write(&file, "mine\n").unwrap();
    let run = bench.run(&["--rewind"]).await;
    assert_ne!(run.code, 0, "{run:?}");
    assert!(run.err.contains("has changed since") && run.err.contains("--force"), "{run:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    bench.run(&["--rewind", "--force"]).await.ok();
    assert!(!file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_task_is_an_error_and_nothing_is_asked() {
    let bench = Bench::new([]).await;
    for task in ["", "  "] {
        let run = bench.run(&[task]).await;
        assert_ne!(run.code, 0, "{run:?}");
        assert!(run.err.contains("the task is empty"), "{run:?}");
    }
    assert!(bench.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_in_its_own_workspace_alone() {
    let bench = Bench::new([done("first")]).await;
    bench.run(&["one"]).await.ok();
    let id = transcript(&bench.directory.path().join("data/agents"));
    let other = bench.directory.path().join("other");
    fs::create_dir(&other).unwrap();
    for option in [format!("--resume={id}"), format!("--fork={id}")] {
        let mut command = bench.command(&[&option, "two"]);
        command.current_dir(&other);
        let run = tokio::task::spawn_blocking(move || finish(&mut command)).await.unwrap();
        assert_ne!(run.code, 0, "{run:?}");
        assert!(run.err.contains("belongs to the workspace"), "{run:?}");
    }
    assert_eq!(bench.server.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sub_agents_are_not_listed_as_conversations() {
    let bench =
        Bench::new([call("1", "delegate", &json!({"task": "the part"})), done("part"), done("all")]).await;
    bench.run(&["the whole"]).await.ok();
    let run = bench.run(&["--list"]).await;
    assert!(run.out.contains("the whole") && !run.out.contains("the part"), "{run:?}");
    assert!(run.err.contains("1 transcripts of sub-agents"), "{run:?}");
    let list: Value = serde_json::from_str(&bench.run(&["--list", "-o", "json"]).await.ok()).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 2);
}

#[test]
fn without_a_model_it_says_what_to_set() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = command(["agent", "x"]);
    command.current_dir(directory.path());
    for name in ["TOOLKIT_CONFIG_DIR", "TOOLKIT_DATA_DIR"] {
        command.env(name, directory.path().join(name));
    }
    let error = finish(&mut command).fails(6);
    assert!(error.contains("models") && error.contains("baseUrl"), "{error}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_signal_cancels_the_run_and_keeps_its_transcript() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129), ("-QUIT", 131)] {
        let bench = Bench::new([Answer::Hang, done("at last")]).await;
        let child = bench.command(&["wait"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        bench.server.received(1).await;
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = tokio::task::spawn_blocking(move || child.wait_with_output()).await.unwrap().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let id = transcript(&bench.directory.path().join("data/agents"));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(&format!("--resume={id}")), "{told}");
        assert_eq!(bench.run(&[&format!("--resume={id}")]).await.ok(), "at last\n");
    }
}

fn transcript(directory: &Path) -> String {
    let name = fs::read_dir(directory).unwrap().next().unwrap().unwrap().file_name();
    name.to_str().unwrap().strip_suffix(".jsonl").unwrap().to_owned()
}

/// A tool that blocks its thread cannot be cancelled, so one signal is not enough.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_second_ctrl_c_ends_the_program_at_once() {
    use std::io::{BufRead as _, BufReader};
    let bench = Bench::new([call("1", "hog", &json!({}))]).await;
    let mut child = bench.command(&["hog it"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ended = tokio::task::spawn_blocking(move || {
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("waiting") {
            line.clear();
            assert_ne!(err.read_line(&mut line).unwrap(), 0, "it waits");
        }
        // Signals that are not yet taken up are merged into one, so the second may have to be sent again.
        while child.try_wait().unwrap().is_none() {
            assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
            std::thread::yield_now();
        }
        child.wait().unwrap().code()
    });
    assert_eq!(ended.await.unwrap(), Some(130));
    // The call had begun: whoever resumes is told so.
    let id = transcript(&bench.directory.path().join("data/agents"));
    let path = bench.directory.path().join(format!("data/agents/{id}.jsonl"));
    assert!(fs::read_to_string(path).unwrap().contains("\"started\""));
}

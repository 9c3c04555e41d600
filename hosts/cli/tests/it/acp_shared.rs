//! Sessions of one editor in one workspace: they share a host, and nothing of one is in the other.

#![cfg(all(target_os = "linux", feature = "agent", feature = "mcp", feature = "fs", feature = "runtime"))]

use crate::agent::{call, chunks};
use crate::hosts::{Host, PATIENCE, Pipe, Place, job};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use toolkit_loopback::{Answer, Loopback, Request};

/// A call that a prompt asks the model for.
const CALL: &str = "Call ";

/// Makes the call that the prompt names, and ends once it has its result.
fn answer(request: &Request) -> Answer {
    let body = request.json();
    let last = body["messages"].as_array().and_then(|messages| messages.last()).expect("a message");
    let text = last["content"].as_str().or(last["content"][0]["text"].as_str()).unwrap_or_default();
    match text.split_once(CALL).and_then(|(_, asked)| asked.split_once(' ')) {
        Some((name, arguments)) if last["role"] == "user" => {
            call("1", name, &serde_json::from_str(arguments).expect("JSON"))
        }
        _ => chunks(&json!({"role": "assistant", "content": "Well."}), "stop"),
    }
}

fn configuration(model: &str, tools: &Value, key: &str) -> String {
    json!({
        "models": {"local": {"baseUrl": format!("{model}/v1"), "model": "m", "apiKey": key}},
        "permission": {"edit": "allow", "exec": "allow"},
        "tools": tools,
    })
    .to_string()
}

/// An editor, and the model of its sessions.
struct Bench {
    model: Loopback,
    place: Place,
    editor: Pipe,
}

impl Bench {
    async fn new() -> Self {
        let model = Loopback::start(answer).await;
        let place = Place::new(&configuration(model.url(), &json!({}), "key-of-the-start"));
        let editor = Pipe::acp(&place);
        Self { model, place, editor }
    }

    fn configure(&self, tools: &Value, key: &str) {
        self.place.configure(&configuration(self.model.url(), tools, key));
    }

    fn open(&mut self) -> String {
        self.open_with(&json!([]))
    }

    fn open_with(&mut self, servers: &Value) -> String {
        let setup = json!({"cwd": self.place.work(), "mcpServers": servers});
        self.editor.request("session/new", &setup)["sessionId"].as_str().expect("an id").to_owned()
    }

    /// Opens a session with a server of MCP of its own, which has the tools of the command.
    fn open_with_server(&mut self) -> String {
        // It has another configuration, whose changes it does not report.
        let home = self.place.path().join("home");
        let names = ["HOME", "TOOLKIT_CONFIG_DIR", "TOOLKIT_DATA_DIR"];
        let env = names.map(|name| json!({"name": name, "value": home}));
        let command = env!("CARGO_BIN_EXE_toolkit");
        self.open_with(&json!([{"name": "own", "command": command, "args": ["mcp", "serve"], "env": env}]))
    }

    fn close(&mut self, session: &str) {
        self.editor.request("session/close", &json!({"sessionId": session}));
    }

    /// Sends a prompt, and returns the last request to the model.
    fn prompt(&mut self, session: &str, text: &str) -> Value {
        let prompt = json!([{"type": "text", "text": text}]);
        let ended = self.editor.request("session/prompt", &json!({"sessionId": session, "prompt": prompt}));
        assert_eq!(ended["stopReason"], "end_turn");
        self.model.requests().last().expect("a request").json()
    }

    /// The result of a call in a session.
    fn call(&mut self, session: &str, name: &str, arguments: &Value) -> String {
        let request = self.prompt(session, &format!("{CALL}{name} {arguments}"));
        // The end of a job may be told after it.
        let mut messages = request["messages"].as_array().expect("messages").iter().rev();
        let last = messages.find(|message| message["role"] == "tool").expect("a result");
        last["content"].to_string()
    }

    /// The names of the tools of a session.
    fn tools(&mut self, session: &str) -> Vec<String> {
        let request = self.prompt(session, "Hi");
        let tools = request["tools"].as_array().expect("tools").iter();
        tools.map(|tool| tool["function"]["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Waits until the host has this number of toolkits: their threads get their names once they run.
    #[track_caller]
    fn has_toolkits(&mut self, count: usize) {
        let what = format!("it has toolkits: {count}");
        self.editor.host.becomes(&what, |host| (toolkits(host) == count).then_some(()));
    }

    fn has(&mut self, session: &str, tool: &str) -> bool {
        self.tools(session).iter().any(|name| name == tool)
    }
}

/// The number of toolkits of a process: each has a thread that writes the history.
fn toolkits(host: &Host) -> usize {
    let threads = threads(host).into_iter();
    let names = threads.map(|thread| fs::read_to_string(thread.join("comm")));
    names.flatten().filter(|name| name.trim() == "toolkit-history").count()
}

/// The threads of a process. A list that is read while a thread ends can lack others, so it counts once it is read twice.
fn threads(host: &Host) -> BTreeSet<PathBuf> {
    let read = || -> BTreeSet<PathBuf> {
        let threads = fs::read_dir(format!("/proc/{}/task", host.child.id())).expect("the process is there");
        threads.flatten().map(|thread| thread.path()).collect()
    };
    let mut last = read();
    loop {
        let again = read();
        if again == last {
            return again;
        }
        last = again;
    }
}

fn descriptors(host: &Host) -> usize {
    fs::read_dir(format!("/proc/{}/fd", host.child.id())).expect("the process is there").count()
}

/// The number of descriptors that a host keeps: those of files that it reads now and then are closed within a moment.
fn kept(host: &Host) -> usize {
    let samples = (0..20).map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        descriptors(host)
    });
    samples.min().expect("a sample")
}

/// Runs a test in a thread of its own: it blocks.
async fn with(test: impl FnOnce(Bench) + Send + 'static) {
    let bench = Bench::new().await;
    tokio::task::spawn_blocking(move || test(bench)).await.expect("no panic");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_a_workspace_have_one_toolkit_and_leave_nothing() {
    with(|mut bench| {
        // Some descriptors are opened once and for all.
        let first = bench.open();
        bench.close(&first);
        bench.editor.host.becomes("its toolkit ends", |host| (toolkits(host) == 0).then_some(()));
        let before = kept(&bench.editor.host);
        let first = bench.open();
        bench.has_toolkits(1);
        let of_one = kept(&bench.editor.host);
        let mut sessions: Vec<String> = (0..30).map(|_| bench.open()).collect();
        assert_eq!(toolkits(&bench.editor.host), 1);
        assert_eq!(kept(&bench.editor.host), of_one + 30, "a session has its transcript alone");
        sessions.push(first);
        for session in sessions {
            assert_eq!(toolkits(&bench.editor.host), 1);
            bench.close(&session);
        }
        bench.editor.host.becomes("all is left", |host| {
            (toolkits(host) == 0 && descriptors(host) <= before).then_some(())
        });
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_in_its_session_alone_and_ends_with_it() {
    with(|mut bench| {
        let (one, other) = (bench.open(), bench.open());
        let id = job::id_of(&bench.call(&one, "exec", &job::lasting()));
        let list = json!({"action": "list"});
        assert!(bench.call(&one, "process", &list).contains(&id));
        let listed = bench.call(&other, "process", &list);
        assert!(!listed.contains(&id), "{listed}");
        let stop = json!({"action": "stop", "task_id": id});
        let stopped = bench.call(&other, "process", &stop);
        assert!(stopped.contains("there is no job"), "{stopped}");
        assert!(bench.editor.host.commands() > 0);
        // The end of a job is told in its session alone.
        let awaits = "until [ -e go ]; do sleep 0.05; done; echo in one session";
        let short = bench.call(&one, "exec", &json!({"command": awaits, "run_in_background": true}));
        let short = job::id_of(&short);
        fs::write(bench.place.work().join("go"), "").expect("a file");
        let poll = json!({"action": "poll", "task_id": short, "wait_ms": 60_000});
        let began = Instant::now();
        while !bench.call(&one, "process", &poll).contains("in one session") {
            assert!(began.elapsed() < PATIENCE);
        }
        let request = bench.prompt(&other, "Hi").to_string();
        assert!(!request.contains("in one session") && !request.contains(&short), "{request}");
        bench.close(&one);
        bench.editor.host.becomes("the job ends", |host| (host.commands() == 0).then_some(()));
        assert_eq!(toolkits(&bench.editor.host), 1, "the other session goes on");
        bench.tools(&other);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_an_editors_server_are_in_its_session_alone() {
    with(|mut bench| {
        let before = bench.open();
        let own = bench.open_with_server();
        let after = bench.open();
        bench.has_toolkits(2);
        let began = Instant::now();
        while !bench.has(&own, "own__read") {
            assert!(began.elapsed() < PATIENCE, "{}", bench.editor.host.said());
        }
        for session in [&before, &after] {
            let tools = bench.tools(session);
            assert!(tools.iter().all(|name| !name.starts_with("own__")), "{tools:?}");
        }
        bench.close(&own);
        bench
            .editor
            .host
            .becomes("its toolkit ends", |host| (toolkits(host) == 1 && host.commands() == 0).then_some(()));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_configuration_reaches_each_open_session() {
    with(|mut bench| {
        let (one, other, own) = (bench.open(), bench.open(), bench.open_with_server());
        for session in [&one, &other, &own] {
            assert!(bench.has(session, "read"));
        }
        bench.configure(&json!({"deny": ["read"]}), "key-of-the-start");
        // Once for the toolkit that two sessions share, and once for the third one's.
        let reloads = |host: &Host| host.said().matches("the configuration was reloaded").count();
        bench.editor.host.becomes("it is reloaded", |host| (reloads(host) == 2).then_some(()));
        for session in [&one, &other, &own] {
            assert!(!bench.has(session, "read"));
        }
        assert_eq!(toolkits(&bench.editor.host), 2);

        // Not all that a toolkit is made of can be reloaded, so later sessions have another one.
        let (later, last) = (bench.open(), bench.open());
        bench.has_toolkits(3);
        bench.configure(&json!({"deny": ["write"]}), "key-of-the-start");
        bench.editor.host.becomes("it is reloaded", |host| (reloads(host) == 5).then_some(()));
        for session in [&one, &other, &own, &later, &last] {
            assert!(bench.has(session, "read") && !bench.has(session, "write"));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_a_reloaded_configuration_is_in_no_transcript_of_an_open_session() {
    const SECRET: &str = "sk-0123456789-of-the-reload";
    with(|mut bench| {
        let (one, other, before) = (bench.open(), bench.open(), bench.open());
        fs::write(bench.place.work().join("found.txt"), format!("{SECRET} and more\n")).expect("a file");
        let read = json!({"file_path": "found.txt"});
        assert!(bench.call(&before, "read", &read).contains(SECRET), "it is no secret yet");
        bench.configure(&json!({}), SECRET);
        bench.editor.host.says("the configuration was reloaded");
        for session in [&one, &other] {
            assert!(bench.call(session, "read", &read).contains("and more"));
            let transcript = bench.place.data().join(format!("agents/{session}.jsonl"));
            let transcript = fs::read_to_string(transcript).expect("the transcript");
            assert!(transcript.contains("and more") && !transcript.contains(SECRET), "{transcript}");
        }
    })
    .await;
}

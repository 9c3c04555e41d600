//! A program that serves an editor, and ends at each line of its transcripts: the editor starts it again, loads the session, and sends the
//! prompts again that have no answer, each under the id of its message.

use crate::crashes::{DIRECTORY, FAIL_POINT, Ledger, MESSAGES, check_transcripts, model, point, tools};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use toolkit::{Caller, CancellationToken};
use toolkit_agent::acp::{AcpAgent, AcpHost, AcpOpening, AcpSetup, serve};
use toolkit_agent::{Agent, Limits, Transcripts};

/// No message takes so long.
const LONG: Duration = Duration::from_mins(2);

struct Host {
    directory: PathBuf,
    transcripts: Transcripts,
}

impl AcpHost for Host {
    fn open(&self, setup: AcpSetup) -> AcpOpening<'_> {
        Box::pin(async move {
            let agent = Agent::builder(tools(&self.directory), Arc::new(model()))
                .caller(Caller::new().with_workspace(setup.workspace))
                .limits(Limits::none());
            Ok(AcpAgent::new(agent))
        })
    }

    fn transcripts(&self) -> &Transcripts {
        &self.transcripts
    }

    fn program(&self) -> (String, String) {
        ("test".to_owned(), "1.0".to_owned())
    }
}

/// The program that ends anywhere.
#[test]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY).map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let transcripts = Transcripts::new(directory.join("agents"));
        let mut out = tokio::io::stdout();
        // The name of this test stands on the line before.
        out.write_all(b"\n").await.unwrap();
        out.flush().await.unwrap();
        let input = tokio::io::BufReader::new(tokio::io::stdin());
        serve(input, out, Host { directory, transcripts }, CancellationToken::new()).await.unwrap();
    });
}

/// The process has ended.
struct Gone;

/// An editor, as long as one process of the agent lives.
struct Editor {
    child: Child,
    stdin: ChildStdin,
    messages: Receiver<Value>,
    next: u64,
}

/// The knowledge of the editor about the session, whatever process it talks to.
#[derive(Default)]
struct Known {
    session: Option<String>,
    /// How each prompt ended.
    answers: BTreeMap<&'static str, String>,
    /// How often prompts were refused, since another one was under way.
    refused: usize,
}

impl Editor {
    fn start(directory: &Path, point: Option<&String>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "acp_crashes::child", "--nocapture", "--test-threads", "1"]);
        command.env(DIRECTORY, directory).env_remove(FAIL_POINT);
        if let Some(point) = point {
            command.env(FAIL_POINT, point);
        }
        let stderr = File::create(directory.join("stderr")).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Ok(message @ Value::Object(_)) = serde_json::from_str(&line)
                    && sender.send(message).is_err()
                {
                    return;
                }
            }
        });
        Self { child, stdin, messages, next: 0 }
    }

    fn send(&mut self, message: &Value) -> Result<(), Gone> {
        writeln!(self.stdin, "{message}").map_err(|_| Gone)
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<u64, Gone> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    fn next(&self) -> Result<Value, Gone> {
        use std::sync::mpsc::RecvTimeoutError;
        self.messages.recv_timeout(LONG).map_err(|error| {
            assert_eq!(error, RecvTimeoutError::Disconnected, "the program says nothing");
            Gone
        })
    }

    fn call(&mut self, method: &str, params: &Value) -> Result<Value, Gone> {
        let id = self.request(method, params)?;
        loop {
            let message = self.next()?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    fn prompt(&mut self, session: &str, message: &str) -> Result<u64, Gone> {
        let prompt = json!([{"type": "text", "text": message}]);
        self.request("session/prompt", &json!({"sessionId": session, "prompt": prompt, "messageId": message}))
    }

    /// Sends what has no answer, in order, until all have one.
    fn talk(&mut self, known: &mut Known, directory: &Path) -> Result<(), Gone> {
        self.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}))?;
        let setup = json!({"cwd": directory.join("work"), "mcpServers": []});
        let session = match &known.session {
            Some(session) => {
                let mut setup = setup;
                setup["sessionId"] = session.as_str().into();
                let loaded = self.call("session/load", &setup)?;
                assert!(loaded.get("error").is_none(), "{loaded}");
                session.clone()
            }
            None => {
                let begun = self.call("session/new", &setup)?;
                begun["result"]["sessionId"].as_str().unwrap().to_owned()
            }
        };
        known.session = Some(session.clone());
        for message in MESSAGES {
            if !known.answers.contains_key(message) {
                let stop = self.answered(&session, message, known, directory)?;
                known.answers.insert(message, stop);
            }
        }
        Ok(())
    }

    /// Sends a prompt, answers its questions, and returns how it ended.
    fn answered(
        &mut self,
        session: &str,
        message: &'static str,
        known: &mut Known,
        directory: &Path,
    ) -> Result<String, Gone> {
        let prompt = self.prompt(session, message)?;
        let mut early = Vec::new();
        loop {
            let seen = self.next()?;
            if seen["id"] == prompt && seen.get("method").is_none() {
                assert_eq!(seen["result"]["userMessageId"], message, "{seen}");
                return Ok(seen["result"]["stopReason"].as_str().unwrap().to_owned());
            }
            if early.contains(&seen["id"]) && seen.get("method").is_none() {
                assert_eq!(seen["error"]["code"], -32600, "{seen}");
                known.refused += 1;
            }
            let update = &seen["params"]["update"];
            if seen["method"] == "session/request_permission" {
                // Three more messages while it runs: they are refused, and sent again when it is their turn.
                for later in MESSAGES.into_iter().filter(|later| *later > message) {
                    early.push(self.prompt(session, later)?.into());
                }
                let call = seen["params"]["toolCall"]["toolCallId"].as_str().unwrap();
                Ledger(directory.to_owned()).note("asked", call.rsplit('.').next().unwrap());
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": "allow_once"}});
                self.send(&json!({"jsonrpc": "2.0", "id": seen["id"], "result": outcome}))?;
            } else if update["toolCallId"].as_str().is_some_and(|id| id.ends_with("m3-stall"))
                && update["status"] == "in_progress"
            {
                let params = json!({"sessionId": session});
                self.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}))?;
            }
        }
    }

    /// The editor goes away, or the process has gone. Returns true if it ended in order.
    fn close(self) -> bool {
        let Self { mut child, stdin, messages, .. } = self;
        drop((stdin, messages));
        child.wait().unwrap().success()
    }
}

/// Has an editor talk to the program until all has its answer, and lets the program crash at a point each time. Returns false if the first
/// process passed the point not so often.
fn check(points: &[String]) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    fs::create_dir(directory.join("work")).unwrap();
    let mut known = Known::default();
    let mut crashed = 0;
    for run in 0.. {
        assert!(run < points.len() + 20, "it comes to no end");
        let mut editor = Editor::start(&directory, points.get(run));
        let is_done = editor.talk(&mut known, &directory).is_ok();
        let is_in_order = editor.close();
        check_transcripts(&directory, is_done && is_in_order);
        if is_done && is_in_order {
            break;
        }
        let error = fs::read_to_string(directory.join("stderr")).unwrap_or_default();
        assert!(run < points.len() && !error.contains("panicked"), "{points:?}: {error}");
        crashed += 1;
    }
    assert_eq!(known.answers.keys().copied().collect::<Vec<_>>(), MESSAGES);
    for (message, stop) in &known.answers {
        // A cancelled run that a crash interrupted is not stalled any more.
        assert!(stop == "end_turn" || *message == "m3" && stop == "cancelled", "{message}: {stop}");
    }
    if crashed == 0 {
        // Three while the first one ran, and two while the second one did.
        assert_eq!((known.refused, known.answers["m3"].as_str()), (5, "cancelled"));
    }
    crashed > 0
}

#[test]
fn at_some_lines_an_editor_loses_and_repeats_nothing() {
    assert!(!check(&[]));
    for pass in [1, 4, 6, 9, 21] {
        check(&[point("transcript_line", pass)]);
    }
    check(&[point("transcript_line", 7), point("transcript_sync", 3)]);
}

#[allow(dead_code, reason = "the long tests check each")]
pub(crate) fn check_each_point() {
    for name in ["transcript_line", "transcript_sync"] {
        let mut pass = 1;
        while check(&[point(name, pass)]) {
            pass += 1;
        }
        assert!(pass > 8, "{name}: {pass}");
        for next in 1..pass.min(12) {
            check(&[point(name, pass / 2), point("transcript_line", next)]);
        }
    }
}

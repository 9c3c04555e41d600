//! A session with an editor, over the Agent Client Protocol.

mod sessions;
mod shared;
mod unread;

use crate::common::{Log, call, log, results, scripted, tools, transcripts};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use toolkit::{Caller, CancellationToken, Toolkit};
use toolkit_agent::ToolAgentSettings;
use toolkit_agent::acp::{AcpAgent, AcpHost, AcpOpening, AcpSetup, serve};
use toolkit_agent::{Agent, Limits, Transcripts};
use toolkit_models::{Answer, Message, ModelError, ModelEvent, Scripted, ScriptedReply};

/// A host whose agents have the tools for files, and those of the other tests.
struct Host {
    model: Arc<Scripted>,
    transcripts: Transcripts,
    confirms: bool,
    /// Counts the sessions whose toolkits were shut down.
    ended: Arc<AtomicUsize>,
    /// A service of each toolkit, as long as it lives.
    services: Services,
    /// The toolkit of all sessions; without one, each session has its own.
    shared: Option<Toolkit>,
}

/// Returns the tools for files, and those of the other tests.
fn all_tools(log: &Arc<Log>) -> toolkit::Builder {
    tools(log)
        .tool(toolkit::tool_ref!(builtin_tools::fs::write))
        .tool(toolkit::tool_ref!(builtin_tools::fs::read))
}

type Services = Arc<Mutex<Vec<Weak<Log>>>>;

impl AcpHost for Host {
    fn open(&self, setup: AcpSetup) -> AcpOpening<'_> {
        Box::pin(async move {
            if setup.mcp_servers.iter().any(|server| server.name == "broken") {
                return Err("the server `broken` cannot be used".to_owned());
            }
            let log = log();
            self.services.lock().unwrap().push(Arc::downgrade(&log));
            let own = || {
                let count = {
                    let ended = Arc::clone(&self.ended);
                    move || {
                        ended.fetch_add(1, Ordering::SeqCst);
                        std::future::ready(())
                    }
                };
                all_tools(&log).on_shutdown("count", count).build().map_err(|error| error.to_string())
            };
            let toolkit = self.shared.clone().map_or_else(own, Ok)?;
            let mut settings = ToolAgentSettings::default();
            settings.auto_confirm_dangerous = self.confirms;
            let at_end = Some(toolkit.clone()).filter(|_| self.shared.is_none());
            let agent = Agent::builder(toolkit, Arc::clone(&self.model))
                .settings(&settings)
                .caller(Caller::new().with_workspace(setup.workspace))
                .limits(Limits::none().max_turns(50))
                .step_types(builtin_tools::step_types());
            let end = move || async move {
                if let Some(toolkit) = at_end {
                    toolkit.shutdown(Duration::from_secs(2)).await;
                }
            };
            Ok(AcpAgent::new(agent).at_end(end))
        })
    }

    fn transcripts(&self) -> &Transcripts {
        &self.transcripts
    }

    fn program(&self) -> (String, String) {
        ("test".to_owned(), "1.0".to_owned())
    }
}

/// An editor.
struct Editor {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: JoinHandle<std::io::Result<()>>,
    next: u64,
    /// All messages of the agent.
    seen: Vec<Value>,
    directory: tempfile::TempDir,
    model: Arc<Scripted>,
    ended: Arc<AtomicUsize>,
    services: Services,
}

impl Editor {
    async fn new(model: Arc<Scripted>) -> Self {
        Self::with(model, json!({}), false).await
    }

    async fn with(model: Arc<Scripted>, capabilities: Value, confirms: bool) -> Self {
        let (directory, transcripts) = transcripts();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self::of(directory, transcripts, model, capabilities, confirms, None).await
    }

    /// An editor whose sessions share a toolkit.
    async fn sharing(model: Arc<Scripted>, capabilities: Value, confirms: bool, toolkit: Toolkit) -> Self {
        let (directory, transcripts) = transcripts();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        Self::of(directory, transcripts, model, capabilities, confirms, Some(toolkit)).await
    }

    /// An editor in the directory of an earlier one.
    async fn again(directory: tempfile::TempDir, transcripts: Transcripts, model: Arc<Scripted>) -> Self {
        Self::of(directory, transcripts, model, json!({}), false, None).await
    }

    async fn of(
        directory: tempfile::TempDir,
        transcripts: Transcripts,
        model: Arc<Scripted>,
        capabilities: Value,
        confirms: bool,
        shared: Option<Toolkit>,
    ) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let ended = Arc::<AtomicUsize>::default();
        let services = Services::default();
        let host = Host {
            model: Arc::clone(&model),
            transcripts,
            confirms,
            ended: Arc::clone(&ended),
            services: Arc::clone(&services),
            shared,
        };
        let served = tokio::spawn(serve(BufReader::new(reader), writer, host, CancellationToken::new()));
        let (reader, writer) = tokio::io::split(ours);
        let lines = BufReader::new(reader).lines();
        let mut editor =
            Self { lines, writer, served, next: 0, seen: Vec::new(), directory, model, ended, services };
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        let answer = editor.call("initialize", params).await.unwrap();
        assert_eq!((&answer["protocolVersion"], &answer["authMethods"]), (&json!(1), &json!([])));
        editor
    }

    fn work(&self) -> PathBuf {
        self.directory.path().join("work").canonicalize().unwrap()
    }

    async fn send_line(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    /// The next message.
    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await.unwrap();
        let message: Value = serde_json::from_str(&line.unwrap().expect("a message")).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        self.seen.push(message.clone());
        message
    }

    /// The messages up to the first one that fits, and that one.
    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await;
            if fits(&message) {
                return message;
            }
        }
    }

    async fn answer_to(&mut self, id: u64) -> Result<Value, Value> {
        let message = self.until(|message| message["id"] == id && message.get("method").is_none()).await;
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, params).await;
        self.answer_to(id).await
    }

    async fn session(&mut self) -> String {
        let params = json!({"cwd": self.work(), "mcpServers": []});
        let answer = self.call("session/new", params).await.unwrap();
        answer["sessionId"].as_str().unwrap().to_owned()
    }

    async fn begin(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.request("session/prompt", json!({"sessionId": session, "prompt": prompt})).await
    }

    async fn prompt(&mut self, session: &str, text: &str) -> Result<Value, Value> {
        let id = self.begin(session, text).await;
        self.answer_to(id).await
    }

    /// The next question for permission.
    async fn asked(&mut self) -> Value {
        self.until(|message| message["method"] == "session/request_permission").await
    }

    async fn choose(&mut self, question: &Value, option: &str) {
        let offered = question["params"]["options"].as_array().unwrap();
        assert!(offered.iter().any(|offered| offered["optionId"] == option), "{question}");
        let result = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
    }

    /// Waits until the model has got so many requests.
    async fn until_asked(&mut self, count: usize) {
        while self.model.requests().len() < count {
            tokio::task::yield_now().await;
        }
    }

    /// The updates of a kind so far.
    fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.seen.iter().filter(|message| message["method"] == "session/update");
        let updates = updates.map(|message| message["params"]["update"].clone());
        updates.filter(|update| update["sessionUpdate"] == kind).collect()
    }

    fn text(&self, kind: &str) -> String {
        let updates = self.updates(kind);
        updates.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// The editor closes its end.
    async fn close(self) {
        drop((self.writer, self.lines));
        tokio::time::timeout(Duration::from_secs(20), self.served).await.unwrap().unwrap().unwrap();
    }
}

fn write(id: &str, path: &Path, content: &str) -> Answer {
    Answer::calls([call(id, "write", json!({"file_path": path, "content": content}))])
}

fn code(outcome: Result<Value, Value>) -> i64 {
    outcome.unwrap_err()["code"].as_i64().unwrap()
}

#[tokio::test]
async fn a_prompt_is_answered_as_it_comes() {
    let events = vec![ModelEvent::Started, ModelEvent::Reasoning("Hm.".into())];
    let reply = ScriptedReply::Events(events, Box::new(Answer::text("Good day.").into()));
    let mut editor = Editor::new(scripted([reply])).await;
    let session = editor.session().await;
    assert_eq!(editor.prompt(&session, "Hello").await.unwrap(), json!({"stopReason": "end_turn"}));
    assert_eq!(editor.text("agent_message_chunk"), "Good day.");
    assert_eq!(editor.text("agent_thought_chunk"), "Hm.");
    let requests = editor.model.requests();
    assert_eq!(requests[0].messages, [Message::user("Hello")]);
    assert!(!requests[0].system.contains("finish"), "{}", requests[0].system);
    editor.close().await;
}

#[tokio::test]
async fn a_change_is_asked_for_with_its_diff_and_shown() {
    let model = scripted([
        write("1", Path::new("a.txt"), "one\n"),
        write("1", Path::new("a.txt"), "two\n"),
        Answer::text("Written."),
    ]);
    let mut editor = Editor::new(model).await;
    let session = editor.session().await;
    let file = editor.work().join("a.txt");
    let id = editor.begin(&session, "Write it").await;
    let question = editor.asked().await;
    let asked = &question["params"]["toolCall"];
    let content = json!([{"type": "diff", "path": file, "oldText": null, "newText": "one\n"}]);
    assert_eq!(asked["content"], content, "{question}");
    let begun = editor.updates("tool_call");
    assert_eq!((&begun[0]["toolCallId"], &begun[0]["kind"]), (&asked["toolCallId"], &json!("edit")));
    assert_eq!(begun[0]["locations"][0]["path"], json!(file));
    let kinds: Vec<_> = question["params"]["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["kind"].clone())
        .collect();
    assert!(kinds.contains(&json!("allow_once")) && kinds.contains(&json!("allow_always")), "{kinds:?}");
    assert!(kinds.contains(&json!("reject_once")) && kinds.contains(&json!("reject_always")), "{kinds:?}");
    editor.choose(&question, "allow_session").await;
    // The second change has the same file and content of the same length, and is not asked for again.
    assert_eq!(editor.answer_to(id).await.unwrap()["stopReason"], "end_turn");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "two\n");
    let ended: Vec<Value> = editor
        .updates("tool_call_update")
        .into_iter()
        .filter(|update| update["status"] == "completed")
        .collect();
    assert_eq!(ended.len(), 2);
    assert_eq!(ended[0]["content"], content);
    let second = json!([{"type": "diff", "path": file, "oldText": "one\n", "newText": "two\n"}]);
    assert_eq!(ended[1]["content"], second);
    // The model gave both calls the same id.
    assert_ne!(ended[0]["toolCallId"], ended[1]["toolCallId"]);
    editor.close().await;
}

#[tokio::test]
async fn a_denial_counts_once_or_for_the_session() {
    let ask = |text: &str| Answer::calls([call("1", "ask_first", json!({"text": text}))]);
    let model = scripted([ask("a"), ask("a"), ask("a"), ask("b"), Answer::text("Well.")]);
    let mut editor = Editor::new(model).await;
    let session = editor.session().await;
    let id = editor.begin(&session, "Go").await;
    let question = editor.asked().await;
    editor.choose(&question, "reject_once").await;
    let question = editor.asked().await;
    editor.choose(&question, "reject_always").await;
    // The third one is the same and not asked again. The fourth one differs.
    let question = editor.asked().await;
    assert!(question.to_string().contains('b'), "{question}");
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    editor.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": cancelled})).await;
    assert_eq!(editor.answer_to(id).await.unwrap()["stopReason"], "end_turn");
    let failed =
        editor.updates("tool_call_update").iter().filter(|update| update["status"] == "failed").count();
    assert_eq!(failed, 4);
    let asked =
        editor.seen.iter().filter(|message| message["method"] == "session/request_permission").count();
    assert_eq!(asked, 3);
    editor.close().await;
}

#[tokio::test]
async fn an_answer_that_was_not_offered_denies() {
    for answer in [
        json!({"result": {"outcome": {"outcome": "selected", "optionId": "allow_everything"}}}),
        json!({"result": {}}),
        json!({"result": 7}),
        json!({"error": {"code": -32603, "message": "no dialogs"}}),
    ] {
        let model =
            scripted([Answer::calls([call("1", "ask_first", json!({"text": "a"}))]), Answer::text("Well.")]);
        let mut editor = Editor::new(model).await;
        let session = editor.session().await;
        let id = editor.begin(&session, "Go").await;
        let question = editor.asked().await;
        let mut message = json!({"jsonrpc": "2.0", "id": question["id"]});
        message.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        editor.send(&message).await;
        assert_eq!(editor.answer_to(id).await.unwrap()["stopReason"], "end_turn");
        let requests = editor.model.requests();
        assert!(results(&requests[1].messages)[0].2, "{answer}");
        editor.close().await;
    }
}

#[tokio::test]
async fn a_prompt_is_cancelled_wherever_it_is() {
    let begun = || vec![ModelEvent::Started, ModelEvent::Text("I".into())];
    let stall: fn() -> ScriptedReply = || Answer::calls([call("1", "stall", json!({}))]).into();
    let ask: fn() -> ScriptedReply = || Answer::calls([call("1", "ask_first", json!({"text": "a"}))]).into();
    for (reply, sign) in [
        (ScriptedReply::Events(begun(), Box::new(ScriptedReply::Stall)), "agent_message_chunk"),
        (stall(), "in_progress"),
        (ask(), "session/request_permission"),
    ] {
        let mut editor = Editor::new(scripted([reply, Answer::text("Again.").into()])).await;
        let session = editor.session().await;
        let id = editor.begin(&session, "Go").await;
        editor.until(|message| message.to_string().contains(sign)).await;
        editor.notify("session/cancel", json!({"sessionId": session})).await;
        assert_eq!(editor.answer_to(id).await.unwrap(), json!({"stopReason": "cancelled"}), "{sign}");
        // The session goes on.
        assert_eq!(editor.prompt(&session, "Go on").await.unwrap()["stopReason"], "end_turn");
        editor.close().await;
    }
}

#[tokio::test]
async fn a_cancellation_right_behind_the_prompt_counts() {
    let mut editor = Editor::new(scripted([ScriptedReply::Stall])).await;
    let session = editor.session().await;
    let id = editor.begin(&session, "Go").await;
    editor.notify("session/cancel", json!({"sessionId": session})).await;
    assert_eq!(editor.answer_to(id).await.unwrap()["stopReason"], "cancelled");
    // Without a prompt, or of another session, it does nothing.
    editor.notify("session/cancel", json!({"sessionId": session})).await;
    editor.notify("session/cancel", json!({"sessionId": "other"})).await;
    editor.notify("session/cancel", json!({})).await;
    editor.notify("$/unknown", json!([1])).await;
    let id = editor.begin(&session, "Go").await;
    editor.notify("$/cancel_request", json!({"requestId": id})).await;
    assert_eq!(editor.answer_to(id).await.unwrap()["stopReason"], "cancelled");
    editor.close().await;
}

#[tokio::test]
async fn two_prompts_at_once_are_refused() {
    // The first prompt may be cancelled before the model is asked.
    let model = Scripted::with(|request| match request.messages.last() {
        Some(Message::User(message)) if message.content[0].as_text() == Some("One") => ScriptedReply::Stall,
        _ => Answer::text("Well.").into(),
    });
    let mut editor = Editor::new(Arc::new(model)).await;
    let session = editor.session().await;
    let first = editor.begin(&session, "One").await;
    assert_eq!(code(editor.prompt(&session, "Two").await), -32600);
    let params = json!({"cwd": editor.work(), "mcpServers": [], "sessionId": session});
    assert_eq!(code(editor.call("session/load", params).await), -32600);
    editor.notify("session/cancel", json!({"sessionId": session})).await;
    assert_eq!(editor.answer_to(first).await.unwrap()["stopReason"], "cancelled");
    assert_eq!(editor.prompt(&session, "Two").await.unwrap()["stopReason"], "end_turn");
    editor.close().await;
}

#[tokio::test]
async fn bad_input_is_an_error_and_the_session_goes_on() {
    let mut editor = Editor::new(scripted([Answer::text("Well.")])).await;
    let session = editor.session().await;
    for (line, expected) in [("{", -32700), ("nonsense", -32700), ("[]", -32600), ("{\"id\":1}", -32600)] {
        editor.send_line(line).await;
        assert_eq!(editor.next().await["error"]["code"], expected, "{line}");
    }
    editor.send_line("").await;
    editor.send_line("\r").await;
    let cwd = editor.work();
    for (method, params, expected) in [
        ("session/fly", json!({}), -32601),
        ("session/new", json!({}), -32602),
        ("session/new", json!({"cwd": "relative", "mcpServers": []}), -32602),
        ("session/new", json!({"cwd": "/no/such/directory", "mcpServers": []}), -32602),
        ("session/new", json!({"cwd": cwd, "mcpServers": [{"name": "x"}]}), -32602),
        (
            "session/new",
            json!({"cwd": cwd, "mcpServers": [{"name": "broken", "command": "x", "args": [], "env": []}]}),
            -32603,
        ),
        ("session/load", json!({"cwd": cwd, "mcpServers": []}), -32602),
        ("session/load", json!({"cwd": cwd, "mcpServers": [], "sessionId": "nope"}), -32002),
        ("session/load", json!({"cwd": cwd, "mcpServers": [], "sessionId": "../../etc/passwd"}), -32002),
        ("session/prompt", json!({"sessionId": "nope", "prompt": [{"type": "text", "text": "x"}]}), -32002),
        ("session/prompt", json!({"sessionId": session, "prompt": []}), -32602),
        ("session/prompt", json!({"sessionId": session, "prompt": [{"type": "smell"}]}), -32602),
        ("session/prompt", json!([]), -32602),
        ("session/set_mode", json!({"sessionId": session, "modeId": "auto"}), -32602),
        ("initialize", json!({"protocolVersion": "x"}), -32602),
    ] {
        assert_eq!(code(editor.call(method, params.clone()).await), expected, "{method} {params}");
    }
    // Answers to nothing are ignored.
    editor.send(&json!({"jsonrpc": "2.0", "id": 99, "result": {}})).await;
    editor.send(&json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "x"}})).await;
    assert_eq!(editor.prompt(&session, "Still there?").await.unwrap()["stopReason"], "end_turn");
    editor.close().await;
}

#[tokio::test]
async fn a_later_version_is_answered_with_this_one() {
    let mut editor = Editor::new(scripted([] as [Answer; 0])).await;
    for version in [0, 1, 2, 65_535] {
        let answer = editor.call("initialize", json!({"protocolVersion": version})).await.unwrap();
        assert_eq!(answer["protocolVersion"], 1);
    }
    editor.close().await;
}

#[tokio::test]
async fn a_mode_narrows_the_tools() {
    let model = scripted([
        Answer::calls([call("1", "change", json!({"text": "a"}))]),
        Answer::text("I cannot."),
        Answer::text("Now I could."),
    ]);
    let mut editor = Editor::new(model).await;
    let session = editor.session().await;
    let mode = json!({"sessionId": session, "modeId": "read-only"});
    editor.call("session/set_mode", mode).await.unwrap();
    assert_eq!(editor.updates("current_mode_update")[0]["currentModeId"], "read-only");
    editor.prompt(&session, "Change it").await.unwrap();
    editor.call("session/set_mode", json!({"sessionId": session, "modeId": "ask"})).await.unwrap();
    editor.prompt(&session, "And now?").await.unwrap();
    let requests = editor.model.requests();
    let names = |number: usize| -> Vec<String> {
        requests[number].tools.as_ref().unwrap().tools().iter().map(|tool| tool.name.clone()).collect()
    };
    assert!(
        names(0).contains(&"look".to_owned()) && !names(0).contains(&"change".to_owned()),
        "{:?}",
        names(0)
    );
    assert!(names(2).contains(&"change".to_owned()), "{:?}", names(2));
    assert!(results(&requests[1].messages)[0].2);
    editor.close().await;
}

#[tokio::test]
async fn what_the_configuration_confirms_is_not_asked() {
    let model =
        scripted([Answer::calls([call("1", "ask_first", json!({"text": "a"}))]), Answer::text("Done.")]);
    let mut editor = Editor::with(model, json!({}), true).await;
    let params = json!({"cwd": editor.work(), "mcpServers": []});
    let session = editor.call("session/new", params).await.unwrap();
    assert_eq!(session["modes"]["currentModeId"], "auto");
    let session = session["sessionId"].as_str().unwrap().to_owned();
    editor.prompt(&session, "Go").await.unwrap();
    assert!(editor.seen.iter().all(|message| message["method"] != "session/request_permission"));
    editor.close().await;
}

#[tokio::test]
async fn text_that_is_not_saved_is_not_overwritten() {
    let model = scripted([
        Answer::calls([call("0", "read", json!({"file_path": "a.txt"}))]),
        write("1", Path::new("a.txt"), "new\n"),
        write("2", Path::new("a.txt"), "new\n"),
        Answer::text("Done."),
    ]);
    let mut editor = Editor::with(model, json!({"fs": {"readTextFile": true}}), true).await;
    let file = editor.work().join("a.txt");
    std::fs::write(&file, "old\r\n").unwrap();
    let session = editor.session().await;
    let id = editor.begin(&session, "Write it").await;
    for text in ["typed, not saved\n", "old\n"] {
        let read = editor.until(|message| message["method"] == "fs/read_text_file").await;
        let params = json!({"sessionId": session, "path": file});
        assert_eq!(read["params"], params);
        editor.send(&json!({"jsonrpc": "2.0", "id": read["id"], "result": {"content": text}})).await;
    }
    editor.answer_to(id).await.unwrap();
    let requests = editor.model.requests();
    let last = results(&requests[3].messages);
    assert!(last[1].2 && last[1].1.contains("unsaved changes"), "{last:?}");
    assert!(!last[2].2, "{last:?}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("new"));
    editor.close().await;
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_of_the_prompt() {
    let error = ModelError::Unauthorized { model: "m".into(), message: "no key".into() };
    let mut editor = Editor::new(scripted([ScriptedReply::Error(error), Answer::text("Well.").into()])).await;
    let session = editor.session().await;
    let error = editor.prompt(&session, "Hello").await.unwrap_err();
    assert_eq!(error["code"], -32603);
    assert!(error["message"].as_str().unwrap().contains('m'), "{error}");
    assert_eq!(editor.prompt(&session, "Again").await.unwrap()["stopReason"], "end_turn");
    editor.close().await;
}

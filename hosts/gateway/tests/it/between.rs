//! Sessions that see, send to and begin others, with agents that do what they are told.
#![allow(clippy::unwrap_used)]

mod crashes;
mod random;
mod seeing;
mod sending;
mod spawning;
mod whole;

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use builtin_tools::automation::JobService;
use builtin_tools::sessions::{AgentInfo, SessionService};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::prelude::*;
use toolkit::{Caller, ToolCall};
use toolkit_agent::{Agent, ContextSettings, FinalAnswer, Limits, Transcripts};
use toolkit_gateway::{
    Acceptance, AgentError, MessageId, NewMessage, RunState, SessionDirectory, SessionKey, SessionKind,
    SessionRecord, SessionSettings, SessionTools, Sessions, SessionsOptions, Store, StoreOptions, StoredJobs,
    caller_in,
};
use toolkit_models::{Answer, Message, Request, Scripted};

use crate::agents::{Ledger, until};
use crate::common::target;

/// The settings of the sessions, which a test changes.
type Settings = Arc<Mutex<SessionSettings>>;

struct Bench {
    sessions: Sessions,
    toolkit: Toolkit,
    ledger: Arc<Ledger>,
    settings: Settings,
    _directory: tempfile::TempDir,
    sent: AtomicU32,
}

struct Directory(Settings);

impl SessionDirectory for Directory {
    fn agents(&self) -> Vec<AgentInfo> {
        let info = |id: &str| AgentInfo { id: id.to_owned(), name: None, model: Some("scripted".to_owned()) };
        ["main", "other", "third"].map(info).into()
    }

    fn settings(&self) -> SessionSettings {
        self.0.lock().unwrap().clone()
    }

    fn check_model(&self, model: &str) -> Result<(), String> {
        if model == "large" { Ok(()) } else { Err(format!("there is no model `{model}`")) }
    }
}

/// Sessions in a directory, which one process at a time uses.
async fn begin(
    directory: &Path,
    options: SessionsOptions,
    settings: &Settings,
    ledger: &Arc<Ledger>,
    model: &Arc<Scripted>,
) -> (Sessions, Toolkit) {
    let store = Store::open(directory, StoreOptions::new()).await.unwrap();
    let transcripts = Transcripts::new(directory.join("transcripts"));
    let tools = SessionTools::new(store.clone(), transcripts.clone());
    let mut permissions = PermissionSettings::default();
    let allowed = json!({ "sessions_send": "allow", "sessions_spawn": "allow", "cron": "allow" });
    permissions.everybody = serde_json::from_value(allowed).unwrap();
    let jobs = StoredJobs::new(store.clone()).with_sessions(tools.clone());
    let toolkit = Toolkit::builder()
        .leave_out_incomplete()
        .shared_service(Arc::clone(ledger))
        .shared_service(Arc::new(tools.clone()) as Arc<dyn SessionService>)
        .shared_service(Arc::new(jobs) as Arc<dyn JobService>)
        .permissions(Permissions::new([permissions]))
        .build()
        .unwrap();
    let (of_agents, recovery, model) = (toolkit.clone(), tools.clone(), Arc::clone(model));
    let runtime = Handle::current();
    let agents = move |session: &SessionRecord| {
        if session.key.agent() == "none" {
            return Err(AgentError("there is no agent `none`".to_owned()));
        }
        Ok(Agent::builder(of_agents.clone(), Arc::clone(&model))
            .caller(caller_in(Caller::new(), &session.key))
            .limits(Limits::none().max_depth(2))
            .final_answer(FinalAnswer::Text)
            .context(ContextSettings::new())
            .transcripts(transcripts.clone())
            .recovery(recovery.recovery(&runtime))
            .build())
    };
    let sessions = Sessions::start(store, agents, options).await.unwrap();
    tools.begin(&sessions, Directory(Arc::clone(settings)));
    (sessions, toolkit)
}

impl Bench {
    async fn new(max_runs: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = Settings::default();
        let (ledger, model) = (Ledger::new(directory.path()), model());
        let options = SessionsOptions::new().max_runs(max_runs).steer(false);
        let (sessions, toolkit) = begin(directory.path(), options, &settings, &ledger, &model).await;
        for key in [key("main"), key("other"), key("third"), person("ada"), person("bob")] {
            let name = (key.kind() == SessionKind::Direct).then(|| name_of(&key));
            sessions.store().open_session(key, name, None).await.unwrap();
        }
        Self { sessions, toolkit, ledger, settings, _directory: directory, sent: AtomicU32::new(0) }
    }

    fn store(&self) -> &Store {
        self.sessions.store()
    }

    fn set(&self, change: impl FnOnce(&mut SessionSettings)) {
        change(&mut self.settings.lock().unwrap());
    }

    /// Sends what an agent is to do.
    async fn tell(&self, key: &SessionKey, text: impl Into<String>) -> MessageId {
        let id = self.sent.fetch_add(1, Ordering::SeqCst).to_string();
        let message = NewMessage::new("test", id, key.clone(), json!({ "text": text.into() }))
            .with_reply_to(target(key.as_str()));
        match self.sessions.send(message).await.unwrap() {
            Acceptance::Accepted { id } => id,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the run of a message has ended, and returns its state and its answer.
    async fn ended(&self, id: MessageId) -> (RunState, String) {
        until(self.store(), || async {
            let Some(run) = self.store().message(id).await.unwrap().unwrap().run else { return false };
            self.store().run(&run).await.unwrap().unwrap().ended_at.is_some()
        })
        .await;
        let run = self.store().message(id).await.unwrap().unwrap().run.unwrap();
        let sent = self.store().deliveries_of(&run).await.unwrap();
        let text = sent.first().map_or("", |part| part.body["text"].as_str().unwrap()).to_owned();
        (self.store().run(&run).await.unwrap().unwrap().state, text)
    }

    /// Returns the answer to what an agent is to do.
    async fn answer(&self, key: &SessionKey, text: impl Into<String>) -> String {
        let id = self.tell(key, text).await;
        let (state, text) = self.ended(id).await;
        assert_eq!(state, RunState::Answered, "{text}");
        text
    }

    /// Returns the result of a call in a session, outside of a run.
    async fn call(&self, key: &SessionKey, tool: &str, arguments: Value) -> Result<Value, String> {
        let toolbox = self.toolkit.toolbox(&caller_in(Caller::new().with_session("s"), key)).await;
        let result = toolbox.call(ToolCall::new("call", tool, arguments)).await.outcome;
        result.map(|output| output.details.unwrap()).map_err(|error| error.message().to_owned())
    }

    /// Waits until nothing runs or waits.
    async fn quiet(&self) {
        until(self.store(), || async {
            let counts = self.store().counts(None).await.unwrap();
            counts.running + counts.waiting + counts.queued == 0
        })
        .await;
    }
}

/// The owner's session with an agent.
fn key(agent: &str) -> SessionKey {
    SessionKey::main(agent).unwrap()
}

fn person(name: &str) -> SessionKey {
    SessionKey::person("main", name).unwrap()
}

fn name_of(key: &SessionKey) -> String {
    key.as_str().rsplit(':').next().unwrap().to_owned()
}

/// The text in marks of a number that is random.
fn contents(enclosed: &str) -> &str {
    let (mark, rest) = enclosed.split_once('\n').unwrap();
    assert_eq!(mark.len(), "<untrusted-content->".len() + 32, "{enclosed}");
    let (_, rest) = rest.split_once("\n\n").unwrap();
    rest.strip_suffix(&mark.replace('<', "\n</")).unwrap_or_else(|| panic!("{enclosed}"))
}

/// A text on which an agent calls a tool.
fn call(tool: &str, arguments: &Value) -> String {
    format!("call {tool} {arguments}")
}

fn send(to: &SessionKey, message: &str, timeout: u32) -> String {
    call("sessions_send", &send_arguments(to, message, timeout))
}

fn send_arguments(to: &SessionKey, message: &str, timeout: u32) -> Value {
    json!({ "sessionKey": to, "message": message, "timeoutSeconds": timeout })
}

/// A text on which an agent makes calls at once.
fn at_once(calls: &[(&str, Value)]) -> String {
    format!("at once {}", json!(calls))
}

/// Makes the calls that the last text of the user names, one after the other or at once; then answers with their results, or with the text.
fn model() -> Arc<Scripted> {
    Arc::new(Scripted::with(|request| act(request).into()))
}

fn act(request: &Request) -> Answer {
    let is_user = |message: &Message| matches!(message, Message::User(_));
    let at = request.messages.iter().rposition(is_user).unwrap_or(0);
    let Message::User(message) = &request.messages[at] else { return Answer::text("nothing") };
    let text = message.content[0].as_text().unwrap_or_default().to_owned();
    let calls: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("call ")).collect();
    let results: Vec<String> = request.messages[at..]
        .iter()
        .filter_map(|message| match message {
            Message::Tools(results) => {
                let texts: Vec<_> = results.results.iter().map(toolkit_models::ToolOutput::to_text).collect();
                Some(texts.join(" & "))
            }
            _ => None,
        })
        .collect();
    if let Some(list) = text.lines().find_map(|line| line.strip_prefix("at once "))
        && results.is_empty()
    {
        let calls: Vec<(String, Value)> = serde_json::from_str(list).unwrap();
        let calls = calls.into_iter().enumerate();
        return Answer::calls(
            calls.map(|(place, (tool, arguments))| ToolCall::new(format!("{tool}-{place}"), tool, arguments)),
        );
    }
    if let Some(next) = calls.get(results.len()) {
        let (tool, arguments) = next.split_once(' ').unwrap();
        let id = format!("{tool}-{}", results.len());
        return Answer::calls([ToolCall::new(id, tool, serde_json::from_str::<Value>(arguments).unwrap())]);
    }
    let answer = if results.is_empty() {
        format!("answer to {text}")
    } else {
        format!("results: {}", results.join(" | "))
    };
    if text.contains("Expected outcome:") {
        let account = json!({ "success": true, "summary": answer });
        return Answer::calls([ToolCall::new("end", "finish", account)]);
    }
    Answer::text(answer)
}

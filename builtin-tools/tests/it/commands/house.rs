//! A session in a workspace, with a person who answers as a test says.

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use toolkit::prelude::*;
use toolkit::{
    Builder, Toolbox,
    approval::{Answer, CallbackApprover, PendingAsk, Question},
    config::{Configuration, LoadOptions},
};

/// The supervisor is an example of this crate, which is built with the tests.
fn supervise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let test = std::env::current_exe().unwrap();
        let supervisor = test.parent().unwrap().parent().unwrap().join("examples/supervisor");
        assert!(supervisor.exists(), "{} is not built", supervisor.display());
        toolkit_sandbox::supervise_with(supervisor);
    });
}

/// Returns true if this system has all of the sandbox.
pub(crate) fn is_whole() -> bool {
    supervise();
    toolkit_sandbox::probe().is_whole()
}

pub(crate) struct House {
    root: TempDir,
    pub(crate) toolkit: Toolkit,
    pub(crate) toolbox: Toolbox,
    asked: Arc<Mutex<Vec<PendingAsk>>>,
}

/// The person's answer to each question.
pub(crate) type Says = fn(&toolkit::Ask) -> Answer;

impl House {
    /// Everything is allowed once.
    pub(crate) async fn new(config: Value) -> Self {
        Self::with(config, |_| Answer::allow()).await
    }

    pub(crate) async fn with(config: Value, says: Says) -> Self {
        Self::made(config, says, |builder| builder).await
    }

    /// Whose host ends with its call.
    pub(crate) async fn for_one_call(config: Value) -> Self {
        Self::made(config, |_| Answer::allow(), Builder::for_one_call).await
    }

    /// Where this resolver knows the addresses of names.
    pub(crate) async fn made_with_resolver(
        config: Value,
        resolver: impl toolkit_http::Resolver + 'static,
    ) -> Self {
        let resolver: Arc<dyn toolkit_http::Resolver> = Arc::new(resolver);
        Self::made(config, |_| Answer::allow(), |builder| builder.shared_service(resolver)).await
    }

    async fn made(config: Value, says: Says, with: impl FnOnce(Builder) -> Builder) -> Self {
        supervise();
        let root = tempfile::tempdir().unwrap();
        for directory in ["work", "user", "data"] {
            fs::create_dir(root.path().join(directory)).unwrap();
        }
        fs::write(root.path().join("work/a.txt"), "one\ntwo\n").unwrap();
        fs::write(root.path().join("work/.env"), "SECRET=1\n").unwrap();
        fs::write(root.path().join("user/toolkit.json5"), config.to_string()).unwrap();
        let options = LoadOptions::new().user_file(root.path().join("user/toolkit.json5"));
        let configuration = Configuration::load(options).unwrap();
        let asked: Arc<Mutex<Vec<PendingAsk>>> = Arc::default();
        let seen = Arc::clone(&asked);
        let approver = CallbackApprover::new(move |ask: &PendingAsk| {
            seen.lock().unwrap().push(ask.clone());
            match ask.question() {
                Question::Approve(ask) => says(ask),
                _ => Answer::deny(),
            }
        });
        let builder = Toolkit::builder()
            .configuration(configuration)
            .data_dir(root.path().join("data"))
            .approver(approver);
        let toolkit = with(builder).build().unwrap();
        let caller = Caller::new().with_session("s").with_workspace(root.path().join("work"));
        let toolbox = toolkit.toolbox(&caller).await;
        Self { root, toolkit, toolbox, asked }
    }

    /// Makes the place of outputs unusable.
    pub(crate) fn block_outputs(&self) {
        fs::write(self.root.path().join("data/tool-output"), "").unwrap();
    }

    /// Replaces the configuration of hosts that are made later.
    pub(crate) fn configure(&self, config: &Value) {
        fs::write(self.root.path().join("user/toolkit.json5"), config.to_string()).unwrap();
    }

    /// Another host with the same data, of the same user, where nobody answers.
    pub(crate) async fn another_host(&self) -> Inner {
        self.another_host_answering(|_| Answer::deny()).await
    }

    /// The same, where somebody answers.
    pub(crate) async fn another_host_answering(&self, says: Says) -> Inner {
        let options = LoadOptions::new().user_file(self.root.path().join("user/toolkit.json5"));
        let approver = CallbackApprover::new(move |ask: &PendingAsk| match ask.question() {
            Question::Approve(ask) => says(ask),
            _ => Answer::deny(),
        });
        let toolkit = Toolkit::builder()
            .configuration(Configuration::load(options).unwrap())
            .data_dir(self.root.path().join("data"))
            .approver(approver)
            .build()
            .unwrap();
        let caller = Caller::new().with_session("another").with_workspace(self.path("."));
        Inner(toolkit.toolbox(&caller).await)
    }

    /// The same in a directory of the workspace.
    pub(crate) async fn within(&self, directory: &str) -> Inner {
        let caller = Caller::new().with_session("inner").with_workspace(self.path(directory));
        Inner(self.toolkit.toolbox(&caller).await)
    }

    /// The same for an agent.
    pub(crate) async fn of_agent(&self, agent: &str) -> Inner {
        let caller = Caller::new().with_session(agent).with_workspace(self.path(".")).with_agent(agent);
        Inner(self.toolkit.toolbox(&caller).await)
    }

    /// The same, where these directories alone are within the boundary.
    pub(crate) async fn narrowed(&self, roots: &[PathBuf]) -> Inner {
        let caller = Caller::new().with_session("narrowed").with_workspace(self.path("."));
        Inner(self.toolkit.toolbox(&self.toolkit.narrowed(&caller, roots)).await)
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work").join(path)
    }

    /// Returns the questions since the last call of this function.
    pub(crate) fn asked(&self) -> Vec<PendingAsk> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.toolbox.call(ToolCall::new("1", tool, arguments)).await
    }

    pub(crate) async fn exec(&self, command: &str) -> ToolResult {
        self.call("exec", json!({ "command": command })).await
    }

    pub(crate) async fn process(&self, action: &str, task: &str) -> ToolResult {
        self.call("process", json!({ "action": action, "task_id": task })).await
    }

    /// Polls a job until a text was told; `seen` is what was told before. Returns all that was told.
    pub(crate) async fn until_told(&self, task: &str, mut seen: String, text: &str) -> String {
        let until = Instant::now() + Duration::from_mins(1);
        // The polls of a job that has ended do not wait.
        for _ in 0..100 {
            if seen.contains(text) || Instant::now() > until {
                break;
            }
            seen.push_str(&self.process("poll", task).await.text());
        }
        assert!(seen.contains(text), "no {text:?} in {seen:?}");
        seen
    }
}

/// A session in another workspace.
pub(crate) struct Inner(pub(crate) Toolbox);

impl Inner {
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.0.call(ToolCall::new("1", tool, arguments)).await
    }

    pub(crate) async fn exec(&self, command: &str) -> ToolResult {
        self.0.call(ToolCall::new("1", "exec", json!({ "command": command }))).await
    }
}

/// A fact of a result, whether it is an error or not.
pub(crate) fn fact(result: &ToolResult, key: &str) -> Value {
    let found = match &result.outcome {
        Ok(output) => output.metadata.get(key),
        Err(error) => error.metadata(key),
    };
    found.cloned().unwrap_or(Value::Null)
}

/// The processes whose arguments or environment have this marker: none, once those that are ending are gone.
pub(crate) fn alive(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if !pid.bytes().all(|byte| byte.is_ascii_digit()) || pid == std::process::id().to_string() {
            continue;
        }
        let read = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
        let (line, environment) = (read("cmdline"), read("environ"));
        let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(marker);
        if has(&line) || has(&environment) {
            found.push(format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    found
}

//! A directory with a configuration, a scripted model on loopback, and an MCP server in this process.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use tokio::net::TcpListener;
use toolkit::prelude::*;
use toolkit::{CancellationToken, config::LoadOptions, tool_ref};
use toolkit_host::toolkit_mcp::{Bearer, HttpOptions, HttpService, at_path, serve_http};
use toolkit_loopback::{Answer, Loopback};

const TOKEN: &str = "0123456789abcdef";

/// A directory for the user's file, the workspace and the data.
pub(crate) struct Bench {
    directory: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(configuration: &Value) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["user", "work"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        let bench = Self { directory };
        bench.write(configuration);
        bench
    }

    /// Replaces the user's file as a whole: it may be read at any time.
    pub(crate) fn write(&self, configuration: &Value) {
        let new = self.path("user/new");
        fs::write(&new, configuration.to_string()).unwrap();
        fs::rename(new, self.path("user/toolkit.json5")).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn load(&self) -> LoadOptions {
        LoadOptions::new()
            .user_file(self.path("user/toolkit.json5"))
            .workspace(self.path("work"))
            .data_dir(self.path("data"))
    }
}

/// A server that gives these answers in place of a model.
pub(crate) async fn model(answers: impl IntoIterator<Item = Answer>) -> Loopback {
    let answers = Mutex::new(answers.into_iter().collect::<VecDeque<_>>());
    Loopback::start(move |_| {
        answers.lock().unwrap().pop_front().unwrap_or_else(|| Answer::json(400, &json!({})))
    })
    .await
}

/// An answer of Chat Completions with one call.
pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Answer {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let calls = json!([{"index": 0, "id": id, "type": "function", "function": function}]);
    let chunk = |choice: Value| {
        let chunk = json!({"id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let delta = json!({"role": "assistant", "tool_calls": calls});
    let body = chunk(json!({"index": 0, "delta": delta}))
        + &chunk(json!({"index": 0, "delta": {}, "finish_reason": "tool_calls"}))
        + "data: [DONE]\n\n";
    Answer::bytes(200, body).with_header("content-type", "text/event-stream")
}

/// The final answer of an agent.
pub(crate) fn done(summary: &str) -> Answer {
    call("end", "finish", &json!({"success": true, "summary": summary}))
}

/// Returns the tide of a harbour.
#[tool(read_only)]
async fn tide(
    /** The harbour. */
    harbour: &str,
) -> String {
    format!("{harbour}: high")
}

/// An MCP server with the tool `tide`, until the value is dropped.
pub(crate) struct TideServer {
    settings: Value,
    shutdown: CancellationToken,
}

impl TideServer {
    pub(crate) async fn start() -> Self {
        let toolkit = Toolkit::empty().tool(tool_ref!(tide)).build().unwrap();
        let options = HttpOptions::new();
        let shutdown = options.shutdown.clone();
        let service = Bearer::new(HttpService::new(toolkit, Caller::new(), options), TOKEN);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(serve_http(listener, at_path("/mcp", service), shutdown.clone()));
        let settings =
            json!({"url": url, "type": "http", "headers": {"authorization": format!("Bearer {TOKEN}")}});
        Self { settings, shutdown }
    }

    /// Returns its settings in a configuration.
    pub(crate) fn settings(&self) -> Value {
        self.settings.clone()
    }
}

impl Drop for TideServer {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

//! A client of the protocol, in both of its generations, and a toolkit served to it.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod asking;
mod calls;
mod ending;
mod lists;
mod outputs;
mod roots;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, Implementation,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext, RunningService,
};
use rmcp::{ClientHandler, RoleClient, RoleServer, ServiceExt as _};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use toolkit::{Builder, Caller, Toolkit};
use toolkit_mcp::{ServerOptions, ToolServer};

/// Both generations: with a session, and with all in each request.
const GENERATIONS: [ProtocolVersion; 2] = [ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28];

/// Requests and notifications that a client got, and its answers.
#[derive(Clone, Default)]
struct Person {
    answers: Arc<Mutex<VecDeque<ElicitResult>>>,
    asked: Arc<Mutex<Vec<ElicitRequestParams>>>,
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    lists_changed: Arc<tokio::sync::Notify>,
    cannot_be_asked: bool,
    /// It leaves questions unanswered.
    never_answers: bool,
    questions_cancelled: Arc<tokio::sync::Notify>,
}

impl Person {
    fn answering(answers: impl IntoIterator<Item = ElicitResult>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), ..Self::default() }
    }

    /// The texts that it was asked.
    fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let message = |params: &ElicitRequestParams| match params {
            ElicitRequestParams::FormElicitationParams { message, .. } => message.clone(),
            other => format!("{other:?}"),
        };
        asked.iter().map(message).collect()
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = if self.cannot_be_asked {
            ClientCapabilities::default()
        } else {
            ClientCapabilities::builder().enable_elicitation().build()
        };
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.lock().unwrap().push(request);
        if self.never_answers {
            return std::future::pending().await;
        }
        Ok(self.answers.lock().unwrap().pop_front().unwrap_or(ElicitResult::new(ElicitationAction::Cancel)))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(params);
    }

    async fn on_cancelled(
        &self,
        params: CancelledNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        assert!(params.request_id.is_some(), "it names the question");
        self.questions_cancelled.notify_one();
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.lists_changed.notify_one();
    }
}

/// A client and the server that it is connected to, in this process.
struct Connected {
    client: RunningService<RoleClient, Person>,
    /// Ends with the client.
    _server: tokio::task::JoinHandle<Option<RunningService<RoleServer, ToolServer>>>,
    toolkit: Toolkit,
    directory: tempfile::TempDir,
}

async fn connect(version: &ProtocolVersion, person: Person, toolkit: Builder) -> Connected {
    connect_with(version, person, toolkit, ServerOptions::new()).await
}

async fn connect_with(
    version: &ProtocolVersion,
    person: Person,
    toolkit: Builder,
    options: ServerOptions,
) -> Connected {
    let directory = tempfile::tempdir().unwrap();
    let toolkit = toolkit.data_dir(directory.path().join("data")).build().unwrap();
    let caller = Caller::new().with_workspace(directory.path());
    let shutdown = options.shutdown.child_token();
    let server = ToolServer::with_options(toolkit.clone(), caller, options);
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(async move { server.serve_with_ct(ours, shutdown).await.ok() });
    let lifecycle = if *version == ProtocolVersion::V_2026_07_28 {
        ClientLifecycleMode::Discover { preferred_versions: vec![version.clone()] }
    } else {
        ClientLifecycleMode::Initialize
    };
    let client = person.serve_with_lifecycle(theirs, lifecycle).await.unwrap();
    Connected { client, _server: serving, toolkit, directory }
}

impl Connected {
    async fn call(&self, name: &'static str, arguments: Value) -> CallToolResult {
        self.client.call_tool(params(name, arguments)).await.unwrap()
    }
}

fn params(name: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(name).with_arguments(arguments)
}

/// The text of a result.
fn text(result: &CallToolResult) -> String {
    let texts: Vec<&str> =
        result.content.iter().filter_map(|block| block.as_text()).map(|text| &*text.text).collect();
    texts.join("\n")
}

fn accept(content: Value) -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(content)
}

fn nothing() -> Value {
    Value::Object(Map::new())
}

//! The agent for editors: the [Agent Client Protocol](https://agentclientprotocol.com), version 1, over any pair of streams.
//!
//! ```text
//! serve: lines → rpc::parse → server (initialize, session/…)
//!   session/prompt → conversation → Session::run
//!                      events  → updates → session/update
//!                      questions → permission → session/request_permission
//! ```
//!
//! Files are read and written on the disk, by the tools and under their policy, and commands run in the toolkit's sandbox. An editor
//! that offers `fs/read_text_file` is asked for its text of a file before a tool changes the file: text that is not saved yet is not
//! overwritten.
//!
//! Sessions may share a toolkit: approvals, background jobs, the mode and the guard of unsaved text belong to a session.

mod client;
mod content;
mod diff;
mod lines;
mod permission;
mod prompt;
mod replay;
mod rpc;
mod server;
mod session;
mod unsaved;
mod updates;

pub use server::serve;

use crate::agent::AgentBuilder;
use crate::transcript::Transcripts;
use client::Client;
use std::any::Any;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

/// The maker of agents for the sessions of an editor.
pub trait AcpHost: Send + Sync + 'static {
    /// Returns the agent of a new session. The error is shown to the user, so it says what to do.
    fn open(&self, setup: AcpSetup) -> AcpOpening<'_>;

    /// Returns the transcripts, from which sessions are loaded.
    fn transcripts(&self) -> &Transcripts;

    /// Returns the name and the version of the program.
    fn program(&self) -> (String, String);
}

/// Future returned by [`AcpHost::open`].
pub type AcpOpening<'a> = Pin<Box<dyn Future<Output = Result<AcpAgent, String>> + Send + 'a>>;

/// The agent of a session.
///
/// The server sets its approver, its hook for changes of files and the way of its final answer. The session of the toolkit is the
/// conversation's own, so that the sessions of an editor may share a toolkit.
#[non_exhaustive]
pub struct AcpAgent {
    /// The agent, with its toolkit and its caller.
    pub agent: AgentBuilder,
    /// A value that is dropped at the end of the session, such as the connections to its MCP servers.
    pub until_end: Option<Box<dyn Any + Send>>,
    /// Work for the end of the session, such as [`Toolkit::shutdown`](toolkit::Toolkit::shutdown).
    pub at_end: Option<AcpEnding>,
}

/// Work for the end of a session: see [`AcpAgent::at_end`].
pub type AcpEnding = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

impl AcpAgent {
    /// Returns an agent with nothing to drop at the end.
    pub fn new(agent: AgentBuilder) -> Self {
        Self { agent, until_end: None, at_end: None }
    }

    /// Sets a value that is dropped at the end of the session.
    #[must_use]
    pub fn until_end(mut self, value: impl Any + Send) -> Self {
        self.until_end = Some(Box::new(value));
        self
    }

    /// Sets work for the end of the session: when the editor closes it, opens it again, or goes away. It has 5 s.
    #[must_use]
    pub fn at_end<F: Future<Output = ()> + Send + 'static>(
        mut self,
        end: impl FnOnce() -> F + Send + 'static,
    ) -> Self {
        self.at_end = Some(Box::new(move || Box::pin(end())));
        self
    }
}

impl std::fmt::Debug for AcpAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AcpAgent").field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// The setup of a session, as the editor asks for it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AcpSetup {
    /// The workspace: an absolute path of a directory.
    pub workspace: PathBuf,
    /// The MCP servers that the editor wants connected.
    pub mcp_servers: Vec<AcpMcpServer>,
}

/// An MCP server of an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AcpMcpServer {
    /// Its name.
    pub name: String,
    /// The connection.
    pub transport: AcpMcpTransport,
}

/// How an MCP server of an editor is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcpMcpTransport {
    /// A command that speaks on its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Names and values of its environment variables.
        env: Vec<(String, String)>,
    },
    /// Streamable HTTP.
    Http {
        /// The URL.
        url: String,
        /// Names and values of headers of each request.
        headers: Vec<(String, String)>,
    },
    /// HTTP with SSE, of older servers.
    Sse {
        /// The URL.
        url: String,
        /// Names and values of headers of each request.
        headers: Vec<(String, String)>,
    },
}

/// The link between a session and its editor.
#[derive(Debug)]
struct Link {
    client: Client,
    /// The id of the session, once it is known.
    session: std::sync::OnceLock<String>,
    updates: std::sync::Mutex<updates::Updates>,
}

type SharedLink = Arc<Link>;

impl Link {
    /// Tells the editor about a change of the session.
    fn update(&self, update: &serde_json::Value) {
        let session = self.session.get().map_or("", String::as_str);
        self.client.notify("session/update", &serde_json::json!({"sessionId": session, "update": update}));
    }

    fn updates(&self) -> std::sync::MutexGuard<'_, updates::Updates> {
        self.updates.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

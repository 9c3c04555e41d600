//! The service behind the tools for sessions.

use std::pin::Pin;
use std::time::Duration;

use serde_json::{Map, Value};
use toolkit::prelude::*;

/// Future returned by a [`SessionService`].
pub type SessionAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send + 'a>>;

/// Keeps sessions, and lets one session see and write to others.
///
/// The service knows from the context which session calls. What a session may see is up to the host; a session that it may not see does
/// not exist for it: an answer about one is the same as an answer about a key that no session has. The tools have checked which fields go
/// together; the runtime has asked for approval.
pub trait SessionService: Send + Sync + 'static {
    /// Lists the sessions that the calling one may see, the one that was active last first.
    fn list<'a>(&'a self, ctx: &'a ToolContext, query: SessionQuery) -> SessionAnswer<'a, Vec<SessionInfo>>;

    /// Reads the newest `limit` messages of a session, the oldest of them first.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if there is no such session, or the caller may not see it; `Unavailable` if its messages cannot be read.
    fn history<'a>(
        &'a self,
        ctx: &'a ToolContext,
        session_key: &'a str,
        limit: usize,
        include_tools: bool,
    ) -> SessionAnswer<'a, SessionHistory>;

    /// Sends a message to another session, and waits for the answer for at most `timeout`; not at all if that is zero.
    ///
    /// The end of the waiting does not end the run that answers. While a call waits, it holds nothing that the other session needs. A wait
    /// that would close a cycle of waits is refused at once, with the path, and nothing is sent. A call that is made again under its id,
    /// after a crash, does not send the message a second time. A refusal is an outcome, not an error.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the message could not be stored: then it was not sent.
    fn send<'a>(&'a self, ctx: &'a ToolContext, request: SendRequest) -> SessionAnswer<'a, SendResult>;

    /// Begins a session below the calling one, with a first message, and returns its key at once. The result of each of its runs arrives in
    /// the calling session as a message, also after a restart.
    ///
    /// A call that is made again under its id, after a crash, returns the session that was begun first.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if there is no such agent or model, the label is taken, or the caller has too many sessions at work below it or
    /// is too deep itself; `Denied` if the caller's person may not use the agent.
    fn spawn<'a>(&'a self, ctx: &'a ToolContext, request: SpawnRequest) -> SessionAnswer<'a, SpawnedSession>;

    /// Returns the status of a session; of the calling one without a key.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if there is no such session, or the caller may not see it.
    fn status<'a>(
        &'a self,
        ctx: &'a ToolContext,
        session_key: Option<&'a str>,
    ) -> SessionAnswer<'a, StatusInfo>;

    /// Lists the agents that the caller's person may use.
    fn agents<'a>(&'a self, ctx: &'a ToolContext) -> SessionAnswer<'a, Vec<AgentInfo>>;
}

/// Which sessions are listed.
#[toolkit::args]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SessionFilter {
    /// Those in which something runs or waits.
    Active,
    /// All that are not archived.
    #[default]
    All,
}

/// The kind of a session.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// The owner's.
    Main,
    /// One person's.
    Direct,
    /// A group's.
    Group,
    /// A sub-agent's.
    Sub,
    /// A scheduled job's.
    Cron,
    /// A webhook's.
    Hook,
}

/// The status of a session.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// A run is under way.
    Active,
    /// A run or a message waits.
    Waiting,
    /// Nothing runs or waits.
    Idle,
    /// It was archived.
    Archived,
}

/// Which sessions to list, and with how much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// Active ones, or all.
    pub filter: SessionFilter,
    /// Of these kinds alone; all, if empty.
    pub kinds: Vec<SessionKind>,
    /// The most sessions.
    pub limit: usize,
    /// Those that were active within this time alone.
    pub active_within: Option<Duration>,
    /// How many of the newest messages of each are included.
    pub messages: usize,
}

/// A session in a list.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// Its key.
    pub session_key: String,
    /// Its agent.
    pub agent_id: String,
    /// Its kind.
    pub kind: SessionKind,
    /// Its label.
    pub label: Option<String>,
    /// The session that began it.
    pub parent: Option<String>,
    /// Its status.
    pub status: SessionStatus,
    /// When it was active last.
    pub last_active: String,
    /// The number of messages that it received, and of its answers.
    pub message_count: u64,
    /// Its newest messages, if they were asked for.
    pub messages: Option<Vec<SessionMessage>>,
}

/// The newest messages of a session.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SessionHistory {
    /// The key of the session.
    pub session_key: String,
    /// The messages, the oldest first.
    pub messages: Vec<SessionMessage>,
    /// True if there are earlier ones.
    pub has_more: bool,
}

/// A message of a session.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SessionMessage {
    /// Who wrote it: user, assistant or tool.
    pub role: String,
    /// Its text.
    pub text: String,
    /// True if the text is the beginning of a longer one.
    pub truncated: Option<bool>,
    /// The calls of tools in it, if they were asked for.
    pub tool_calls: Option<Vec<SessionToolCall>>,
}

/// A call of a tool in a message.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SessionToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Option<Map<String, Value>>,
}

/// The session to which a message is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionTarget {
    /// The one with this key.
    Key(String),
    /// The one of an agent that has this label.
    Label {
        /// The label.
        label: String,
        /// The agent; by default that of the caller.
        agent_id: Option<String>,
    },
}

/// A message to another session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendRequest {
    /// The session.
    pub to: SessionTarget,
    /// The message.
    pub message: String,
    /// How long to wait for the answer; zero: not at all.
    pub timeout: Duration,
}

/// How far a message to another session came.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SendOutcome {
    /// It was answered.
    Ok,
    /// It is stored, and will be answered; nobody waited.
    Accepted,
    /// It is stored, and was not answered in time. It still will be.
    Timeout,
    /// It was not sent, or its run ended without an answer.
    Error,
    /// There is no such session, or one of the two may not exchange messages with the other.
    Forbidden,
}

/// The result of sending a message to another session.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SendResult {
    /// The outcome.
    pub outcome: SendOutcome,
    /// The session.
    pub session_key: Option<String>,
    /// The answer.
    pub reply: Option<String>,
    /// Why there is none.
    pub error: Option<String>,
}

/// How much the model of a sub-agent reasons.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum SpawnThinking {
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// A session to be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnRequest {
    /// Its first message.
    pub prompt: String,
    /// How much its model reasons.
    pub thinking: Option<SpawnThinking>,
    /// Its agent; by default that of the caller.
    pub agent_id: Option<String>,
    /// Its label.
    pub label: Option<String>,
    /// Its model; by default that of its agent.
    pub model: Option<String>,
    /// The time after which one of its runs is cancelled.
    pub run_timeout: Option<Duration>,
}

/// A session that was begun.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SpawnedSession {
    /// Its key.
    pub session_key: String,
}

/// The status of a session.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct StatusInfo {
    /// Its key.
    pub session_key: String,
    /// Its agent.
    pub agent_id: String,
    /// Its model.
    pub model: Option<String>,
    /// Its label.
    pub label: Option<String>,
    /// The session that began it.
    pub parent: Option<String>,
    /// The number of messages that it received, and of its answers.
    pub message_count: u64,
    /// The number of messages that wait.
    pub queued: u32,
    /// When it was active last.
    pub last_active: String,
    /// Its status.
    pub status: SessionStatus,
}

/// An agent.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// Its model.
    pub model: Option<String>,
}

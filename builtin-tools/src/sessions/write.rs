//! `sessions_send` and `sessions_spawn`.

use std::time::Duration;

use toolkit::prelude::*;

use super::service::{SendRequest, SendResult, SessionTarget, SpawnRequest, SpawnThinking, SpawnedSession};
use super::{provided, service, wrong};
use crate::titles;

/// Seconds for which an answer is waited for by default.
const TIMEOUT: u32 = 60;

/// The arguments of `sessions_send`.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct SessionsSendArguments {
    /// The key of the session. Or `label`.
    #[arg(length(1..=4_096))]
    pub session_key: Option<String>,
    /// The label of the session, in place of `sessionKey`.
    #[arg(length(1..=100))]
    pub label: Option<String>,
    /// The agent whose session has the label. Default: this agent.
    #[arg(length(1..=128))]
    pub agent_id: Option<String>,
    /// The text that the agent of that session reads.
    #[arg(length(1..=131_072))]
    pub message: String,
    /// Wait so long for the answer; 0 does not wait. The end of the waiting does not end the work of the other session. Default: 60.
    #[arg(range(0..=3_600))]
    pub timeout_seconds: Option<u32>,
}

/// The arguments of `sessions_spawn`.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct SessionsSpawnArguments {
    /// The task. It must make sense without this conversation.
    #[arg(length(1..=131_072))]
    pub prompt: String,
    /// How much the model reasons.
    pub thinking: Option<SpawnThinking>,
    /// The agent; `agents_list` names them. Default: this agent.
    #[arg(length(1..=128))]
    pub agent_id: Option<String>,
    /// A label, by which `sessions_send` finds the session.
    #[arg(length(1..=100))]
    pub label: Option<String>,
    /// The model. Default: that of the agent.
    #[arg(length(1..=128))]
    pub model: Option<String>,
    /// Cancel a run that takes longer.
    #[arg(range(1..=604_800))]
    pub run_timeout_seconds: Option<u64>,
}

/// Sends a message to another session and waits for its answer. The outcome is `ok` (with `reply`), `accepted` (did not wait), `timeout` (no
/// answer in time; it still works on it, `sessions_history` shows the answer later), `error`, or `forbidden`.
///
/// Two sessions cannot wait for each other: a call that would close a circle is an `error` that shows the path, and nothing is sent.
///
/// # Errors
///
/// If not exactly one of `sessionKey` and `label` is given, or the message could not be stored.
#[tool(
    name = "sessions_send",
    group = "sessions",
    title = "Send to a session",
    timeout = "4000s",
    prepare = provided
)]
pub async fn sessions_send(
    ctx: &ToolContext,
    #[args] arguments: SessionsSendArguments,
) -> Result<Json<SendResult>, ToolError> {
    let service = service(ctx)?;
    let to = match (arguments.session_key, arguments.label, arguments.agent_id) {
        (Some(_), Some(_), _) => return Err(wrong("`sessionKey` and `label` are given: give one of them")),
        (Some(_), None, Some(_)) => {
            return Err(wrong("`agentId` goes with `label`: the key names the agent already; leave it out"));
        }
        (Some(key), None, None) => SessionTarget::Key(key),
        (None, Some(label), agent_id) => SessionTarget::Label { label, agent_id },
        (None, None, _) => return Err(wrong("the session is missing: give `sessionKey` or `label`")),
    };
    let (SessionTarget::Key(name) | SessionTarget::Label { label: name, .. }) = &to;
    titles::begin(ctx, "Send to", name);
    let timeout = Duration::from_secs(arguments.timeout_seconds.unwrap_or(TIMEOUT).into());
    let request = SendRequest { to, message: arguments.message, timeout };
    Ok(Json(service.send(ctx, request).await?))
}

/// Begins a session of a sub-agent that works on a task in the background, and returns its key at once. Its result arrives here as a message
/// when it is done; do not wait for it.
///
/// # Errors
///
/// If there is no such agent or model, the label is taken, too many sub-agents are at work, or this session is too deep below others.
#[tool(
    name = "sessions_spawn",
    group = "sessions",
    title = "Begin a sub-agent",
    prepare = provided
)]
pub async fn sessions_spawn(
    ctx: &ToolContext,
    #[args] arguments: SessionsSpawnArguments,
) -> Result<Json<SpawnedSession>, ToolError> {
    let service = service(ctx)?;
    titles::begin(ctx, "Begin a sub-agent:", &arguments.prompt);
    let request = SpawnRequest {
        prompt: arguments.prompt,
        thinking: arguments.thinking,
        agent_id: arguments.agent_id,
        label: arguments.label,
        model: arguments.model,
        run_timeout: arguments.run_timeout_seconds.map(Duration::from_secs),
    };
    Ok(Json(service.spawn(ctx, request).await?))
}

//! `sessions_list`, `sessions_history`, `session_status` and `agents_list`.

use std::time::Duration;

use toolkit::prelude::*;

use super::service::{
    AgentInfo, SessionFilter, SessionHistory, SessionInfo, SessionKind, SessionQuery, StatusInfo,
};
use super::{provided, service};
use crate::titles;

/// Sessions that are listed by default.
const LISTED: usize = 50;
/// Messages that are read by default.
const READ: usize = 20;

/// The arguments of `sessions_list`.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct SessionsListArguments {
    /// `active`: sessions in which something runs or waits. Default: all.
    pub filter: Option<SessionFilter>,
    /// Only sessions of these kinds.
    #[arg(length(..=6))]
    pub kinds: Option<Vec<SessionKind>>,
    /// The most sessions. Default: 50.
    #[arg(range(1..=200))]
    pub limit: Option<u32>,
    /// Only sessions that were active within so many minutes.
    #[arg(range(1..=525_600))]
    pub active_minutes: Option<u32>,
    /// Include so many of the newest messages of each session. Default: 0.
    #[arg(range(0..=20))]
    pub message_limit: Option<u32>,
}

/// The sessions.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
pub struct SessionsListResult {
    /// The sessions, the one that was active last first.
    pub sessions: Vec<SessionInfo>,
}

/// The arguments of `sessions_history`.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct SessionsHistoryArguments {
    /// The session to read, by its key as `sessions_list` shows it.
    #[arg(length(1..=4_096))]
    pub session_key: String,
    /// The most messages. Default: 20.
    #[arg(range(1..=200))]
    pub limit: Option<u32>,
    /// True includes tool calls and their results. Default: false.
    pub include_tools: Option<bool>,
}

/// The arguments of `session_status`.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatusArguments {
    /// The key of the session. Default: this session.
    #[arg(length(1..=4_096))]
    pub session_key: Option<String>,
}

/// The agents.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
pub struct AgentsListResult {
    /// The agents.
    pub agents: Vec<AgentInfo>,
}

/// Lists the sessions that this one may see, with their status, the one that was active last first.
#[tool(
    name = "sessions_list",
    group = "sessions",
    title = "List sessions",
    read_only,
    auto_execute,
    prepare = provided
)]
pub async fn sessions_list(
    ctx: &ToolContext,
    #[args] arguments: SessionsListArguments,
) -> Result<Json<SessionsListResult>, ToolError> {
    let service = service(ctx)?;
    titles::begin(ctx, "List sessions", "");
    let query = SessionQuery {
        filter: arguments.filter.unwrap_or_default(),
        kinds: arguments.kinds.unwrap_or_default(),
        limit: arguments.limit.map_or(LISTED, |limit| limit as usize),
        active_within: arguments.active_minutes.map(|minutes| Duration::from_secs(60 * u64::from(minutes))),
        messages: arguments.message_limit.map_or(0, |limit| limit as usize),
    };
    Ok(Json(SessionsListResult { sessions: service.list(ctx, query).await? }))
}

/// Reads the newest messages of a session, the oldest of them first. Long texts are cut.
///
/// # Errors
///
/// If there is no such session, or this session may not see it.
#[tool(
    name = "sessions_history",
    group = "sessions",
    title = "Read a session",
    read_only,
    auto_execute,
    prepare = provided
)]
pub async fn sessions_history(
    ctx: &ToolContext,
    #[args] arguments: SessionsHistoryArguments,
) -> Result<Json<SessionHistory>, ToolError> {
    let service = service(ctx)?;
    titles::begin(ctx, "Read the session", &arguments.session_key);
    let limit = arguments.limit.map_or(READ, |limit| limit as usize);
    let include_tools = arguments.include_tools.unwrap_or_default();
    Ok(Json(service.history(ctx, &arguments.session_key, limit, include_tools).await?))
}

/// Shows the status of a session: active (a run is under way), waiting (a run or a message waits), idle or archived.
///
/// # Errors
///
/// If there is no such session, or this session may not see it.
#[tool(
    name = "session_status",
    group = "sessions",
    title = "Show the status of a session",
    read_only,
    auto_execute,
    prepare = provided
)]
pub async fn session_status(
    ctx: &ToolContext,
    #[args] arguments: SessionStatusArguments,
) -> Result<Json<StatusInfo>, ToolError> {
    let service = service(ctx)?;
    let key = arguments.session_key.as_deref();
    titles::begin(ctx, "Status of", key.unwrap_or("this session"));
    Ok(Json(service.status(ctx, key).await?))
}

/// Lists the agents that `sessions_spawn` can begin a session with.
#[tool(
    name = "agents_list",
    group = "sessions",
    title = "List agents",
    read_only,
    auto_execute,
    prepare = provided
)]
pub async fn agents_list(ctx: &ToolContext) -> Result<Json<AgentsListResult>, ToolError> {
    let service = service(ctx)?;
    titles::begin(ctx, "List agents", "");
    Ok(Json(AgentsListResult { agents: service.agents(ctx).await? }))
}

//! Sessions that see and write to each other: `sessions_list`, `sessions_history`, `sessions_send`, `sessions_spawn`, `session_status` and
//! `agents_list`, over the service [`SessionService`] of a host that keeps sessions.

mod read;
mod service;
mod write;

pub use read::{
    AgentsListResult, SessionStatusArguments, SessionsHistoryArguments, SessionsListArguments,
    SessionsListResult, agents_list, session_status, sessions_history, sessions_list,
};
pub use service::{
    AgentInfo, SendOutcome, SendRequest, SendResult, SessionAnswer, SessionFilter, SessionHistory,
    SessionInfo, SessionKind, SessionMessage, SessionQuery, SessionService, SessionStatus, SessionTarget,
    SessionToolCall, SpawnRequest, SpawnThinking, SpawnedSession, StatusInfo,
};
pub use write::{SessionsSendArguments, SessionsSpawnArguments, sessions_send, sessions_spawn};

use toolkit::prelude::*;
use toolkit::{Caller, Preparation, ToolErrorKind};

const NO_SERVICE: &str = "this host keeps no sessions; a gateway does";

/// Hides a tool where nothing keeps sessions.
async fn provided(_caller: &Caller, tool: &mut Preparation) {
    if tool.service::<dyn SessionService>().is_none() {
        tool.hide(NO_SERVICE);
    }
}

/// Returns the service of the host.
fn service(ctx: &ToolContext) -> Result<std::sync::Arc<dyn SessionService>, ToolError> {
    ctx.service::<dyn SessionService>().ok_or_else(|| ToolError::unavailable(NO_SERVICE))
}

fn wrong(message: &str) -> ToolError {
    ToolError::new(ToolErrorKind::InvalidArguments, message)
}

//! A host of sessions that has none: its tools are there, and do nothing.

use builtin_tools::sessions::{
    AgentInfo, SendRequest, SendResult, SessionAnswer, SessionHistory, SessionInfo, SessionQuery,
    SessionService, SpawnRequest, SpawnedSession, StatusInfo,
};
use toolkit::prelude::*;

pub(crate) struct NoSessions;

fn none<'a, T>() -> SessionAnswer<'a, T> {
    Box::pin(async { Err(ToolError::unavailable("there are no sessions")) })
}

impl SessionService for NoSessions {
    fn list<'a>(&'a self, _: &'a ToolContext, _: SessionQuery) -> SessionAnswer<'a, Vec<SessionInfo>> {
        none()
    }

    fn history<'a>(
        &'a self,
        _: &'a ToolContext,
        _: &'a str,
        _: usize,
        _: bool,
    ) -> SessionAnswer<'a, SessionHistory> {
        none()
    }

    fn send<'a>(&'a self, _: &'a ToolContext, _: SendRequest) -> SessionAnswer<'a, SendResult> {
        none()
    }

    fn spawn<'a>(&'a self, _: &'a ToolContext, _: SpawnRequest) -> SessionAnswer<'a, SpawnedSession> {
        none()
    }

    fn status<'a>(&'a self, _: &'a ToolContext, _: Option<&'a str>) -> SessionAnswer<'a, StatusInfo> {
        none()
    }

    fn agents<'a>(&'a self, _: &'a ToolContext) -> SessionAnswer<'a, Vec<AgentInfo>> {
        none()
    }
}

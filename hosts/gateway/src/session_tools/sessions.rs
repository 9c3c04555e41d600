//! The service behind the tools for sessions.

use std::sync::Arc;

use builtin_tools::sessions::{
    AgentInfo, SendRequest, SendResult, SessionAnswer, SessionHistory, SessionInfo, SessionQuery,
    SessionService, SpawnRequest, SpawnedSession, StatusInfo,
};
use tokio::sync::SetOnce;
use toolkit::{ToolContext, ToolError};
use toolkit_agent::Transcripts;

use super::scope::may_see;
use super::{calling, of_store, wrong};
use crate::people::is_owners;
use crate::sessions::WeakSessions;
use crate::settings::SessionSettings;
use crate::store::{SessionRecord, Store};
use crate::{SessionKey, Sessions};

/// The agents and settings of a host, as they are now.
pub trait SessionDirectory: Send + Sync + 'static {
    /// Returns all agents.
    fn agents(&self) -> Vec<AgentInfo>;

    /// Returns the settings of sessions.
    fn settings(&self) -> SessionSettings;

    /// Checks that there is a model of this name.
    ///
    /// # Errors
    ///
    /// There is none, and why.
    fn check_model(&self, model: &str) -> Result<(), String>;
}

/// The sessions of a store, for the sessions that see, send to and begin others. Cheap to clone.
#[derive(Clone)]
pub struct SessionTools(Arc<Inner>);

struct Inner {
    store: Store,
    transcripts: Transcripts,
    at_work: SetOnce<AtWork>,
}

struct AtWork {
    sessions: WeakSessions,
    directory: Box<dyn SessionDirectory>,
}

impl SessionTools {
    /// The sessions of this store, with these transcripts. Calls wait for [`begin`](Self::begin).
    pub fn new(store: Store, transcripts: Transcripts) -> Self {
        Self(Arc::new(Inner { store, transcripts, at_work: SetOnce::new() }))
    }

    /// Lets messages reach these sessions.
    pub fn begin(&self, sessions: &Sessions, directory: impl SessionDirectory) {
        // The first ones stay.
        let _ = self.0.at_work.set(AtWork { sessions: sessions.downgrade(), directory: Box::new(directory) });
    }

    pub(super) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(super) fn transcripts(&self) -> &Transcripts {
        &self.0.transcripts
    }

    pub(super) async fn sessions(&self) -> Result<Sessions, ToolError> {
        // A run that goes on at start may call before the rest has begun.
        let sessions = self.0.at_work.wait().await.sessions.upgrade();
        sessions.ok_or_else(|| ToolError::unavailable("the gateway ends; try again later"))
    }

    pub(super) async fn directory(&self) -> &dyn SessionDirectory {
        &*self.0.at_work.wait().await.directory
    }

    /// Returns a session that the calling one sees.
    pub(super) async fn seen(&self, calling: &SessionRecord, key: &str) -> Result<SessionRecord, ToolError> {
        let unknown =
            || wrong(format!("you have no session `{key}`; `sessions_list` names those that are there"));
        let key: SessionKey = key.parse().map_err(|_| unknown())?;
        let record = self.0.store.session(key).await.map_err(of_store)?.ok_or_else(unknown)?;
        let settings = self.directory().await.settings();
        let may = may_see(&self.0.store, &settings, calling, &record).await.map_err(of_store)?;
        if may { Ok(record) } else { Err(unknown()) }
    }

    /// Returns the agents that the person of a session may use.
    pub(super) async fn usable_agents(&self, calling: &SessionRecord) -> Result<Vec<AgentInfo>, ToolError> {
        let mut agents = self.directory().await.agents();
        if !is_owners(calling) {
            let person = match &calling.person {
                Some(person) => self.0.store.person(person.clone()).await.map_err(of_store)?,
                None => None,
            };
            let of_person = person.map(|person| person.agent);
            agents.retain(|agent| agent.id == calling.key.agent() || of_person.as_ref() == Some(&agent.id));
        }
        Ok(agents)
    }

    async fn agents(&self, ctx: &ToolContext) -> Result<Vec<AgentInfo>, ToolError> {
        let calling = calling(&self.0.store, ctx).await?;
        self.usable_agents(&calling).await
    }
}

impl SessionService for SessionTools {
    fn list<'a>(&'a self, ctx: &'a ToolContext, query: SessionQuery) -> SessionAnswer<'a, Vec<SessionInfo>> {
        Box::pin(self.list(ctx, query))
    }

    fn history<'a>(
        &'a self,
        ctx: &'a ToolContext,
        session_key: &'a str,
        limit: usize,
        include_tools: bool,
    ) -> SessionAnswer<'a, SessionHistory> {
        Box::pin(self.history(ctx, session_key, limit, include_tools))
    }

    fn send<'a>(&'a self, ctx: &'a ToolContext, request: SendRequest) -> SessionAnswer<'a, SendResult> {
        Box::pin(self.send(ctx, request))
    }

    fn spawn<'a>(&'a self, ctx: &'a ToolContext, request: SpawnRequest) -> SessionAnswer<'a, SpawnedSession> {
        Box::pin(self.spawn(ctx, request))
    }

    fn status<'a>(
        &'a self,
        ctx: &'a ToolContext,
        session_key: Option<&'a str>,
    ) -> SessionAnswer<'a, StatusInfo> {
        Box::pin(self.status(ctx, session_key))
    }

    fn agents<'a>(&'a self, ctx: &'a ToolContext) -> SessionAnswer<'a, Vec<AgentInfo>> {
        Box::pin(self.agents(ctx))
    }
}

impl std::fmt::Debug for SessionTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionTools").finish_non_exhaustive()
    }
}

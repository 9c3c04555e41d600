//! The service behind the tool `gateway`.

use std::sync::{Arc, OnceLock};

use builtin_tools::automation::{GatewayService, GatewayStatus, JobAnswer};
use tokio_util::sync::CancellationToken;
use toolkit::{ToolContext, ToolError};
use toolkit_host::Host;

use crate::http::HttpState;
use crate::people::is_owners;
use crate::recurrence::Zone;
use crate::session_tools::{calling, calling_job, of_store};
use crate::settings::GatewaySettings;
use crate::store::{SessionRecord, Store};

/// The process, for the agents in it. Cheap to clone.
#[derive(Clone)]
pub(super) struct Process(Arc<Inner>);

struct Inner {
    store: Store,
    parts: Arc<OnceLock<(HttpState, Arc<Host>)>>,
    restart: CancellationToken,
}

impl Process {
    /// `restart` is cancelled when it is to restart.
    pub(super) fn new(
        store: Store,
        parts: Arc<OnceLock<(HttpState, Arc<Host>)>>,
        restart: CancellationToken,
    ) -> Self {
        Self(Arc::new(Inner { store, parts, restart }))
    }

    fn parts(&self) -> Result<&(HttpState, Arc<Host>), ToolError> {
        self.0.parts.get().ok_or_else(|| ToolError::unavailable("the gateway begins; try again later"))
    }

    fn may_restart(&self, session: &SessionRecord) -> Result<(), ToolError> {
        let (_, host) = self.parts()?;
        if !is_owners(session) {
            return Err(ToolError::denied("only an agent in a session of the owner restarts the gateway"));
        }
        if !GatewaySettings::of(&host.configuration()).agents_may_restart {
            return Err(ToolError::denied(
                "agents may not restart the gateway; the owner can set `gateway.agentsMayRestart`",
            ));
        }
        Ok(())
    }

    async fn status(&self, ctx: &ToolContext) -> Result<GatewayStatus, ToolError> {
        let session = calling(&self.0.store, ctx).await?;
        let (state, _) = self.parts()?;
        let about = state.about();
        // One that belongs to no single person, as a group's, has no sessions of a person.
        let of_nobody = || session.key.to_string();
        let seen_by = (!is_owners(&session)).then(|| session.person.clone().unwrap_or_else(of_nobody));
        let counts = self.0.store.counts(seen_by).await.map_err(of_store)?;
        let problems = state.problems().await.map_err(of_store)?;
        let is_ok = problems.is_empty();
        Ok(GatewayStatus {
            version: about.version.clone(),
            health: if is_ok { "ok" } else { "degraded" }.to_owned(),
            started_at: Zone::utc().show(state.started_at()).unwrap_or_default(),
            sessions: counts.sessions,
            runs: counts.running + counts.waiting,
            queued: counts.queued,
            problems: if is_owners(&session) { problems } else { Vec::new() },
            restart_enabled: self.may_restart(&session).is_ok(),
        })
    }

    async fn restart(&self, ctx: &ToolContext) -> Result<(), ToolError> {
        let session = calling(&self.0.store, ctx).await?;
        self.may_restart(&session)?;
        let (state, _) = self.parts()?;
        // The tool of a job is called by no run.
        if calling_job(ctx).is_none()
            && let Some(run) = self.0.store.run_in_flight(session.key).await.map_err(of_store)?
        {
            state.sessions().do_not_drain(run.id);
        }
        self.0.restart.cancel();
        Ok(())
    }
}

impl GatewayService for Process {
    fn status<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, GatewayStatus> {
        Box::pin(self.status(ctx))
    }

    fn check_restart<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, ()> {
        Box::pin(async move {
            let session = calling(&self.0.store, ctx).await?;
            self.may_restart(&session)
        })
    }

    fn restart<'a>(&'a self, ctx: &'a ToolContext) -> JobAnswer<'a, ()> {
        Box::pin(self.restart(ctx))
    }
}

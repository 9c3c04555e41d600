//! Jobs that call a tool of the host.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolkit::{CallOptions, ToolCall};

use super::agents::ConfiguredAgents;
use crate::budgets;
use crate::people::is_owners;
use crate::schedules::{ToolJobError, ToolJobs};
use crate::store::{Job, JobWork, Store};
use crate::{AgentError, caller_of_job};

/// The tools of a host, for the jobs of its sessions.
pub(super) struct ConfiguredTools {
    agents: Arc<ConfiguredAgents>,
    store: Store,
}

impl ConfiguredTools {
    pub(super) fn new(agents: Arc<ConfiguredAgents>, store: Store) -> Self {
        Self { agents, store }
    }
}

impl ToolJobs for ConfiguredTools {
    async fn call(&self, job: &Job, cancelled: CancellationToken) -> Result<String, ToolJobError> {
        let JobWork::Tool { tool, arguments } = &job.work else {
            return Err(ToolJobError("the job calls no tool".to_owned()));
        };
        let session = self.store.session(job.session.clone()).await;
        let session = session.map_err(|error| ToolJobError(error.to_string()))?;
        let Some(session) = session else {
            return Err(ToolJobError(format!("the session `{}` of the job was removed", job.session)));
        };
        // With the rights of the session's person, as an agent there would have them.
        let (agents, of_session) = (Arc::clone(&self.agents), session.clone());
        // It makes and looks at directories.
        let caller = tokio::task::spawn_blocking(move || agents.caller(&of_session)).await;
        let caller = caller.map_err(|error| ToolJobError(error.to_string()))?;
        let caller = caller.map_err(|AgentError(reason)| {
            if is_owners(&session) {
                return ToolJobError(reason);
            }
            // It may name files and agents.
            tracing::error!(job = %job.id, session = %session.key, %reason, "a job cannot be done");
            ToolJobError(format!(
                "the tool cannot be called at present; the owner finds the reason in the log of the gateway, under the job {}",
                job.id
            ))
        })?;
        let caller = caller_of_job(budgets::counted_in(caller, &session.key, Some(&job.id)), job);
        let toolbox = self.agents.host().toolbox(&caller).await;
        let call = ToolCall::new(format!("job-{}", job.id), tool.clone(), arguments.clone());
        let result = toolbox.call_with(call, CallOptions::new().cancel(cancelled)).await;
        if result.is_error() { Err(ToolJobError(result.text())) } else { Ok(result.text()) }
    }
}

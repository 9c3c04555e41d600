//! Sessions of sub-agents.

use builtin_tools::sessions::{SpawnRequest, SpawnThinking, SpawnedSession};
use toolkit::{ToolContext, ToolError};

use super::{SessionTools, call_origin, calling, calling_job, delegates, of_store, reply_target, wrong};
use crate::people::{OWNER, is_owners};
use crate::store::{NewSpawn, SpawnStored};

impl SessionTools {
    pub(super) async fn spawn(
        &self,
        ctx: &ToolContext,
        request: SpawnRequest,
    ) -> Result<SpawnedSession, ToolError> {
        let store = self.store();
        let calling = calling(store, ctx).await?;
        let origin = call_origin(store, ctx, &calling, &request).await?;
        let settings = self.directory().await.settings();
        let agent = request.agent_id.unwrap_or_else(|| calling.key.agent().to_owned());
        if !self.usable_agents(&calling).await?.iter().any(|usable| usable.id == agent) {
            return Err(wrong(format!(
                "you have no agent `{}`; `agents_list` names those that are there",
                agent.escape_debug()
            )));
        }
        if let Some(model) = &request.model {
            self.directory().await.check_model(model).map_err(|reason| {
                if is_owners(&calling) {
                    return wrong(reason);
                }
                // It names the models of the configuration.
                tracing::info!(%reason, session = %calling.key, "a model for a sub-agent was refused");
                wrong(format!("there is no model `{}`; leave `model` out", model.escape_debug()))
            })?;
        }
        let result_to = reply_target(store, ctx, &calling.key).await?;
        let outcome = store.spawn(NewSpawn {
            parent: calling.key.clone(),
            delegates: delegates(ctx, &calling.key),
            origin,
            agent,
            person: calling.person.clone().or_else(|| is_owners(&calling).then(|| OWNER.to_owned())),
            prompt: request.prompt,
            label: request.label,
            model: request.model,
            thinking: request.thinking.map(|thinking| word(thinking).to_owned()),
            run_timeout: request.run_timeout,
            result_to,
            max_children: settings.max_children,
            max_depth: settings.max_depth,
            job: calling_job(ctx),
        });
        match outcome.await.map_err(of_store)? {
            SpawnStored::Begun(key) | SpawnStored::Again(key) => {
                if let Ok(sessions) = self.sessions().await {
                    sessions.notify();
                }
                Ok(SpawnedSession { session_key: key.to_string() })
            }
            SpawnStored::TooMany => Err(wrong(format!(
                "{} sub-agents of this session are at work, which is the limit (`sessions.maxChildren`); wait for a result",
                settings.max_children
            ))),
            SpawnStored::TooDeep => Err(wrong(format!(
                "this session cannot begin sub-agents: the limit is {} below another (`sessions.maxDepth`); do the task here",
                settings.max_depth
            ))),
        }
    }
}

fn word(thinking: SpawnThinking) -> &'static str {
    match thinking {
        SpawnThinking::Low => "low",
        SpawnThinking::Medium => "medium",
        SpawnThinking::High => "high",
    }
}

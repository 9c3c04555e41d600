//! Results of calls that the end of a process has interrupted after they had stored what they do.

use builtin_tools::automation::CronResult;
use builtin_tools::sessions::SpawnedSession;
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Handle;
use toolkit::ToolCall;
use toolkit_models::ToolOutput;

use super::{SessionTools, jobs, origin_of};
use crate::store::StoreError;

impl SessionTools {
    /// Returns a function that finds the result of a call in the rows that the call has written, for
    /// [`AgentBuilder::recovery`](toolkit_agent::AgentBuilder::recovery). It blocks.
    pub fn recovery(
        &self,
        runtime: &Handle,
    ) -> impl Fn(&str, &ToolCall) -> Result<Option<ToolOutput>, String> + Send + Sync + 'static + use<> {
        let (tools, runtime) = (self.clone(), runtime.clone());
        move |turn, call| {
            let text = runtime.block_on(tools.recovered(turn, call)).map_err(|error| error.to_string())?;
            Ok(text.map(|text| ToolOutput::text(call, text)))
        }
    }

    async fn recovered(&self, turn: &str, call: &ToolCall) -> Result<Option<String>, StoreError> {
        let origin = origin_of(turn, &call.id);
        Ok(match call.name.as_str() {
            "sessions_send" => match self.store().sent_by(&origin).await? {
                Some(id) => Some(text(&self.sent(id).await?)),
                None => None,
            },
            "sessions_spawn" => {
                let key = self.store().spawned_by(&origin).await?;
                key.map(|key| text(&SpawnedSession { session_key: key.to_string() }))
            }
            "cron" => {
                let job = self.store().job_of_origin(&origin).await?;
                job.map(|job| text(&CronResult { job: Some(jobs::info(&job)), ..CronResult::default() }))
            }
            // One of a client whose result comes later.
            _ => {
                let call = self.store().client_call_of(&origin).await?;
                call.map(|call| text(&json!({ "status": "pending", "call": call })))
            }
        })
    }
}

fn text(result: &impl Serialize) -> String {
    serde_json::to_string_pretty(result).unwrap_or_default()
}

//! Results of calls that the end of a process has interrupted after they had stored what they do.

use builtin_tools::automation::CronResult;
use builtin_tools::messaging::MessageResult;
use builtin_tools::sessions::SpawnedSession;
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Handle;
use toolkit::ToolCall;
use toolkit_channel::{ActionOutcome, Conversation};
use toolkit_models::ToolOutput;

use super::{SessionTools, jobs, origin_of};
use crate::outbox::{outcome, sent_part};
use crate::store::{Delivery, StoreError};

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
            "message" => message(self.store().message_of(&origin).await?),
            _ => match action(self.store().message_of(&origin).await?) {
                Some(action) => Some(action),
                // One of a client whose result comes later.
                None => {
                    let call = self.store().client_call_of(&origin).await?;
                    call.map(|call| text(&json!({ "status": "pending", "call": call })))
                }
            },
        })
    }
}

/// The result of `message`, of the parts that it has stored.
fn message(parts: Vec<Delivery>) -> Option<String> {
    let target = parts.first()?.target.clone();
    let peer = target.conversation.parse().map(|conversation: Conversation| conversation.peer);
    let peer = peer.unwrap_or(target.conversation);
    let sent = parts.into_iter().map(sent_part).collect();
    Some(text(&MessageResult::of_sent(&target.channel, &target.account, &peer, sent)))
}

/// The result of a tool of a platform, of the row that it has stored.
fn action(rows: Vec<Delivery>) -> Option<String> {
    let ActionOutcome { id, state, reason, message_id } = outcome(sent_part(rows.into_iter().next()?), None);
    Some(text(&json!({ "outbox_id": id, "state": state, "reason": reason, "message_id": message_id })))
}

fn text(result: &impl Serialize) -> String {
    serde_json::to_string_pretty(result).unwrap_or_default()
}

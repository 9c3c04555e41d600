//! Media that people send, read by the tools of the agent: speech as text, and pictures as descriptions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::{AllowAll, CallOptions, ToolCall, ToolErrorKind, ToolResult};

use super::agents::ConfiguredAgents;
use crate::AgentError;
use crate::channels::{Reading, ReadsMedia};
use crate::session_tools::caller_outside_of_runs;
use crate::store::SessionRecord;

/// The longest time to read a file: what others say waits for it.
const READ_WITHIN: Duration = Duration::from_mins(2);
/// The longest reason that is told, in characters.
const MAX_REASON: usize = 200;

/// The errors of a tool that is not configured, not linked, or not for the person.
const NOT_THERE: [ToolErrorKind; 3] =
    [ToolErrorKind::Unavailable, ToolErrorKind::UnknownTool, ToolErrorKind::Denied];

/// The tools of a host that read media: `transcribe` and `image`.
pub(super) struct ReadingTools(pub(super) Arc<ConfiguredAgents>);

impl ReadsMedia for ReadingTools {
    fn transcript<'a>(&'a self, session: &'a SessionRecord, path: &'a str) -> Reading<'a> {
        Box::pin(async move {
            let result = self.call(session, "transcribe", json!({ "audio": path })).await?;
            let of_details = |details: Value| details.get("text").and_then(Value::as_str).map(str::to_owned);
            read(&result, |result| result.details().and_then(of_details).unwrap_or_default())
        })
    }

    fn description<'a>(&'a self, session: &'a SessionRecord, path: &'a str) -> Reading<'a> {
        Box::pin(async move {
            let result = self.call(session, "image", json!({ "action": "describe", "image": path })).await?;
            read(&result, ToolResult::text)
        })
    }
}

impl ReadingTools {
    /// Calls a tool with the rights of the session, and within its budgets.
    async fn call(
        &self,
        session: &SessionRecord,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolResult, String> {
        let (agents, of_session) = (Arc::clone(&self.0), session.clone());
        // It makes and looks at directories.
        let caller = tokio::task::spawn_blocking(move || agents.caller(&of_session)).await;
        let caller = caller.map_err(|error| error.to_string())?.map_err(|AgentError(reason)| {
            // It may name files and agents.
            tracing::error!(session = %session.key, %reason, "media cannot be read");
            "the agent cannot be used at present".to_owned()
        })?;
        let caller = caller_outside_of_runs(caller, &session.key, "media");
        let toolbox = self.0.host().toolbox(&caller).await;
        // The owner configured the endpoint for this, and the person sent the file to the agent: there is nothing to ask. A rule that denies counts.
        let options =
            CallOptions::new().approver(AllowAll).of_program().never_begins_again().timeout(READ_WITHIN);
        let call = ToolCall::new(format!("media-{tool}"), tool, arguments);
        Ok(toolbox.call_with(call, options).await)
    }
}

/// The text of a file; `None` where the host has nothing that reads it.
fn read(result: &ToolResult, text: impl FnOnce(&ToolResult) -> String) -> Result<Option<String>, String> {
    match result.error() {
        None => Ok(Some(text(result))),
        Some(error) if NOT_THERE.contains(&error.kind()) => {
            tracing::debug!(%error, "nothing reads media here");
            Ok(None)
        }
        Some(error) => {
            let reason: String =
                error.message().lines().next().unwrap_or_default().chars().take(MAX_REASON).collect();
            Err(reason)
        }
    }
}

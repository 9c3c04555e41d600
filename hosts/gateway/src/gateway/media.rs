//! Media that people send, read by the tools of the agent: speech as text, and pictures as descriptions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::approval::{Answer, CallbackApprover, Question};
use toolkit::config::Configuration;
use toolkit::{CallOptions, ToolCall, ToolErrorKind, ToolResult};

use toolkit_channel::Conversation;

use super::agents::ConfiguredAgents;
use crate::AgentError;
use crate::channels::{MediaOf, Reading, ReadsMedia};
use crate::session_tools::caller_outside_of_runs;

/// The longest time to read a file: later messages of the session wait for it.
const READ_WITHIN: Duration = Duration::from_mins(2);
/// The longest reason that is told, in characters.
const MAX_REASON: usize = 200;

/// The errors of a tool that is not configured, not linked, or not for the person.
const NOT_THERE: [ToolErrorKind; 3] =
    [ToolErrorKind::Unavailable, ToolErrorKind::UnknownTool, ToolErrorKind::Denied];

/// The tools of a host that read media: `transcribe` and `image`.
pub(super) struct ReadingTools(pub(super) Arc<ConfiguredAgents>);

impl ReadsMedia for ReadingTools {
    fn transcript<'a>(&'a self, of: MediaOf<'a>, path: &'a str) -> Reading<'a> {
        Box::pin(async move {
            if !has_endpoints(&self.0.host().configuration(), "tools.transcribe", "providers") {
                return Ok(None);
            }
            let result = self.call(of, "transcribe", json!({ "audio": path })).await?;
            let of_details = |details: Value| details.get("text").and_then(Value::as_str).map(str::to_owned);
            read(&result, |result| result.details().and_then(of_details).unwrap_or_default())
        })
    }

    fn description<'a>(&'a self, of: MediaOf<'a>, path: &'a str) -> Reading<'a> {
        Box::pin(async move {
            if !has_endpoints(&self.0.host().configuration(), "tools.image", "vision") {
                return Ok(None);
            }
            let result = self.call(of, "image", json!({ "action": "describe", "image": path })).await?;
            read(&result, ToolResult::text)
        })
    }
}

impl ReadingTools {
    /// Calls a tool with the rights of the session, and within its budgets.
    async fn call(
        &self,
        MediaOf { session, target, sender }: MediaOf<'_>,
        tool: &'static str,
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
        let mut caller = caller_outside_of_runs(caller, &session.key, "media");
        // The rules for the conversation count, as in a run that is begun from it.
        let conversation = target.conversation.parse::<Conversation>();
        caller.conversation_id =
            Some(conversation.map_or_else(|_| target.conversation.clone(), |conversation| conversation.peer));
        caller.channel = Some(target.channel.clone());
        caller.account_id = Some(target.account.clone());
        caller.sender_id = Some(sender.to_owned());
        let toolbox = self.0.host().toolbox(&caller).await;
        // The owner configured the endpoint, and the person sent the file to the agent: whether it may be read there is not asked. Nothing else is
        // allowed, such as a path that leads elsewhere by a link, and a rule that denies counts.
        let options = CallOptions::new()
            .approver(CallbackApprover::new(move |ask| {
                if matches!(ask.question(), Question::Approve(ask) if ask.kind == tool) {
                    Answer::allow()
                } else {
                    Answer::deny()
                }
            }))
            .of_program()
            .never_begins_again()
            .timeout(READ_WITHIN);
        let call = ToolCall::new(format!("media-{tool}"), tool, arguments);
        Ok(toolbox.call_with(call, options).await)
    }
}

/// Returns true if a list of endpoints of a section is not empty.
fn has_endpoints(configuration: &Configuration, section: &str, list: &str) -> bool {
    let settings: Option<Value> = configuration.section(section).ok();
    settings.is_some_and(|settings| settings[list].as_array().is_some_and(|list| !list.is_empty()))
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

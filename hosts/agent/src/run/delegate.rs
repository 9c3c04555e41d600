//! Sub-agents: a task that an agent gives to another.

use super::Run;
use crate::agent::{Agent, Inner, ParentRun};
use crate::events::Observer;
use crate::ledger::{Ledger, SubAgentPlace};
use crate::loop_tools::{Delegation, LoopTools};
use crate::prompt::FinalAnswer;
use crate::request::DelegationRequest;
use crate::result::{StopReason, ToolAgentResult};
use crate::session::RunOptions;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use toolkit::{CancellationToken, ToolCall};
use toolkit_models::ToolOutput;

/// The agent that delegates, as far as its sub-agents depend on it.
#[derive(Clone)]
pub(crate) struct DelegatingAgent {
    agent: Arc<Inner>,
    caller: toolkit::Caller,
    observer: Observer,
    cancel: CancellationToken,
    transcript: String,
    turn: u32,
    usable: Arc<BTreeSet<String>>,
    ledger: Arc<Ledger>,
    time: Option<Duration>,
}

/// The result of a call of `delegate`.
pub(crate) struct DelegationOutcome {
    pub(crate) output: ToolOutput,
    pub(crate) result: Option<ToolAgentResult>,
}

impl Run<'_> {
    /// Returns the tools and the limits of this run that its sub-agents have too.
    pub(crate) fn delegating(&mut self, usable: &BTreeSet<String>) -> DelegatingAgent {
        DelegatingAgent {
            agent: Arc::clone(&self.agent),
            caller: self.caller.clone(),
            observer: self.observer.clone(),
            cancel: self.stop_token(),
            transcript: self.session.header.id.clone(),
            // The answer that delegates is counted already.
            turn: self.session.journal.conversation.turns.saturating_sub(1),
            usable: Arc::new(usable.clone()),
            ledger: Arc::clone(&self.ledger),
            time: self.clock.left(),
        }
    }
}

impl DelegatingAgent {
    /// Does what a call of `delegate` asks for.
    pub(crate) async fn run(&self, call: &ToolCall) -> DelegationOutcome {
        let refused =
            |message: &str| DelegationOutcome { output: ToolOutput::error(call, message), result: None };
        let delegation: Delegation = match self.agent.loop_tools.arguments(call).await {
            Ok(delegation) => delegation,
            Err(error) => return refused(error.message()),
        };
        if let Err(most) = self.ledger.count_sub_agent() {
            return refused(&format!(
                "not run: the limit of {most} sub-agents of this task is reached; do it without a sub-agent"
            ));
        }
        let place = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return refused("not run: the run ended before the sub-agent began"),
            place = self.ledger.place() => place,
        };
        let agent = match self.agent(&delegation, &place) {
            Ok(agent) => agent,
            Err(reason) => return refused(&reason),
        };
        let mut request = DelegationRequest::new(delegation.task);
        request.context = delegation.context;
        request.expected_outcome = delegation.expected_outcome;
        request.agent = delegation.agent.or_else(|| self.caller.agent.clone());
        request.message_id.clone_from(&self.caller.message_id);
        let options =
            RunOptions::new().cancel(self.cancel.clone()).observer(self.observer.of_delegate(&call.id));
        // Each agent holds the futures of those below it.
        let result = Box::pin(agent.run_with(request, options)).await;
        let is_account = result.stop_reason == StopReason::Finished;
        drop(agent);
        drop(place);
        let text = shown(&result);
        let output = if is_account { ToolOutput::text(call, text) } else { ToolOutput::error(call, text) };
        DelegationOutcome { output, result: Some(result) }
    }

    /// The sub-agent: never with more than the agent above has.
    fn agent(&self, delegation: &Delegation, place: &Arc<SubAgentPlace>) -> Result<Agent, String> {
        let mut inner = Inner::clone(&self.agent);
        // A session of its own: its calls do not wait for those of the agent above.
        inner.caller = self.caller.delegated();
        if inner.final_answer == FinalAnswer::Text {
            // Nobody talks to a sub-agent: it gives an account.
            inner.final_answer = FinalAnswer::Tool;
        }
        inner.parent = Some(ParentRun {
            transcript: self.transcript.clone(),
            turn: self.turn,
            ledger: Arc::clone(&self.ledger),
            place: Arc::clone(place),
        });
        let mut within = BTreeSet::clone(&self.usable);
        if let Some(name) = &delegation.agent {
            let profile =
                self.agent.profiles.get(name).ok_or_else(|| format!("there is no agent `{name}`"))?;
            inner.caller.agent = Some(name.clone());
            if let Some(tools) = &profile.tools {
                within.retain(|tool| tools.contains(tool));
            }
            inner.instructions.extend(profile.instructions.clone());
            if let Some(model) = &profile.model {
                inner.caller.model = Some(model.name().to_owned());
                inner.model = Arc::clone(model);
            }
        }
        inner.within = Some(Arc::new(within));
        // The other limits are those of the ledger above.
        inner.limits.timeout = self.time.or(inner.limits.timeout);
        inner.loop_tools = LoopTools::new(&inner.profiles);
        Ok(Agent(Arc::new(inner)))
    }
}

/// The account of a sub-agent, as the model that delegated reads it.
fn shown(result: &ToolAgentResult) -> String {
    let mut account = Map::new();
    account.insert("success".into(), result.success.into());
    account.insert("summary".into(), result.summary.clone().into());
    if let Some(details) = &result.details {
        account.insert("details".into(), details.clone().into());
    }
    let paths = |paths: &[PathBuf]| -> Value { paths.iter().map(|path| path.to_string_lossy()).collect() };
    if !result.files_modified.is_empty() {
        account.insert("filesModified".into(), paths(&result.files_modified));
    }
    if result.stop_reason != StopReason::Finished {
        account.insert("stopReason".into(), json!(result.stop_reason));
        account.insert("errors".into(), json!(result.errors));
    }
    format!("{:#}", Value::Object(account))
}

//! Sub-agents: a task that an agent gives to another.

use super::Run;
use crate::agent::{Agent, Inner};
use crate::events::Observer;
use crate::own::{Delegation, Own};
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
pub(crate) struct Above {
    agent: Arc<Inner>,
    caller: toolkit::Caller,
    observer: Observer,
    cancel: CancellationToken,
    transcript: String,
    usable: Arc<BTreeSet<String>>,
    calls: Option<u32>,
    tokens: Option<u64>,
    cost: Option<f64>,
    time: Option<Duration>,
}

/// The result of a call of `delegate`.
pub(crate) struct Delegated {
    pub(crate) output: ToolOutput,
    pub(crate) result: Option<ToolAgentResult>,
}

impl Run<'_> {
    /// Returns the tools, and the part of the remaining limits, that each of `share` sub-agents gets of this run.
    pub(crate) fn above(&mut self, usable: &BTreeSet<String>, share: u32) -> Above {
        let limits = self.agent.limits;
        let used = self.usage.total_tokens();
        Above {
            agent: Arc::clone(&self.agent),
            caller: self.caller.clone(),
            observer: self.observer.clone(),
            cancel: self.stop_token(),
            transcript: self.session.header.id.clone(),
            usable: Arc::new(usable.clone()),
            calls: limits.max_tool_calls.map(|most| most.saturating_sub(self.calls_made()) / share),
            tokens: limits.max_tokens.map(|most| most.saturating_sub(used) / u64::from(share)),
            cost: limits
                .max_cost
                .map(|most| (most - self.usage.cost.unwrap_or_default()).max(0.0) / f64::from(share)),
            time: self.clock.left(),
        }
    }
}

impl Above {
    /// Does what a call of `delegate` asks for.
    pub(crate) async fn run(&self, call: &ToolCall) -> Delegated {
        let refused = |message: &str| Delegated { output: ToolOutput::error(call, message), result: None };
        let delegation: Delegation = match self.agent.own.arguments(call).await {
            Ok(delegation) => delegation,
            Err(error) => return refused(error.message()),
        };
        let agent = match self.agent(&delegation) {
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
        let text = shown(&result);
        let output = if is_account { ToolOutput::text(call, text) } else { ToolOutput::error(call, text) };
        Delegated { output, result: Some(result) }
    }

    /// The sub-agent: never with more than the agent above has.
    fn agent(&self, delegation: &Delegation) -> Result<Agent, String> {
        let mut inner = Inner::clone(&self.agent);
        inner.caller = self.caller.clone();
        inner.caller.depth += 1;
        if inner.final_answer == FinalAnswer::Text {
            // Nobody talks to a sub-agent: it gives an account.
            inner.final_answer = FinalAnswer::Tool;
        }
        // A session of its own: its calls do not wait for those of the agent above.
        inner.caller.session_id = None;
        inner.parent = Some(self.transcript.clone());
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
        let least = |own: Option<u32>, share: Option<u32>| match (own, share) {
            (Some(own), Some(share)) => Some(own.min(share)),
            (own, share) => own.or(share),
        };
        let limits = &mut inner.limits;
        limits.max_tool_calls = least(limits.max_tool_calls, self.calls);
        limits.max_tokens = self.tokens.or(limits.max_tokens);
        limits.max_cost = self.cost.or(limits.max_cost);
        limits.timeout = self.time.or(limits.timeout);
        inner.own = Own::new(&inner.profiles);
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

//! Where the agents of sessions come from, and what a message says to them.

use toolkit_agent::{Agent, DelegationRequest};

use crate::store::{Message, SessionRecord};

/// Why there is no agent for a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AgentError(pub String);

/// Makes the agent of a session.
///
/// It is called for each run, so that a changed configuration counts from then on. The agent keeps
/// transcripts (`AgentBuilder::transcripts`): without them a run cannot go on after a crash.
pub trait Agents: Send + Sync + 'static {
    /// Returns the agent.
    ///
    /// # Errors
    ///
    /// There is no such agent, or it has no model. The run ends as failed, with this text.
    fn agent(&self, session: &SessionRecord) -> Result<Agent, AgentError>;
}

impl<F: Fn(&SessionRecord) -> Result<Agent, AgentError> + Send + Sync + 'static> Agents for F {
    fn agent(&self, session: &SessionRecord) -> Result<Agent, AgentError> {
        self(session)
    }
}

/// The task of an agent, of a message.
pub(super) fn request(message: &Message) -> Result<DelegationRequest, AgentError> {
    let text = message.body.get("text").and_then(serde_json::Value::as_str);
    let text = text.ok_or_else(|| {
        AgentError(format!("the message {} has no text: its body is an object with `text`", message.id.0))
    })?;
    Ok(DelegationRequest::new(text).with_agent(message.session.agent()))
}

//! The agents of the configuration, for the sessions.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Handle;
use toolkit::Caller;
use toolkit::config::Configuration;
use toolkit_agent::{Agent, FinalAnswer};
use toolkit_channel::Conversation;
use toolkit_host::{AgentOptions, Host, HostError};
use toolkit_models::Thinking;

use super::others::{OwnersTools, marked};
use super::workspaces;
use crate::Person;
use crate::budgets;
use crate::channels::Workspaces;
use crate::http::AgentInfo;
use crate::people::is_owners;
use crate::session_tools::caller_outside_of_runs;
use crate::sessions::{AgentError, Agents};
use crate::settings::GatewaySettings;
use crate::store::{SessionRecord, Store};
use crate::{LOCAL_CHANNEL, SessionKey, SessionTools, caller_in};

/// The key by which tools know the person for whom an agent works, other than the owner.
const PERSON: &str = "person";

/// The agents of a host.
pub(super) struct ConfiguredAgents {
    host: Arc<Host>,
    store: Store,
    data_dir: PathBuf,
    tools: SessionTools,
    runtime: Handle,
    owners_tools: OwnersTools,
    /// Names this process, among those before and after it.
    process: String,
}

impl ConfiguredAgents {
    /// Must be called within a tokio runtime.
    pub(super) fn new(
        host: Arc<Host>,
        store: Store,
        data_dir: PathBuf,
        (tools, owners_tools): (SessionTools, OwnersTools),
    ) -> Self {
        let process = format!("{}/{}", store.clock().now().0, std::process::id());
        Self { host, store, data_dir, tools, runtime: Handle::current(), owners_tools, process }
    }

    /// Returns the caller of a session. Blocks.
    pub(super) fn caller(&self, session: &SessionRecord) -> Result<Caller, AgentError> {
        self.check_agents(session)?;
        self.caller_with(session, is_owners(session))
    }

    /// Refuses a session of an agent that is not there.
    fn check_agents(&self, session: &SessionRecord) -> Result<(), AgentError> {
        let configuration = self.host.configuration();
        let agent = session.key.agent();
        let known = names(&configuration);
        for agent in session.agents_above.iter().map(String::as_str).chain([agent]) {
            if !known.iter().any(|name| name == agent) {
                return Err(AgentError(format!(
                    "there is no agent `{}` in the configuration; add it under `agents`, or use another session",
                    agent.escape_debug()
                )));
            }
        }
        Ok(())
    }

    /// Returns the caller of tools that a person calls without an agent, as the agent has it in the person's own session. The owner's rights come with
    /// a token of the owner's role alone.
    pub(super) fn caller_of_person(&self, person: &Person, agent: &str) -> Result<Caller, AgentError> {
        // A lesser token of the owner has no part in the owner's session, whose tools have the owner's rights.
        let key = if person.is_manager() {
            person.main_session(agent)
        } else {
            SessionKey::person(agent, person.name())
        };
        let key = key.map_err(|error| AgentError(error.to_string()))?;
        let session = SessionRecord::unbegun(key, person.name());
        self.check_agents(&session)?;
        let caller = self.caller_with(&session, person.is_manager())?;
        Ok(caller_outside_of_runs(caller, &session.key, &self.process))
    }

    fn caller_with(&self, session: &SessionRecord, is_owner: bool) -> Result<Caller, AgentError> {
        let configuration = self.host.configuration();
        let agent = session.key.agent();
        // A group has a directory of its own, too: nobody's files are shared with it.
        let person = (!is_owner).then(|| session.person.as_deref().unwrap_or(session.key.as_str()));
        let workspace = workspaces::of(&configuration, &self.data_dir, agent, person).map_err(AgentError)?;
        let mut caller = self.host.caller().clone().with_workspace(workspace);
        if let Some(person) = person {
            // Notes, and all else that tools keep beyond the session, are kept apart by it.
            caller = caller.with_extra(PERSON, person);
        }
        caller.channel = Some(LOCAL_CHANNEL.to_owned());
        caller.sender_id.clone_from(&session.person);
        let caller = budgets::counted_in(caller, &session.key, None);
        let caller = below(marked(caller, is_owner), session, &configuration.agents());
        let mut caller = caller_in(caller, &session.key);
        if let Some(model) = &session.model {
            caller.model = Some(model.clone());
        }
        Ok(caller)
    }

    /// Adds the conversation of a channel from which the run of a session was begun: its tools are there then, and the rules for it count. Blocks.
    fn in_conversation(&self, mut caller: Caller, session: &SessionRecord) -> Result<Caller, AgentError> {
        let target = self.runtime.block_on(self.store.answers_to(session.key.clone()));
        let target = target.map_err(|error| AgentError(error.to_string()))?;
        let Some(target) = target.filter(|target| target.channel != LOCAL_CHANNEL) else { return Ok(caller) };
        let conversation = target.conversation.parse::<Conversation>();
        caller.conversation_id =
            Some(conversation.map_or(target.conversation, |conversation| conversation.peer));
        caller.channel = Some(target.channel);
        caller.account_id = Some(target.account);
        Ok(caller)
    }

    /// The host.
    pub(super) fn host(&self) -> &Host {
        &self.host
    }
}

impl Workspaces for ConfiguredAgents {
    fn workspace(&self, session: &SessionRecord) -> Result<PathBuf, String> {
        let configuration = self.host.configuration();
        let person = (!is_owners(session)).then(|| session.person.as_deref().unwrap_or(session.key.as_str()));
        workspaces::of(&configuration, &self.data_dir, session.key.agent(), person)
    }
}

impl Agents for ConfiguredAgents {
    fn agent(&self, session: &SessionRecord) -> Result<Agent, AgentError> {
        let caller = self.in_conversation(self.caller(session)?, session)?;
        // A person can watch, and take an answer back at any time.
        let options = AgentOptions::new().watched().in_workspace_of_caller();
        let agent = self.host.agent(&caller, options);
        let agent = agent.map_err(|error| AgentError(why(&error)))?.final_answer(FinalAnswer::Text);
        // A session goes on when the data directory has moved, or another workspace is configured.
        let mut agent = agent.in_any_workspace();
        if !is_owners(session) {
            agent = agent.without_instructions_of_user();
            let tools = self.owners_tools.clone();
            agent = agent.tools(move |tool| tools.admit(tool));
        }
        agent = match session.thinking.as_deref() {
            Some("low") => agent.thinking(Thinking::Low),
            Some("medium") => agent.thinking(Thinking::Medium),
            Some("high") => agent.thinking(Thinking::High),
            _ => agent,
        };
        Ok(agent.recovery(self.tools.recovery(&self.runtime)).build())
    }
}

/// Returns the caller under the name of its agent, below those of the sessions above it: it gets no more than these may, and no more than
/// sub-agents, also where it is the same agent.
fn below(mut caller: Caller, session: &SessionRecord, configured: &[String]) -> Caller {
    let named = |agent: &str| configured.iter().any(|name| name == agent).then(|| agent.to_owned());
    let outermost_first = session.agents_above.iter().rev().map(String::as_str);
    for (place, agent) in outermost_first.chain([session.key.agent()]).enumerate() {
        if place > 0 {
            caller = caller.delegated();
        }
        caller.agent = named(agent);
    }
    caller
}

fn why(error: &HostError) -> String {
    match error {
        HostError::Model(error) => format!("no model can be asked: {error}"),
        error => error.to_string(),
    }
}

/// Returns the names of all agents: those of the configuration, and the one that people talk to who have no other.
pub(crate) fn names(configuration: &Configuration) -> Vec<String> {
    let mut names = configuration.agents();
    let first = GatewaySettings::of(configuration).agent;
    if !names.contains(&first) {
        names.insert(0, first);
    }
    names
}

/// Returns the agents as a list shows them, with what does not work.
pub(super) fn listed(host: &Host) -> (Vec<AgentInfo>, Vec<String>) {
    let configuration = host.configuration();
    let models = host.models();
    let mut problems = Vec::new();
    let agents: Vec<AgentInfo> = names(&configuration)
        .into_iter()
        .map(|id| {
            let model = models.as_ref().ok().and_then(|models| models.for_agent(&id).ok());
            AgentInfo {
                description: configuration.agent(&id).name,
                model: model.map(|model| model.name().to_owned()),
                id,
            }
        })
        .collect();
    match &models {
        Err(error) => problems.push(error.to_string()),
        Ok(models) => {
            for agent in agents.iter().filter(|agent| agent.model.is_none()) {
                if let Err(error) = models.for_agent(&agent.id) {
                    problems.push(format!("the agent `{}` has no model: {error}", agent.id));
                }
            }
        }
    }
    (agents, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sub_agent_has_no_more_rights_than_the_agents_above_it() {
        let session = |agents_above: &[&str]| SessionRecord {
            key: crate::SessionKey::sub("boss", "1").unwrap(),
            person: None,
            parent: None,
            label: None,
            transcript: None,
            created_at: crate::Moment(0),
            active_at: crate::Moment(0),
            archived_at: None,
            queued: 0,
            is_running: false,
            status: crate::SessionStatus::Idle,
            model: None,
            message_count: 0,
            thinking: None,
            run_timeout_ms: None,
            agents_above: agents_above.iter().map(|&agent| agent.to_owned()).collect(),
        };
        let configured = ["boss", "kid", "main"].map(str::to_owned);
        for (above, expected) in [
            (&[][..], &[Some("boss")][..]),
            (&["boss"], &[Some("boss"), Some("boss")]),
            (&["kid"], &[Some("boss"), Some("kid")]),
            (&["kid", "kid", "unnamed"], &[Some("boss"), Some("kid"), Some("kid"), None]),
            (&["kid", "boss"], &[Some("boss"), Some("kid"), Some("boss")]),
        ] {
            let caller = below(marked(Caller::new(), true), &session(above), &configured);
            let agents: Vec<_> = caller.chain().map(|caller| caller.agent.as_deref()).collect();
            assert_eq!(agents, expected, "{above:?}");
            assert!(caller.chain().all(|caller| caller.extra["gateway"]["isOwner"] == true));
        }
    }
}

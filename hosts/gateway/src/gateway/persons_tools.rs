//! The rights of people in calls of tools that no agent makes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolkit::config::Configuration;
use toolkit::{Caller, Tool};
use toolkit_serve::Problem;
use toolkit_serve::axum::http::StatusCode;

use super::agents::ConfiguredAgents;
use super::others::OwnersTools;
use crate::Person;
use crate::http::PersonsTools;
use crate::sessions::AgentError;
use crate::store::Role;

/// The callers of people, as their agents have them in their own sessions.
pub(super) struct CallersOfPeople {
    agents: Arc<ConfiguredAgents>,
    of_others: OwnersTools,
    known: Mutex<Known>,
}

/// Callers that were made, for one configuration.
#[derive(Default)]
struct Known {
    configuration: Option<Configuration>,
    callers: HashMap<(String, Role, String), Caller>,
}

impl CallersOfPeople {
    pub(super) fn new(agents: Arc<ConfiguredAgents>, of_others: OwnersTools) -> Self {
        Self { agents, of_others, known: Mutex::default() }
    }
}

impl PersonsTools for CallersOfPeople {
    fn caller(&self, person: &Person, agent: Option<&str>) -> Result<Caller, Problem> {
        let agent = agent.unwrap_or_else(|| person.agent());
        if !person.may_use(agent) {
            let text = format!("there is no agent `{}`", agent.escape_debug());
            return Err(Problem::new(StatusCode::NOT_FOUND, text));
        }
        let configuration = self.agents.host().configuration();
        let key = (person.name().to_owned(), person.role(), agent.to_owned());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.configuration.as_ref().is_some_and(|of| of.is_same_as(&configuration)) {
            *known = Known { configuration: Some(configuration), callers: HashMap::new() };
        }
        if let Some(caller) = known.callers.get(&key) {
            return Ok(caller.clone());
        }
        let caller = self.agents.caller_of_person(person, agent).map_err(|AgentError(reason)| {
            if person.is_manager() {
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, reason);
            }
            // It may name files and agents.
            tracing::error!(person = person.name(), agent, %reason, "a person has no tools");
            let text = "the agent cannot be used at present; the owner finds the reason in the log";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, text)
        })?;
        known.callers.insert(key, caller.clone());
        Ok(caller)
    }

    fn is_for_others(&self, tool: &Tool) -> bool {
        self.of_others.admit(tool)
    }
}

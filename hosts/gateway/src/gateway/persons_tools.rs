//! The rights of people in calls of tools that no agent makes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    known: Known,
}

/// A person, the role of the token, and an agent.
type Key = (String, Role, String);

/// Callers that were made, for one configuration.
#[derive(Default)]
struct Known(Mutex<(Option<Configuration>, HashMap<Key, Caller>)>);

impl Known {
    /// Returns a caller, and makes it if it is not known. Others do not wait while it is made: that may take long.
    fn caller<E>(
        &self,
        configuration: &Configuration,
        key: Key,
        make: impl FnOnce() -> Result<Caller, E>,
    ) -> Result<Caller, E> {
        {
            let mut known = self.lock();
            if !known.0.as_ref().is_some_and(|of| of.is_same_as(configuration)) {
                *known = (Some(configuration.clone()), HashMap::new());
            }
            if let Some(caller) = known.1.get(&key) {
                return Ok(caller.clone());
            }
        }
        let caller = make()?;
        let mut known = self.lock();
        // With another configuration, which came meanwhile, it is made anew next time.
        if !known.0.as_ref().is_some_and(|of| of.is_same_as(configuration)) {
            return Ok(caller);
        }
        // The one of another thread may have been first: all have the same.
        Ok(known.1.entry(key).or_insert(caller).clone())
    }

    fn lock(&self) -> MutexGuard<'_, (Option<Configuration>, HashMap<Key, Caller>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallersOfPeople {
    pub(super) fn new(agents: Arc<ConfiguredAgents>, of_others: OwnersTools) -> Self {
        Self { agents, of_others, known: Known::default() }
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
        let make = || self.agents.caller_of_person(person, agent);
        self.known.caller(&configuration, key, make).map_err(|AgentError(reason)| {
            if person.is_manager() {
                return Problem::new(StatusCode::SERVICE_UNAVAILABLE, reason);
            }
            // It may name files and agents.
            tracing::error!(person = person.name(), agent, %reason, "a person has no tools");
            let text = "the agent cannot be used at present; the owner finds the reason in the log";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, text)
        })
    }

    fn is_for_others(&self, tool: &Tool) -> bool {
        self.of_others.admit(tool)
    }
}

#[cfg(test)]
mod tests {
    use toolkit::config::LoadOptions;

    use super::*;

    #[test]
    fn nobody_waits_for_the_caller_of_another_person() {
        let configuration = Configuration::load(LoadOptions::new()).expect("a configuration");
        let known = Known::default();
        let key = |name: &str| (name.to_owned(), Role::User, "main".to_owned());
        let caller = |name: &str| {
            let mut caller = Caller::new();
            caller.sender_id = Some(name.to_owned());
            Ok::<_, AgentError>(caller)
        };
        // While one is made, another request asks for the caller of somebody else.
        let ada = known.caller(&configuration, key("ada"), || {
            let bob = known.caller(&configuration, key("bob"), || caller("bob"))?;
            assert_eq!(bob.sender_id.as_deref(), Some("bob"));
            caller("ada")
        });
        assert_eq!(ada.map(|ada| ada.sender_id).ok(), Some(Some("ada".to_owned())));
        let kept = known.caller(&configuration, key("bob"), || Err(AgentError("made twice".to_owned())));
        assert!(kept.is_ok());
    }
}

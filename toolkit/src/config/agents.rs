//! Checks the id of an agent that a host names.

use crate::config::Configuration;
use crate::policy::{folded, matches};
use serde_json::{Map, Value};
use toolkit_core::escape::escape_line;
use toolkit_core::name::nearest;

impl Configuration {
    /// Checks that an agent which a host names, as with an option of a command, is configured. A rule of `agents` applies by the id, without
    /// regard to case and to spaces around it, so an agent with a misspelt id would have the rights of a caller without any agent.
    ///
    /// If the configuration has no entry in `agents`, every id is accepted: no agent has rules, and the id is only a label.
    ///
    /// ```
    /// use toolkit::config::{Configuration, LoadOptions};
    ///
    /// let agents = LoadOptions::new().set(r#"agents.kid.permission.exec="deny""#);
    /// let configuration = Configuration::load(agents)?;
    /// assert!(configuration.check_agent("Kid").is_ok());
    /// let error = configuration.check_agent("kdi").unwrap_err();
    /// assert_eq!(error, "there is no agent `kdi` in the configuration; did you mean `kid`?");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns a message with the nearest id, or else with the ids of the configured agents, if `agents` has entries and none of them has this
    /// id.
    pub fn check_agent(&self, id: &str) -> Result<(), String> {
        /// The most ids that the message lists.
        const MAX_LISTED: usize = 20;
        let (mut agents, wanted) = (self.agents(), folded(id));
        // An untrusted file restricts agents too.
        for restriction in self.restrictions() {
            let of_file = restriction.document.get("agents").and_then(Value::as_object);
            agents.extend(of_file.into_iter().flat_map(Map::keys).cloned());
        }
        agents.sort_unstable();
        agents.dedup();
        if agents.is_empty() || agents.iter().any(|agent| matches(&folded(agent), &wanted)) {
            return Ok(());
        }
        let problem = format!("there is no agent `{}` in the configuration", escape_line(id));
        let named = |id: &str| format!("`{}`", escape_line(id));
        if let Some(near) = nearest(id, agents.iter().map(String::as_str)).first() {
            return Err(format!("{problem}; did you mean {}?", named(near)));
        }
        let listed: Vec<String> = agents.iter().take(MAX_LISTED).map(|agent| named(agent)).collect();
        let more = if agents.len() > MAX_LISTED { ", …" } else { "" };
        Err(format!("{problem}; `agents` has {}{more}", listed.join(", ")))
    }
}

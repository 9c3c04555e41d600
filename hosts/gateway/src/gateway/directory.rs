//! The agents and settings of a host, for the tools of its sessions.

use std::sync::{Arc, Weak};

use builtin_tools::sessions::AgentInfo;
use toolkit_host::Host;

use super::agents;
use crate::SessionDirectory;
use crate::settings::SessionSettings;

/// The agents and settings of a host, which has the tools that use them.
pub(super) struct HostDirectory(Weak<Host>);

impl HostDirectory {
    pub(super) fn new(host: &Arc<Host>) -> Self {
        Self(Arc::downgrade(host))
    }
}

impl SessionDirectory for HostDirectory {
    fn agents(&self) -> Vec<AgentInfo> {
        let Some(host) = self.0.upgrade() else { return Vec::new() };
        let (agents, _) = agents::listed(&host);
        let info = |agent: crate::http::AgentInfo| AgentInfo {
            id: agent.id,
            name: agent.description,
            model: agent.model,
        };
        agents.into_iter().map(info).collect()
    }

    fn settings(&self) -> SessionSettings {
        self.0.upgrade().map(|host| SessionSettings::of(&host.configuration())).unwrap_or_default()
    }

    fn check_model(&self, model: &str) -> Result<(), String> {
        let host = self.0.upgrade().ok_or("the gateway is ending")?;
        let models = host.models().map_err(|error| error.to_string())?;
        models.get(Some(model)).map(drop).map_err(|error| error.to_string())
    }
}

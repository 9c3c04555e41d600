//! A host that has started.

#[cfg(feature = "agent")]
use crate::agents::{self, AgentOptions};
#[cfg(feature = "agent")]
use crate::error::HostError;
#[cfg(feature = "agent")]
use crate::models::AgentModels;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use toolkit::{
    Caller, Toolbox, Toolkit,
    bootstrap::FollowTask,
    config::{Configuration, LoadOptions},
    registry::{CleanupTask, ShutdownReport},
};
#[cfg(feature = "agent")]
use toolkit_agent::{AgentBuilder, Transcripts};
#[cfg(feature = "mcp")]
use toolkit_mcp::McpServers;
#[cfg(feature = "agent")]
use toolkit_models::{Meter, Models};

/// A toolkit with the models, MCP servers, agents and background tasks of a configuration. [`Host::builder`] makes one.
///
/// Its background tasks end with [`shutdown`](Self::shutdown), or when it is dropped.
#[derive(Debug)]
pub struct Host {
    pub(crate) toolkit: Toolkit,
    pub(crate) load: LoadOptions,
    pub(crate) caller: Caller,
    #[cfg(feature = "mcp")]
    pub(crate) servers: McpServers,
    #[cfg(feature = "mcp")]
    pub(crate) further_servers: Option<McpServers>,
    #[cfg(feature = "agent")]
    pub(crate) transcripts: Option<Transcripts>,
    #[cfg(feature = "agent")]
    pub(crate) meter: Meter,
    #[cfg(feature = "agent")]
    pub(crate) models: AgentModels,
    pub(crate) tasks: Mutex<Option<Tasks>>,
}

/// The background tasks, which end when this value is dropped.
#[derive(Debug)]
pub(crate) struct Tasks {
    pub(crate) _cleanup: CleanupTask,
    pub(crate) _follow: FollowTask,
    #[cfg(feature = "agent")]
    pub(crate) _retention: Option<crate::retention::RetentionTask>,
}

impl Host {
    /// Returns the toolkit.
    pub fn toolkit(&self) -> &Toolkit {
        &self.toolkit
    }

    /// Returns the configuration that is in effect: that of the start, or of the last reload.
    pub fn configuration(&self) -> Configuration {
        self.toolkit.configuration()
    }

    /// Returns the sources of the configuration.
    pub fn load_options(&self) -> &LoadOptions {
        &self.load
    }

    /// Returns the data directory of these sources.
    pub fn data_dir(&self) -> Option<&Path> {
        self.load.data_dir_path()
    }

    /// Returns the caller of the host itself.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the tools of a caller. The first call starts the MCP servers.
    pub async fn toolbox(&self, caller: &Caller) -> Toolbox {
        self.toolkit.toolbox(caller).await
    }

    /// Returns the selected MCP servers of the configuration.
    #[cfg(feature = "mcp")]
    pub fn mcp_servers(&self) -> &McpServers {
        &self.servers
    }

    /// Returns the models of the configuration.
    ///
    /// # Errors
    ///
    /// The section `models` cannot be read, or it names models that it does not have.
    #[cfg(feature = "agent")]
    pub fn models(&self) -> Result<Models, HostError> {
        Ok(Models::new(&self.configuration())?)
    }

    /// Returns the meter that counts what requests to models and endpoints use.
    #[cfg(feature = "agent")]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns the transcripts of agents, in the data directory; none if there is no such directory.
    #[cfg(feature = "agent")]
    pub fn transcripts(&self) -> Option<&Transcripts> {
        self.transcripts.as_ref()
    }

    /// Returns the agent that the configuration describes, on behalf of a caller: the agent of its id, with the model of the caller, of that
    /// agent, of `toolAgent`, or the default; the workspace of that agent, or else of the caller; the limits of `toolAgent`; every agent of the
    /// configuration as a profile for delegated tasks, which are done in the workspace of the delegating agent.
    ///
    /// # Errors
    ///
    /// The configuration has no such agent, or no model that can be used; or the workspace of the agent is not a directory.
    #[cfg(feature = "agent")]
    pub fn agent(&self, caller: &Caller, options: AgentOptions) -> Result<AgentBuilder, HostError> {
        agents::builder(&self.toolkit, self.transcripts(), &self.meter, &self.models, caller.clone(), options)
    }

    /// Ends the background tasks, [shuts the toolkit down](Toolkit::shutdown), and then stops the MCP servers. Returns the calls and hooks of
    /// the toolkit that had not ended at the deadline.
    pub async fn shutdown(&self, deadline: Duration) -> ShutdownReport {
        drop(self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take());
        let report = self.toolkit.shutdown(deadline).await;
        #[cfg(feature = "mcp")]
        {
            self.servers.stop().await;
            if let Some(servers) = &self.further_servers {
                servers.stop().await;
            }
        }
        report
    }
}

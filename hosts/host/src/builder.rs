//! From the sources of a configuration to a host.

#[cfg(feature = "agent")]
use crate::agents;
use crate::error::HostError;
use crate::host::{Host, Tasks};
#[cfg(feature = "agent")]
use crate::models::{AgentModels, with_models};
#[cfg(feature = "agent")]
use crate::retention;
#[cfg(feature = "mcp")]
use crate::servers::{self, McpSelection};
#[cfg(feature = "mcp")]
use std::collections::BTreeMap;
use std::fmt;
#[cfg(feature = "agent")]
use std::sync::Arc;
use std::sync::Mutex;
use toolkit::{
    Approver, Builder, Caller, Toolkit,
    bootstrap::{Bootstrap, BootstrapError, ConfigurationFollower},
    config::{Configuration, LoadOptions},
    registry::Reloaded,
};
#[cfg(feature = "mcp")]
use toolkit_mcp::{ClientOptions, McpServerSettings, McpServers};
#[cfg(feature = "agent")]
use toolkit_models::Meter;

type Report = Box<dyn Fn(Result<Reloaded, BootstrapError>) + Send + Sync>;

/// Puts a [`Host`] together. Without further settings, the host has all parts:
///
/// | part | method | default |
/// |---|---|---|
/// | own tools, services, hooks | [`toolkit`](Self::toolkit) | the tools that are linked into the program |
/// | the caller | [`caller`](Self::caller) | one with the workspace of the sources |
/// | the approver | [`approver`](Self::approver) | none: permission prompts are denied |
/// | recorded calls | [`history`](Self::history) | kept in the data directory |
/// | background tasks | [`background_tasks`](Self::background_tasks), [`follower`](Self::follower) | hourly clean-up, also of old conversations; a changed configuration is reloaded |
/// | MCP servers | `mcp_servers`, `further_mcp_servers` | all of the configuration |
/// | agents | `agents` | checkpoints of changed files, transcripts in the data directory |
/// | conversations that no clean-up removes | `is_kept` | those that are open, wait for a person or have a run that has not ended |
/// | meter | `meter` | counts what requests to models and endpoints use, in memory, without budgets |
/// | models | – | the default model answers tools that ask a model, and MCP servers that are allowed to |
#[must_use = "it does nothing before `build`"]
pub struct HostBuilder {
    load: LoadOptions,
    toolkit: Builder,
    caller: Caller,
    history: bool,
    background_tasks: bool,
    follower: Option<ConfigurationFollower>,
    #[cfg(feature = "agent")]
    agents: bool,
    #[cfg(feature = "agent")]
    meter: Meter,
    #[cfg(feature = "agent")]
    is_kept: retention::IsKept,
    #[cfg(feature = "mcp")]
    selection: McpSelection,
    #[cfg(feature = "mcp")]
    further: BTreeMap<String, McpServerSettings>,
    report: Report,
}

impl Host {
    /// Starts a host of these sources of configuration. A program of a user takes [`LoadOptions::of_process`].
    pub fn builder(load: LoadOptions) -> HostBuilder {
        let caller = match load.workspace_path().map(|path| (path, std::path::absolute(path))) {
            Some((_, Ok(workspace))) => Caller::new().with_workspace(workspace),
            Some((workspace, Err(_))) => Caller::new().with_workspace(workspace),
            None => Caller::new(),
        };
        HostBuilder {
            load,
            toolkit: Toolkit::builder(),
            caller,
            history: true,
            background_tasks: true,
            follower: None,
            #[cfg(feature = "agent")]
            agents: true,
            #[cfg(feature = "agent")]
            meter: Meter::new(),
            #[cfg(feature = "agent")]
            is_kept: Arc::new(|_| false),
            #[cfg(feature = "mcp")]
            selection: McpSelection::All,
            #[cfg(feature = "mcp")]
            further: BTreeMap::new(),
            report: Box::new(log_reload),
        }
    }
}

impl HostBuilder {
    /// Sets the toolkit to add the parts to, with tools, services and hooks of the program.
    pub fn toolkit(self, toolkit: Builder) -> Self {
        Self { toolkit, ..self }
    }

    /// Changes the toolkit, in its present state.
    pub fn with_toolkit(self, change: impl FnOnce(Builder) -> Builder) -> Self {
        Self { toolkit: change(self.toolkit), ..self }
    }

    /// Sets the caller: MCP servers work in its workspace, and its agent must be one of the configuration.
    pub fn caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// Sets the approver of permission prompts.
    pub fn approver(self, approver: impl Approver) -> Self {
        self.with_toolkit(|toolkit| toolkit.approver(approver))
    }

    /// Sets whether calls are recorded in the data directory: see [`Builder::keeps_history`].
    pub fn history(self, history: bool) -> Self {
        Self { history, ..self }
    }

    /// Sets whether old files are removed every hour and a changed configuration is reloaded. A program that ends with its task needs neither.
    pub fn background_tasks(self, background_tasks: bool) -> Self {
        Self { background_tasks, ..self }
    }

    /// Sets the follower of the configuration, which several hosts of the same sources share. By default a host has its own.
    pub fn follower(self, follower: ConfigurationFollower) -> Self {
        Self { follower: Some(follower), ..self }
    }

    /// Sets the function that gets each reload of the configuration, and each reason why a changed one is not used. It must not block. By
    /// default both are logged with `tracing`.
    pub fn on_reload(
        self,
        report: impl Fn(Result<Reloaded, BootstrapError>) + Send + Sync + 'static,
    ) -> Self {
        Self { report: Box::new(report), ..self }
    }

    /// Sets the function that gets the problems of the history: see [`Builder::on_history_problem`]. By default they are logged with
    /// `tracing`.
    pub fn on_history_problem(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.toolkit = self.toolkit.on_history_problem(report);
        self
    }

    /// Sets whether the host runs agents. Without them, no file is copied before it changes, and `toolAgent` in the configuration causes a
    /// warning.
    #[cfg(feature = "agent")]
    pub fn agents(self, agents: bool) -> Self {
        Self { agents, ..self }
    }

    /// Sets the meter that counts what requests of agents, tools and MCP servers to models and endpoints use, and refuses those that would
    /// pass a budget.
    #[cfg(feature = "agent")]
    pub fn meter(self, meter: Meter) -> Self {
        Self { meter, ..self }
    }

    /// Sets the function that returns true for the id of a transcript whose conversation the hourly clean-up keeps: a host has messages for it that no
    /// run has consumed. It is called on a thread that may block, while nobody can open the conversation.
    #[cfg(feature = "agent")]
    pub fn is_kept(self, is_kept: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self { is_kept: Arc::new(is_kept), ..self }
    }

    /// Sets which MCP servers of the configuration are started.
    #[cfg(feature = "mcp")]
    pub fn mcp_servers(self, selection: McpSelection) -> Self {
        Self { selection, ..self }
    }

    /// Adds MCP servers that the configuration does not name.
    #[cfg(feature = "mcp")]
    pub fn further_mcp_servers(mut self, servers: BTreeMap<String, McpServerSettings>) -> Self {
        self.further.extend(servers);
        self
    }

    /// Loads the configuration, and adds the parts to the toolkit. Blocks.
    ///
    /// # Errors
    ///
    /// Returns all problems of the configuration at once, or that it has no agent of the caller's id.
    pub fn prepare(self) -> Result<PreparedHost, HostError> {
        let Self { load, mut toolkit, caller, history, background_tasks, follower, report, .. } = self;
        toolkit = crate::links_first(toolkit);
        if history {
            toolkit = toolkit.keeps_history();
        }
        #[cfg(feature = "agent")]
        let transcripts = load.data_dir_path().map(agents::transcripts_of);
        #[cfg(feature = "agent")]
        if self.agents {
            toolkit = agents::prepare(toolkit, transcripts.as_ref());
        }
        #[cfg(feature = "agent")]
        let meter = &self.meter;
        let bootstrap = Bootstrap::new(toolkit, load.clone());
        #[cfg(feature = "agent")]
        let bootstrap = with_models(bootstrap, meter);
        #[cfg(feature = "mcp")]
        let mut servers = McpServers::new(&BTreeMap::new(), ClientOptions::new());
        #[cfg(feature = "mcp")]
        let mut further_servers = None;
        #[cfg(feature = "mcp")]
        let bootstrap = bootstrap.part(|toolkit, configuration| {
            servers = servers::selected(
                configuration,
                &caller,
                load.data_dir_path(),
                &self.selection,
                #[cfg(feature = "agent")]
                meter,
            );
            let toolkit = servers::with(toolkit, configuration, &servers);
            if self.further.is_empty() {
                return toolkit;
            }
            let options = servers::options(
                configuration,
                &caller,
                #[cfg(feature = "agent")]
                meter,
            );
            let further = McpServers::new(&self.further, options);
            let toolkit = toolkit.tool_source(further.clone());
            further_servers = Some(further);
            toolkit
        });
        let (toolkit, configuration) = bootstrap.prepare()?;
        if let Some(agent) = &caller.agent {
            configuration.check_agent(agent).map_err(HostError::UnknownAgent)?;
        }
        Ok(PreparedHost {
            toolkit,
            configuration,
            follower: follower.unwrap_or_else(|| ConfigurationFollower::new(load.clone())),
            load,
            caller,
            report: background_tasks.then_some(report),
            #[cfg(feature = "mcp")]
            servers,
            #[cfg(feature = "mcp")]
            further_servers,
            #[cfg(feature = "agent")]
            transcripts,
            #[cfg(feature = "agent")]
            agents: self.agents,
            #[cfg(feature = "agent")]
            meter: self.meter,
            #[cfg(feature = "agent")]
            is_kept: self.is_kept,
        })
    }

    /// Loads the configuration, and starts the host. Blocks.
    ///
    /// # Errors
    ///
    /// Returns all problems of the configuration, or of building the toolkit, at once.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime, unless there are no [background tasks](Self::background_tasks).
    pub fn build(self) -> Result<Host, HostError> {
        self.prepare()?.build()
    }
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder").field("load", &self.load).finish_non_exhaustive()
    }
}

/// A host whose configuration is loaded, and whose toolkit is not built yet.
#[must_use = "it does nothing before `build`"]
pub struct PreparedHost {
    toolkit: Builder,
    configuration: Configuration,
    follower: ConfigurationFollower,
    load: LoadOptions,
    caller: Caller,
    report: Option<Report>,
    #[cfg(feature = "mcp")]
    servers: McpServers,
    #[cfg(feature = "mcp")]
    further_servers: Option<McpServers>,
    #[cfg(feature = "agent")]
    transcripts: Option<toolkit_agent::Transcripts>,
    /// True if the host has agents, whose transcripts are cleaned up.
    #[cfg(feature = "agent")]
    agents: bool,
    #[cfg(feature = "agent")]
    meter: Meter,
    #[cfg(feature = "agent")]
    is_kept: retention::IsKept,
}

impl PreparedHost {
    /// Returns the configuration.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Changes the toolkit, by what the configuration says.
    pub fn with_toolkit(self, change: impl FnOnce(Builder) -> Builder) -> Self {
        Self { toolkit: change(self.toolkit), ..self }
    }

    /// Builds the toolkit, and starts the background tasks.
    ///
    /// # Errors
    ///
    /// Returns all problems of building the toolkit at once.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime, unless there are no [background tasks](HostBuilder::background_tasks).
    pub fn build(self) -> Result<Host, HostError> {
        let toolkit = self.toolkit.build()?;
        let tasks = self.report.map(|report| Tasks {
            _cleanup: toolkit.spawn_cleanup(),
            _follow: self.follower.follow(&toolkit, report),
            #[cfg(feature = "agent")]
            _retention: (self.transcripts.clone().filter(|_| self.agents))
                .map(|transcripts| retention::spawn_clean_up(&toolkit, transcripts, self.is_kept)),
        });
        Ok(Host {
            toolkit,
            load: self.load,
            caller: self.caller,
            #[cfg(feature = "mcp")]
            servers: self.servers,
            #[cfg(feature = "mcp")]
            further_servers: self.further_servers,
            #[cfg(feature = "agent")]
            transcripts: self.transcripts,
            #[cfg(feature = "agent")]
            meter: self.meter,
            #[cfg(feature = "agent")]
            models: AgentModels::default(),
            tasks: Mutex::new(tasks),
        })
    }
}

impl fmt::Debug for PreparedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedHost").field("load", &self.load).finish_non_exhaustive()
    }
}

fn log_reload(reloaded: Result<Reloaded, BootstrapError>) {
    match reloaded {
        Ok(reloaded) => {
            let changed = reloaded.changed.join(", ");
            tracing::info!(target: "toolkit", changed, "the configuration was reloaded");
            for diagnostic in &reloaded.diagnostics {
                tracing::warn!(target: "toolkit", "{diagnostic}");
            }
        }
        Err(error) => {
            tracing::warn!(
                target: "toolkit",
                "the changed configuration is not used, the previous one stays in effect: {error}"
            );
        }
    }
}

//! All servers of a configuration: started when they are first needed, together.

use super::configured::Configured;
use super::connection::About;
use super::launch;
use super::options::ClientOptions;
use super::programs::{Trusted, compiled, programs, trusted_by};
use super::resources::Resources;
use super::server::State;
use crate::settings::McpServerSettings;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolkit::{
    Toolkit,
    config::Configuration,
    registry::{Diagnostic, FetchFuture, SourceInstructions, ToolSource},
};

/// Time from the start of the servers for which toolboxes wait for them.
const PATIENCE: Duration = Duration::from_secs(5);

/// The MCP servers of a configuration; their tools are named `server__tool`. Cheap to clone.
///
/// Passed to [`Builder::tool_source`](toolkit::Builder::tool_source), all servers are started together when the first toolbox is created.
/// A server that is slow or unavailable neither delays nor hides others; it is tried again after a delay, longer each time, and when one
/// of its tools is called. A command ends with this process.
///
/// ```no_run
/// use toolkit::prelude::*;
/// use toolkit::config::{Configuration, LoadOptions};
/// use toolkit_mcp::{ClientOptions, McpServers};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let configuration = Configuration::load(LoadOptions::new())?;
/// let servers = McpServers::of(&configuration, ClientOptions::new());
/// let toolkit = Toolkit::builder().configuration(configuration).tool_source(servers.clone()).build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// let call = ToolCall::new("1", "everything__echo", r#"{"message": "hello"}"#);
/// println!("{}", toolbox.call(call).await.text());
/// servers.stop().await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct McpServers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    servers: Vec<Arc<Configured>>,
    options: Arc<ClientOptions>,
    /// Names and prefixes of the servers that are switched off.
    off: Vec<(String, String)>,
    tasks: Mutex<Tasks>,
}

#[derive(Debug, Default)]
enum Tasks {
    #[default]
    None,
    Running(Vec<JoinHandle<()>>, Instant),
    Stopped,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Tasks::Running(tasks, _) = self.tasks.get_mut().unwrap_or_else(PoisonError::into_inner) {
            for task in tasks {
                task.abort();
            }
        }
    }
}

/// Name, state and diagnostics of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The server's name in the configuration.
    pub name: String,
    /// State of the server.
    pub state: ServerState,
    /// The server's text about the use of its tools, if it is connected and has one: untrusted, with hidden characters escaped, truncated to
    /// 2,000 characters.
    pub instructions: Option<String>,
    /// Diagnostics: tools that were left out, changed definitions of tools, reasons for which connections ended.
    pub diagnostics: Vec<Diagnostic>,
}

/// State of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerState {
    /// The server has not been needed yet.
    Idle,
    /// The server is starting.
    Starting,
    /// The server is connected.
    Ready {
        /// Number of its tools.
        tools: usize,
        /// The server's name, its version and the version of the protocol.
        about: String,
    },
    /// The connection failed; it is tried again.
    Failed {
        /// The reason.
        why: String,
    },
    /// The server was stopped from this end.
    Stopped,
}

impl McpServers {
    /// Returns the servers of a configuration that are not switched off. A server that the `toolkit.json5` of a project names is started only
    /// if its programs and scripts are as they were when the user trusted the file.
    pub fn of(configuration: &Configuration, options: ClientOptions) -> Self {
        let trusted = |name: &str| (trusted_by(configuration, name), launch::named_by(configuration, name));
        Self::create(&McpServerSettings::of(configuration), options, trusted)
            .with_switched_off(McpServerSettings::switched_off(configuration))
    }

    /// Creates a client for these servers, by name.
    pub fn new(servers: &BTreeMap<String, McpServerSettings>, options: ClientOptions) -> Self {
        Self::create(servers, options, |_| (None, "the host".to_owned()))
    }

    fn create(
        servers: &BTreeMap<String, McpServerSettings>,
        options: ClientOptions,
        source: impl Fn(&str) -> (Option<Trusted>, String),
    ) -> Self {
        let options = Arc::new(options);
        let prefixes = toolkit::text::server_prefixes(servers.keys().map(String::as_str));
        let resources = Arc::new(Resources::default());
        let of = |(name, settings): (&String, &McpServerSettings)| {
            let prefix = prefixes.get(name.as_str()).cloned().unwrap_or_default();
            let (options, resources) = (Arc::clone(&options), Arc::clone(&resources));
            let (trusted, named_by) = source(name);
            Configured::new(name, prefix, settings.clone(), (trusted, &named_by), options, resources)
        };
        let (on, off): (Vec<_>, Vec<_>) = servers.iter().partition(|(_, settings)| settings.enabled());
        let servers = on.into_iter().map(of).collect();
        Self(Arc::new(Shared { servers, options, off: Vec::new(), tasks: Mutex::default() }))
            .with_switched_off(off.into_iter().map(|(name, _)| name.clone()))
    }

    /// Adds servers that are switched off, so that a call of one of their tools can report it.
    #[must_use]
    pub fn with_switched_off(self, names: impl IntoIterator<Item = String>) -> Self {
        let with_prefix = |name: String| {
            let prefix =
                toolkit::text::server_prefixes([name.as_str()]).remove(name.as_str()).unwrap_or_default();
            (name, prefix)
        };
        let off = self.0.off.iter().cloned().chain(names.into_iter().map(with_prefix)).collect();
        self.narrowed(self.0.servers.clone(), off)
    }

    /// Returns only the servers that may have a tool of this name: none for a tool that belongs to no server.
    #[must_use]
    pub fn only_for(self, tool: &str) -> Self {
        let may_have = |server: &&Arc<Configured>| super::resources::is_one(tool) || server.may_have(tool);
        let servers = self.0.servers.iter().filter(may_have).cloned().collect();
        self.narrowed(servers, self.0.off.clone())
    }

    /// Returns only the server of this name.
    #[must_use]
    pub fn only(self, name: &str) -> Self {
        let servers = self.0.servers.iter().filter(|server| &*server.name == name).cloned().collect();
        self.narrowed(servers, Vec::new())
    }

    /// Returns no server. As a source of tools, the value still protects the programs of all servers of the configuration.
    #[must_use]
    pub fn none(self) -> Self {
        self.narrowed(Vec::new(), Vec::new())
    }

    fn narrowed(&self, servers: Vec<Arc<Configured>>, off: Vec<(String, String)>) -> Self {
        let options = Arc::clone(&self.0.options);
        Self(Arc::new(Shared { servers, options, off, tasks: Mutex::default() }))
    }

    /// Returns true if there is no server, not even one that is switched off.
    pub fn is_empty(&self) -> bool {
        self.0.servers.is_empty() && self.0.off.is_empty()
    }

    /// Returns the status of each server.
    pub fn status(&self) -> Vec<ServerStatus> {
        let status = |server: &Arc<Configured>| ServerStatus {
            name: server.name.to_string(),
            state: match &*server.state().borrow() {
                State::Idle => ServerState::Idle,
                State::Starting => ServerState::Starting,
                State::Ready { tools, about, .. } => {
                    ServerState::Ready { tools: *tools, about: about.shown() }
                }
                State::Failed { why } => ServerState::Failed { why: why.clone() },
                State::Stopped => ServerState::Stopped,
            },
            instructions: server.instructions().map(|said| said.text),
            diagnostics: server.noticed(),
        };
        self.0.servers.iter().map(status).collect()
    }

    /// Starts the servers that are not started, and waits until each is connected or has failed.
    pub async fn start(&self, toolkit: &Toolkit) {
        self.begin(toolkit);
        self.settled().await;
    }

    /// Removes the tokens of a server. Returns true if there were any.
    ///
    /// # Errors
    ///
    /// When the file with the tokens cannot be removed.
    #[cfg(feature = "oauth")]
    pub async fn sign_out(&self, server: &str) -> std::io::Result<bool> {
        let server = self.0.servers.iter().find(|other| &*other.name == server);
        match server.and_then(|server| server.target.authority.as_ref()) {
            Some(authority) => authority.sign_out().await,
            None => Ok(false),
        }
    }

    /// Makes a server sign in again when it is started, despite stored tokens. They stay stored until then.
    #[cfg(feature = "oauth")]
    pub fn sign_in_again(&self, server: &str) {
        let server = self.0.servers.iter().find(|other| &*other.name == server);
        if let Some(authority) = server.and_then(|server| server.target.authority.as_ref()) {
            authority.sign_in_again();
        }
    }

    pub(super) fn servers(&self) -> &[Arc<Configured>] {
        &self.0.servers
    }

    async fn settled(&self) {
        let settled = |server: &Arc<Configured>| {
            let mut state = server.state();
            async move {
                let _ = state.wait_for(|state| !matches!(state, State::Idle | State::Starting)).await;
            }
        };
        futures_util::future::join_all(self.0.servers.iter().map(settled)).await;
    }

    /// Stops all of them, and waits until commands have ended, for some seconds at most. They are not started again.
    pub async fn stop(&self) {
        let tasks = {
            let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *tasks, Tasks::Stopped)
        };
        let Tasks::Running(tasks, _) = tasks else { return };
        let abouts: Vec<Arc<About>> = self
            .0
            .servers
            .iter()
            .filter_map(|server| match &*server.state().borrow() {
                State::Ready { about, .. } => Some(Arc::clone(about)),
                _ => None,
            })
            .collect();
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            let _ = task.await;
        }
        for server in &self.0.servers {
            server.set_state(State::Stopped);
        }
        futures_util::future::join_all(abouts.iter().filter_map(|about| about.take_finished())).await;
    }

    /// Starts the servers unless they run already, and returns the time at which they were started.
    fn begin(&self, toolkit: &Toolkit) -> Instant {
        let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Tasks::Running(_, begun) = *tasks {
            return begun;
        }
        let begun = Instant::now();
        if matches!(*tasks, Tasks::None) {
            let each = self.0.servers.iter().map(|server| {
                server.is_of(toolkit.downgrade());
                server.set_state(State::Starting);
                tokio::spawn(Arc::clone(server).keep())
            });
            *tasks = Tasks::Running(each.collect(), begun);
        }
        begun
    }
}

impl ToolSource for McpServers {
    fn permission_keys(&self) -> Vec<String> {
        let servers = self.0.servers.iter();
        servers.flat_map(|server| [format!("mcp:{}", server.name), format!("{}__*", server.prefix)]).collect()
    }

    /// Returns the programs and scripts of its own servers, and of all servers of the configuration: whoever starts them later runs them.
    fn programs(&self, configuration: &Configuration) -> Vec<PathBuf> {
        let every = McpServerSettings::every(configuration);
        let settings = self.0.servers.iter().map(|server| &server.target.settings).chain(every.values());
        let commands = settings.filter_map(|settings| match settings {
            McpServerSettings::Command(command) => Some(command),
            _ => None,
        });
        let found: BTreeSet<PathBuf> =
            commands.flat_map(|command| programs(command, &self.0.options.workspace)).collect();
        let compiled = compiled(&found);
        found.into_iter().chain(compiled).collect()
    }

    fn absence(&self, name: &str) -> Option<String> {
        let Shared { servers, off, .. } = &*self.0;
        let off = || {
            let of = |(_, prefix): &&(String, String)| {
                name.strip_prefix(&**prefix).is_some_and(|rest| rest.starts_with("__"))
            };
            let (server, _) = off.iter().find(of)?;
            Some(format!(
                "the MCP server `{server}` is switched off in the configuration (`mcp.{server}.enabled`)"
            ))
        };
        servers.iter().find_map(|server| server.absence(name)).or_else(off)
    }

    fn instructions(&self) -> Vec<SourceInstructions> {
        self.0.servers.iter().filter_map(|server| server.instructions()).collect()
    }

    fn bring<'a>(&'a self, toolkit: &'a Toolkit) -> FetchFuture<'a> {
        Box::pin(async move {
            // Time that was waited before counts.
            let left = PATIENCE.saturating_sub(self.begin(toolkit).elapsed());
            let _ = tokio::time::timeout(left, self.settled()).await;
        })
    }
}

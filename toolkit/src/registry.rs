//! Every tool of a process, with the services they need.

mod build;
mod candidates;
mod change;
mod configured;
mod explain;
mod faults;
mod hooks;
mod index;
mod narrowed;
mod origins;
mod permission_keys;
mod products;
mod register;
mod skills;
mod source;
#[cfg(test)]
mod tests;
mod tools;
mod void;

pub use build::BuildError;
pub use change::{RegisterError, ToolChange, ToolWatch};
pub use permission_keys::LinkedKeys;
pub use source::{Bringing, ToolSource, WeakToolkit};
pub use tools::Tools;

use crate::approvals::Approvals;
use crate::approver::Approver;
use crate::arguments::Repairing;
use crate::asks::{AskLimits, Asks};
use crate::caller::Caller;
use crate::config::Configuration;
use crate::cut::{Cut, OutputLimits};
use crate::diagnostic::Diagnostic;
use crate::discovery::Discovery;
use crate::events::{Events, Hub, Wanted};
use crate::history::History;
use crate::output_store::OutputStore;
use crate::permission::Permissions;
use crate::plugin::Plugin;
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::search::SharedSegment;
use crate::service::FactoryDef;
use crate::session::Sessions;
use crate::settings::Settings;
use crate::skills::LinkedSkills;
use crate::state::{Service, Services};
use crate::tool::Tool;
use crate::toolbox::Toolbox;
pub(crate) use origins::Origins;
use register::Registry;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Every tool linked into or registered with this process. Cheap to clone.
///
/// ```standalone_crate
/// use toolkit::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::builder().build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// for definition in toolbox.definitions() {
///     println!("{}: {}", definition.name, definition.description);
/// }
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Toolkit(Arc<Inner>);

#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) registry: Registry,
    pub(crate) origins: Origins,
    pub(crate) services: Services,
    pub(crate) settings: Settings,
    pub(crate) sessions: Sessions,
    pub(crate) events: Arc<Hub>,
    diagnostics: Vec<Diagnostic>,
    /// What brings tools from elsewhere.
    sources: Vec<Box<dyn ToolSource>>,
    /// What makes tools for each caller.
    pub(crate) factories: Vec<&'static FactoryDef>,
    /// What linked crates bring of skills, each with the channel to whose sessions they belong.
    pub(crate) skills: Vec<(&'static LinkedSkills, Option<&'static str>)>,
    /// Whether any service is made at its first use.
    pub(crate) makes_services: bool,
    /// When not every definition is shown.
    pub(crate) discovery: Option<Discovery>,
    /// The tool that finds those that are not shown.
    pub(crate) search_tool: Option<Tool>,
    pub(crate) search: SharedSegment,
}

impl Toolkit {
    /// Starts with every tool that is linked into this process.
    pub fn builder() -> Builder {
        Builder { linked: true, ..Builder::default() }
    }

    /// Starts with no tool at all, for hosts that name each one.
    pub fn empty() -> Builder {
        Builder::default()
    }

    /// Every tool there is now, by name: a slice that stays as it is while tools come and go.
    pub fn tools(&self) -> Tools {
        self.0.tools()
    }

    /// The tool of this name or alias, if it is there now.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        self.0.tools().get(name).cloned()
    }

    /// The names that only core tools can have: their names and aliases, also of those that are switched off, sorted. No
    /// plugin, server or client can take one, and no plugin can have one as its id.
    pub fn reserved_names(&self) -> impl Iterator<Item = &str> {
        self.0.origins.reserved_names()
    }

    /// Every plugin with a tool or a `toolkit::plugin!`, by the name of its crate; also those that are blocked.
    pub fn plugins(&self) -> &[Plugin] {
        self.0.origins.plugins()
    }

    /// What was noticed while the tools were put together.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// What happens to all calls, from now on.
    pub fn events(&self) -> Events {
        self.0.events.subscribe(Wanted::All)
    }

    /// Ends a session: forgets what tools keep for it, and what was allowed for it; false where there is no such session. Calls under
    /// way are not touched. Blocks for a moment where approvals for sessions are
    /// [kept](crate::Builder::keep_session_approvals).
    #[expect(clippy::must_use_candidate, reason = "most hosts do not care whether there was one")]
    pub fn end_session(&self, session_id: &str) -> bool {
        self.0.settings.approvals.end_session(session_id);
        self.0.sessions.end(session_id)
    }

    /// The questions that wait for an answer. They can be answered here, wherever they were asked.
    pub fn asks(&self) -> &Asks {
        &self.0.settings.asks
    }

    /// What people allowed always, or for a session whose approvals are kept, which answers questions before anybody is asked.
    pub fn approvals(&self) -> &Approvals {
        &self.0.settings.approvals
    }

    /// What is configured.
    pub fn configuration(&self) -> &Configuration {
        &self.0.settings.configuration
    }

    pub(crate) fn outputs(&self) -> &OutputStore {
        &self.0.settings.outputs
    }

    /// What `caller` may use: a snapshot, to be made anew for each turn of a model.
    ///
    /// Tools that [prepare themselves](crate::Preparation) for a caller do so now, all at once, and [sources](ToolSource) of tools
    /// from elsewhere begin to bring them.
    pub async fn toolbox(&self, caller: &Caller) -> Toolbox {
        self.brought().await;
        Toolbox::new(Arc::clone(&self.0), caller.clone()).ready().await
    }
}

/// Puts a [`Toolkit`] together.
#[derive(Debug, Default)]
pub struct Builder {
    linked: bool,
    tools: Vec<Tool>,
    sources: Vec<Box<dyn ToolSource>>,
    services: Services,
    first_lists: Vec<String>,
    prefer: Vec<String>,
    leave_out_incomplete: bool,
    pub(crate) settings: Settings,
    data_dir: Option<PathBuf>,
    discovery: Option<Discovery>,
    permission_keys: Vec<String>,
    delegates_tasks: bool,
}

impl Builder {
    /// Adds a tool; it goes before every linked one of its name.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a source of tools from elsewhere, which brings them when a toolbox is first made.
    #[must_use]
    pub fn tool_source(mut self, source: impl ToolSource) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Provides a service to every tool that takes `State<T>`.
    #[must_use]
    pub fn service<T: Service>(self, service: T) -> Self {
        self.shared_service(Arc::new(service))
    }

    /// Provides a service that is shared, or a trait object: `shared_service::<dyn Store>(Arc::new(store))`.
    #[must_use]
    pub fn shared_service<T: ?Sized + Service>(mut self, service: Arc<T>) -> Self {
        self.services.insert(service);
        self
    }

    /// Lets the `link!` list of a crate go before all others that are not named so.
    #[must_use]
    pub fn links_first(mut self, crate_name: impl Into<String>) -> Self {
        self.first_lists.push(crate_name.into());
        self
    }

    /// Lets the tools of these plugins go before those of other plugins, in this order, whatever `link!` says. Core tools
    /// go before all of them all the same.
    #[must_use]
    pub fn prefer(mut self, plugins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.prefer.extend(plugins.into_iter().map(Into::into));
        self
    }

    /// Leaves tools out that take a `State<T>` which nobody provides, each with a diagnostic. By default the toolkit is
    /// not built then.
    #[must_use]
    pub fn leave_out_incomplete(mut self) -> Self {
        self.leave_out_incomplete = true;
        self
    }

    /// How long a call may take unless its tool says otherwise: 10 minutes by default, [`Duration::MAX`] for no
    /// limit. The clock starts when the function first has to wait; it stands still while a person is asked.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// How long tools may take to make themselves ready for a caller, all of them together: 5 seconds by default,
    /// [`Duration::MAX`] for no limit. What is not ready then is left out of the toolbox. [Sources](ToolSource) of tools have as long.
    #[must_use]
    pub fn prepare_timeout(mut self, timeout: Duration) -> Self {
        self.settings.prepare_timeout = timeout;
        self
    }

    /// Shows a model not every definition where there are many, and lets it find the others. By default every one is shown. What
    /// is configured under `tools.discovery` goes before it.
    #[must_use]
    pub fn discovery(mut self, discovery: Discovery) -> Self {
        self.discovery = Some(discovery);
        self
    }

    /// Says that this host runs an agent that tasks are delegated to, by
    /// [what is configured of it](Configuration::tool_agent). Without it, each key under `toolAgent` is a warning among the
    /// [diagnostics](Toolkit::diagnostics), since it has no effect.
    #[must_use]
    pub fn delegates_tasks(mut self) -> Self {
        self.delegates_tasks = true;
        self
    }

    /// Says that this host ends with its call, as a command line does. A tool can leave nothing running then that a later call
    /// would look after, and says so: see [`ToolContext::is_for_one_call`](crate::ToolContext::is_for_one_call). No tool insists on
    /// what only a call before could have done, such as reading a file before it is replaced.
    #[must_use]
    pub fn for_one_call(mut self) -> Self {
        self.settings.is_for_one_call = true;
        self
    }

    /// Keeps what a person allows for a session beyond the end of the process, in the data directory, for so long after each answer:
    /// for a host whose process ends before its sessions do, as a command line does. By default it ends with the process.
    ///
    /// Only for sessions that the host [names](crate::Caller::session_id), and for each workspace by itself.
    /// [`Toolkit::end_session`] ends it earlier, [`Approvals::revoke`] takes one back.
    #[must_use]
    pub fn keep_session_approvals(mut self, lifetime: Duration) -> Self {
        self.settings.session_approvals_lifetime = Some(lifetime);
        self
    }

    /// Takes arguments only as they are. By default what is not valid but can only mean one thing is repaired: a number
    /// sent as text, say. Other names of a parameter, and `null` for an optional one, are taken all the same.
    #[must_use]
    pub fn without_repair(mut self) -> Self {
        self.settings.repairing = Repairing::Off;
        self
    }

    /// How much of an output a model gets, for tools that say nothing of it: 2,000 lines and 50 KiB of its beginning by
    /// default.
    #[must_use]
    pub fn output_limits(mut self, limits: OutputLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Where whole outputs are kept, in a directory `tool-output` of it. By default the platform's directory for a
    /// user's data, `$XDG_DATA_HOME/toolkit` or `~/.local/share/toolkit` on Linux.
    #[must_use]
    pub fn data_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(directory.into());
        self
    }

    /// The same, unless one was set before.
    #[must_use]
    pub fn default_data_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir.get_or_insert_with(|| directory.into());
        self
    }

    /// Words what a model is told of an output that was cut; it can depend on who calls.
    #[must_use]
    pub fn cut_hint(mut self, hint: impl Fn(&Cut, &Caller) -> String + Send + Sync + 'static) -> Self {
        self.settings.hint = Some(Arc::new(hint));
        self
    }

    /// Brings the questions of tools to a person. Without one they are denied.
    ///
    /// To look into it later, hand over an `Arc` of it.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver = Some(Arc::new(approver));
        self
    }

    /// The same, unless one was set before.
    #[must_use]
    pub fn default_approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver.get_or_insert_with(|| Arc::new(approver));
        self
    }

    /// How many questions can wait for an answer, and for how long: 1,000 for 24 hours by default.
    #[must_use]
    pub fn ask_limits(mut self, limits: AskLimits) -> Self {
        self.settings.asks = Asks::with_limits(limits);
        self
    }

    /// Records every call. Keep a clone of the `Arc` to read it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toolkit::prelude::*;
    /// use toolkit::{HistoryQuery, MemoryHistory, Redactor};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
    /// let history = Arc::new(MemoryHistory::new(Redactor::new().env("DEPLOY_KEY")));
    /// let toolkit = Toolkit::empty().history(Arc::clone(&history)).build()?;
    /// toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", "unknown", "{}")).await;
    /// assert_eq!(history.calls(&HistoryQuery::new())[0].tool, "unknown");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn history<H: History>(mut self, history: Arc<H>) -> Self {
        self.settings.history = Some(history);
        self
    }

    /// What is taken out of events and errors, beside the values of secret arguments and what looks like a key. What is
    /// taken out of a history is said where that is made.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.settings.redactor = redactor;
        self
    }

    /// Decides which tools exist for a caller. Without one, all do that are not optional: [`ToolPolicy::default`](crate::ToolPolicy).
    #[must_use]
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.settings.policy = Some(Arc::new(policy));
        self
    }

    /// The same, unless one was set before.
    #[must_use]
    pub fn default_policy(mut self, policy: impl Policy) -> Self {
        self.settings.policy.get_or_insert_with(|| Arc::new(policy));
        self
    }

    /// Who may do what without being asked, and what must not be done. Without any rule, the defaults hold.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.settings.permissions = permissions;
        self
    }

    /// Names further keys of `permission` that the configuration may have: kinds that tools ask under and do not state, and tools
    /// that are registered later. `*` in a name stands for any text. A configured key that means nothing is an error.
    #[must_use]
    pub fn permission_keys(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.permission_keys.extend(keys.into_iter().map(Into::into));
        self
    }

    /// Asks before anything is written to this file, or to what is in this directory, also where edits are allowed: as
    /// for [`protected_paths`](crate::protected_paths). Meant for what decides what is allowed, such as a configuration
    /// file that lies elsewhere. A relative path belongs to the process's working directory.
    #[must_use]
    pub fn protect_path(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.settings.own_dirs.protect(std::path::absolute(&path).unwrap_or(path));
        self
    }

    /// Counts further directories as within every caller's workspace: what is in them is read without a question, and
    /// written with that of an edit. Paths in them are still named whole.
    ///
    /// Paths are absolute; what is not there holds nothing. Called again, it adds to them.
    #[must_use]
    pub fn further_directories(mut self, directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.settings.further_dirs.extend(directories.into_iter().map(Into::into));
        self
    }

    /// The workspace of callers that name none; the process's working directory without one.
    #[must_use]
    pub fn default_workspace(mut self, directory: impl Into<PathBuf>) -> Self {
        self.settings.workspace = Some(directory.into());
        self
    }

    /// What is configured; nothing by default. Its secrets are taken out of events and errors too.
    #[must_use]
    pub fn configuration(mut self, configuration: Configuration) -> Self {
        self.settings.configuration = configuration;
        self
    }
}

impl fmt::Display for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tools", self.tools().len())
    }
}

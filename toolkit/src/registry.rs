//! The toolkit: every tool of a process, with the services they need.

mod as_tool;
mod basis;
mod build;
mod candidates;
mod change;
mod cleanup;
mod configured;
mod explain;
mod faults;
mod hooks;
mod index;
mod narrowed;
mod origins;
mod permission_keys;
mod preparation;
mod products;
mod register;
mod reload;
mod services;
mod shutdown;
mod skills;
mod source;
#[cfg(test)]
mod tests;
mod tool_names;
mod tools;
mod void;

pub use crate::service::IntoTools;
pub use as_tool::{AsConfiguration, AsTool, AsTools};
pub use build::BuildError;
pub use change::{RegisterError, ToolChange, ToolWatch};
pub use cleanup::CleanupTask;
pub use reload::Reloaded;
pub use shutdown::ShutdownReport;
pub use source::{FetchFuture, SourceInstructions, ToolSource, WeakToolkit};
pub use toolkit_core::{Diagnostic, Level};
pub use tools::Tools;

use crate::approvals::Approvals;
use crate::approver::Approver;
use crate::ask_store::{AskKeeper, AskStore, AskingCall};
use crate::asks::{AskLimits, Asks};
use crate::config::Configuration;
use crate::cut::{Cut, OutputLimits};
use crate::discovery::Discovery;
use crate::events::{Events, Hub, Wanted};
use crate::history::{History, Report};
use crate::lifecycle::Lifecycle;
use crate::linked::{self, LinkedSkills};
use crate::output_store::OutputStore;
use crate::permission::Permissions;
use crate::policy::Policy;
use crate::rules::{CurrentRules, Rules};
use crate::search::SharedSegment;
use crate::service::FactoryDef;
use crate::session::Sessions;
use crate::settings::Settings;
use crate::tool::Tool;
use basis::Basis;
pub(crate) use origins::Origins;
use register::Registry;
pub(crate) use services::Given;
use std::any::TypeId;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::arguments::Repairing;
use toolkit_core::caller::Caller;
use toolkit_core::plugin::Plugin;
use toolkit_core::redact::Redactor;
use toolkit_core::state::{Service, Services};

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
pub struct Toolkit(pub(crate) Arc<Inner>);

#[derive(Debug, Default)]
pub(crate) struct Inner {
    pub(crate) registry: Registry,
    pub(crate) origins: Origins,
    pub(crate) services: Services,
    pub(crate) settings: Settings,
    pub(crate) rules: CurrentRules,
    /// The inputs that a reload needs again.
    basis: Basis,
    pub(crate) sessions: Sessions,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) events: Arc<Hub>,
    diagnostics: Vec<Diagnostic>,
    /// Sources that fetch tools from elsewhere.
    sources: Vec<Arc<dyn ToolSource>>,
    /// Factories that create tools for each caller.
    pub(crate) factories: Vec<&'static FactoryDef>,
    /// Skills of linked crates, each with the channel to whose sessions they are limited.
    pub(crate) skills: Vec<(&'static LinkedSkills, Option<&'static str>)>,
    /// True if the linked tools are among its tools.
    pub(crate) begins_with_linked: bool,
    /// True for the toolkit of a `TestToolbox`.
    pub(crate) is_test: bool,
    /// True if a service is created at its first use.
    pub(crate) makes_services: bool,
    /// The settings for showing only some definitions, if not every definition is shown.
    pub(crate) discovery: Option<Discovery>,
    /// The tool that searches for the definitions that are not shown.
    pub(crate) search_tool: Option<Tool>,
    pub(crate) search: SharedSegment,
}

impl Toolkit {
    /// Creates a builder with every tool that is linked into this process.
    pub fn builder() -> Builder {
        linked::start();
        Builder { linked: true, ..Builder::default() }
    }

    /// Creates a builder without tools, for hosts that add each tool.
    pub fn empty() -> Builder {
        linked::start();
        Builder::default()
    }

    /// Returns the current tools, by name: a slice that does not change when tools are added or removed later.
    pub fn tools(&self) -> Tools {
        self.0.tools()
    }

    /// Returns the tool of this name or alias, if it exists now.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        self.0.tools().get(name).cloned()
    }

    /// Returns the names that only core tools can have: their names and aliases, including disabled tools, sorted. No
    /// plugin, server or client can use one for a tool, and no plugin can use one as its id.
    pub fn reserved_names(&self) -> impl Iterator<Item = &str> {
        self.0.origins.reserved_names()
    }

    /// Returns every plugin with a tool or a `toolkit::plugin!`, by the name of its crate, including blocked plugins.
    pub fn plugins(&self) -> &[Plugin] {
        self.0.origins.plugins()
    }

    /// Returns the diagnostics of building the toolkit.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// Returns the events of all calls, from now on.
    pub fn events(&self) -> Events {
        self.0.events.subscribe(Wanted::All)
    }

    /// Ends a session: removes the state that tools keep for it, and its approvals. Returns false if there is no such
    /// session. Running calls are not affected. Blocks briefly if approvals for sessions are
    /// [kept](crate::Builder::keep_session_approvals).
    #[expect(clippy::must_use_candidate, reason = "most hosts do not care whether there was one")]
    pub fn end_session(&self, session_id: &str) -> bool {
        self.0.settings.approvals.end_session(session_id);
        self.0.sessions.end(session_id)
    }

    /// Returns the questions that wait for an answer. They can be answered here, whichever approver they were sent to.
    pub fn asks(&self) -> &Asks {
        &self.0.settings.asks
    }

    /// Removes the questions of a call from the [store](crate::approval::AskStore) of the host: for a call that waited when a process ended, and that is
    /// given a result without being made again. A call that is made has them removed with its result. Does nothing without a store; a failure is
    /// logged.
    pub async fn forget_asks(&self, call: &AskingCall) {
        let Some(keeper) = &self.0.settings.ask_store else { return };
        if keeper.live(call) == 0 {
            keeper.forget(call).await;
        }
    }

    /// Returns the approvals that people gave permanently, or for a session whose approvals are kept; they answer
    /// questions before a person is asked.
    pub fn approvals(&self) -> &Approvals {
        &self.0.settings.approvals
    }

    /// Returns the configuration that is in effect now: see [`reload`](Self::reload).
    pub fn configuration(&self) -> Configuration {
        self.0.rules.get().configuration.clone()
    }

    /// Returns the redactor of events and errors, with the secrets of the configuration.
    pub fn redactor(&self) -> &Redactor {
        &self.0.settings.redactor
    }

    pub(crate) fn outputs(&self) -> &OutputStore {
        &self.0.settings.outputs
    }
}

/// Builds a [`Toolkit`]. A copy builds another toolkit of the same tools, services and sources.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent statement of the host's")]
pub struct Builder {
    linked: bool,
    /// Set by a test's toolbox, as which errors name the host.
    pub(crate) is_test: bool,
    tools: Vec<Tool>,
    sources: Vec<Arc<dyn ToolSource>>,
    services: Services,
    /// Where the host provides each of them.
    given: Vec<Given>,
    first_lists: Vec<String>,
    prefer: Vec<String>,
    leave_out_incomplete: bool,
    pub(crate) settings: Settings,
    pub(crate) rules: Rules,
    data_dir: Option<PathBuf>,
    discovery: Option<Discovery>,
    permission_keys: Vec<String>,
    used_sections: Vec<String>,
    keeps_history: bool,
    history_report: Report,
}

impl Builder {
    /// Adds a tool; it takes precedence over every linked tool of its name.
    #[must_use]
    pub fn tool(mut self, tool: impl AsTool) -> Self {
        self.tools.push(tool.into_tool());
        self
    }

    /// Adds tools, as [`tool`](Self::tool) does.
    #[must_use]
    pub fn tools(mut self, tools: impl AsTools) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Adds a source of tools, which fetches them when a toolbox is first created.
    #[must_use]
    pub fn tool_source(mut self, source: impl ToolSource) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Provides a service to every tool that takes `State<T>`. A second service of one type is an error of [`build`](Self::build).
    ///
    /// A value that is in an `Arc` already, or a trait object, goes to [`shared_service`](Self::shared_service).
    #[must_use]
    #[track_caller]
    pub fn service<T: Service>(self, service: T) -> Self {
        self.provide(Arc::new(service), Given::here::<T>())
    }

    /// Provides a shared service, or a trait object: `shared_service::<dyn Store>(Arc::new(store))`.
    #[must_use]
    #[track_caller]
    pub fn shared_service<T: ?Sized + Service>(self, service: Arc<T>) -> Self {
        self.provide(service, Given::here::<T>())
    }

    /// Provides a shared service, unless one of this type was provided before.
    #[must_use]
    pub fn default_service<T: ?Sized + Service>(mut self, service: Arc<T>) -> Self {
        if !self.services.contains(TypeId::of::<T>()) {
            self.services.insert(service);
        }
        self
    }

    /// Provides a service, and remembers where.
    pub(crate) fn provide<T: ?Sized + Service>(mut self, service: Arc<T>, given: Given) -> Self {
        self.given.push(given);
        self.services.insert(service);
        self
    }

    /// Gives the `link!` list of a crate precedence over all lists that are not named here.
    #[must_use]
    pub fn links_first(mut self, crate_name: impl Into<String>) -> Self {
        self.first_lists.push(crate_name.into());
        self
    }

    /// Gives the tools of these plugins precedence over those of other plugins, in this order, whatever `link!` says.
    /// Core tools still take precedence over all of them.
    #[must_use]
    pub fn prefer(mut self, plugins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.prefer.extend(plugins.into_iter().map(Into::into));
        self
    }

    /// Leaves out tools that take a `State<T>` which is not provided, each with a diagnostic. By default, building the
    /// toolkit fails then.
    #[must_use]
    pub fn leave_out_incomplete(mut self) -> Self {
        self.leave_out_incomplete = true;
        self
    }

    /// Sets the time limit of calls whose tool has none: 10 minutes by default, [`Duration::MAX`] for no limit. The
    /// clock starts when the function first has to wait; it is stopped while a person is asked.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// Sets the time limit for preparing all tools of a toolbox for its caller: 5 seconds by default, [`Duration::MAX`]
    /// for no limit. Tools that are not ready then are left out of the toolbox. [Sources](ToolSource) of tools have the
    /// same limit.
    #[must_use]
    pub fn prepare_timeout(mut self, timeout: Duration) -> Self {
        self.settings.prepare_timeout = timeout;
        self
    }

    /// Shows a model only some of the definitions if there are many, and lets it search for the others. By default
    /// every definition is shown. The configuration under `tools.discovery` takes precedence.
    #[must_use]
    pub fn discovery(mut self, discovery: Discovery) -> Self {
        self.discovery = Some(discovery);
        self
    }

    /// States that this host uses a section of the configuration, by its path with dots, that only
    /// [some programs use](crate::config::ConfigSection::void_because). Without it, each configured key of the section causes a warning in
    /// the [diagnostics](Toolkit::diagnostics), since it has no effect.
    #[must_use]
    pub fn uses_section(mut self, path: impl Into<String>) -> Self {
        self.used_sections.push(path.into());
        self
    }

    /// Records every call in the file `history/calls.jsonl` of the data directory, within the limits of the
    /// [configuration](Configuration::history), which can also turn it off. The secrets of the configuration and of the
    /// [redactor](Self::redactor) are redacted. It has no effect if [`history`](Self::history) sets another history. If the file
    /// cannot be opened, the toolkit works without one, and a [diagnostic](Toolkit::diagnostics) says so. The file is read with
    /// [`HistoryReader::of_data_dir`](crate::history::HistoryReader::of_data_dir).
    #[must_use]
    pub fn keeps_history(mut self) -> Self {
        self.keeps_history = true;
        self
    }

    /// Sets the function that gets the problems of the history that [`keeps_history`](Self::keeps_history) keeps:
    /// that it cannot be opened, and those of [`JsonlOptions::on_problem`](crate::history::JsonlOptions::on_problem).
    #[must_use]
    pub fn on_history_problem(mut self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.history_report = Report::to(report);
        self
    }

    /// States that this host ends with its call, as a command line does. A tool then cannot leave anything running for
    /// a later call, and says so: see [`ToolContext::is_for_one_call`](crate::ToolContext::is_for_one_call). No tool
    /// then requires an earlier call, such as reading a file before it is replaced.
    #[must_use]
    pub fn for_one_call(mut self) -> Self {
        self.settings.is_for_one_call = true;
        self
    }

    /// Keeps approvals for a session beyond the end of the process, in the data directory, for this long after each
    /// answer. Use it for a host whose process ends before its sessions do, as a command line does. By default these
    /// approvals end with the process.
    ///
    /// Applies only to sessions that the host [names](crate::Caller::session_id), and to each workspace separately.
    /// [`Toolkit::end_session`] ends the approvals earlier, and [`Approvals::revoke`] revokes one.
    #[must_use]
    pub fn keep_session_approvals(mut self, lifetime: Duration) -> Self {
        self.settings.session_approvals_lifetime = Some(lifetime);
        self
    }

    /// Disables the repair of arguments. By default invalid arguments with only one possible meaning are repaired: a
    /// number sent as text, for example. Aliases of a parameter, and `null` for an optional one, are accepted in any
    /// case.
    #[must_use]
    pub fn without_repair(mut self) -> Self {
        self.settings.repairing = Repairing::Off;
        self
    }

    /// Sets the output limits for tools that have none of their own: by default 2,000 lines and 50 KiB from the
    /// beginning.
    #[must_use]
    pub fn output_limits(mut self, limits: OutputLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets the directory that contains the directory `tool-output` for whole outputs. By default it is the platform's
    /// directory for a user's data, `$XDG_DATA_HOME/toolkit` or `~/.local/share/toolkit` on Linux.
    #[must_use]
    pub fn data_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(directory.into());
        self
    }

    /// Sets the data directory, unless one was set before.
    #[must_use]
    pub fn default_data_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir.get_or_insert_with(|| directory.into());
        self
    }

    /// Sets the note for the model about a truncated output; it can depend on the caller.
    #[must_use]
    pub fn cut_hint(mut self, hint: impl Fn(&Cut, &Caller) -> String + Send + Sync + 'static) -> Self {
        self.settings.hint = Some(Arc::new(hint));
        self
    }

    /// Sets the approver, which brings the questions of tools to a person. Without one they are denied.
    ///
    /// To access the approver later, pass an `Arc` of it.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver = Some(Arc::new(approver));
        self
    }

    /// Sets the approver, unless one was set before.
    #[must_use]
    pub fn default_approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver.get_or_insert_with(|| Arc::new(approver));
        self
    }

    /// Sets the maximum number of questions that wait for an answer, and the maximum time: by default 1,000 and 24
    /// hours.
    #[must_use]
    pub fn ask_limits(mut self, limits: AskLimits) -> Self {
        self.settings.asks = Asks::with_limits(limits);
        self
    }

    /// Keeps pending questions in a store of the host, so that they can be answered after a restart; see [`AskStore`]. By default they are in
    /// memory alone.
    #[must_use]
    pub fn ask_store(mut self, store: Arc<dyn AskStore>) -> Self {
        self.settings.ask_store = Some(AskKeeper::new(store));
        self
    }

    /// Records every call in a history. Keep a clone of the `Arc` to read it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use toolkit::prelude::*;
    /// use toolkit::{history::{HistoryQuery, MemoryHistory}, text::Redactor};
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

    /// Sets the redactor for events and errors, in addition to the values of secret arguments and texts that look like
    /// keys. The redactor of a history is set when the history is created.
    #[must_use]
    pub fn redactor(mut self, redactor: Redactor) -> Self {
        self.settings.redactor = redactor;
        self
    }

    /// Sets the policy, which decides which tools exist for a caller. Without one, every tool exists that is not
    /// optional: [`ToolPolicy::default`](crate::policy::ToolPolicy).
    #[must_use]
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.rules.policy = Some(Arc::new(policy));
        self
    }

    /// Sets the policy, unless one was set before.
    #[must_use]
    pub fn default_policy(mut self, policy: impl Policy) -> Self {
        self.rules.policy.get_or_insert_with(|| Arc::new(policy));
        self
    }

    /// Sets the permission rules: which actions are allowed, need approval, or are denied. Without rules, the defaults
    /// apply.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.rules.permissions = permissions;
        self
    }

    /// Adds keys of `permission` that the configuration may use: kinds that tools ask under without stating them, and
    /// tools that are registered later. `*` in a name matches any text. An unknown key in the configuration is an
    /// error. Lists of tools, such as `tools.deny`, may use them too, and groups of later tools as `group:<name>`.
    #[must_use]
    pub fn permission_keys(mut self, keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.permission_keys.extend(keys.into_iter().map(Into::into));
        self
    }

    /// Requires approval for writing to this file, or into this directory, even if edits are allowed, as for
    /// [`protected_paths`](crate::permission::protected_paths). It is intended for files that decide about permissions, such as a
    /// configuration file in another place. A relative path is relative to the process's working directory.
    #[must_use]
    pub fn protect_path(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.rules.own_dirs.protect(std::path::absolute(&path).unwrap_or(path));
        self
    }

    /// Denies reading in the data directory, where it otherwise needs approval: for a host in which others than the one to whom the data belong
    /// answer questions. The whole outputs of a session stay readable there, and its workspace, if that is inside.
    #[must_use]
    pub fn seal_data_dir(mut self) -> Self {
        self.rules.own_dirs.seal();
        self
    }

    /// Requires approval for writing to this file, or into this directory, even if edits are allowed, and keeps sandboxed commands from changing
    /// it. It is intended for programs that the host runs by itself, and for what they load: what stands there runs outside the sandbox. A
    /// relative path is relative to the process's working directory.
    #[must_use]
    pub fn protect_program(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.rules.own_dirs.protect_programs([std::path::absolute(&path).unwrap_or(path)]);
        self
    }

    /// Adds directories that count as part of every caller's workspace: their files are read without approval, and
    /// written with the approval for edits. Their paths are still shown as absolute paths.
    ///
    /// Paths are absolute; a directory that does not exist has no effect. Further calls add further directories.
    #[must_use]
    pub fn further_directories(mut self, directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.rules.further_dirs.extend(directories.into_iter().map(Into::into));
        self
    }

    /// Sets the workspace of callers without one; by default it is the process's working directory.
    #[must_use]
    pub fn default_workspace(mut self, directory: impl Into<PathBuf>) -> Self {
        self.settings.workspace = Some(directory.into());
        self
    }

    /// Sets the configuration; empty by default. Its secrets are redacted from events and errors too.
    #[must_use]
    pub fn configuration(mut self, configuration: impl AsConfiguration) -> Self {
        self.rules.configuration = configuration.into_configuration();
        self
    }
}

impl fmt::Display for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tools", self.tools().len())
    }
}

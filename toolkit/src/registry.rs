//! Every tool of a process, with the services they need.

mod candidates;
mod change;
mod configured;
mod faults;
mod index;
mod origins;
mod products;
mod register;
#[cfg(test)]
mod tests;
mod tools;

pub use change::{RegisterError, ToolChange, ToolWatch};
pub use tools::Tools;

use crate::approvals::Approvals;
use crate::approver::Approver;
use crate::arguments::Repairing;
use crate::ask::{AskLimits, Asks};
use crate::caller::Caller;
use crate::config::Configuration;
use crate::cut::{Cut, OutputLimits};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::{Events, Hub};
use crate::history::History;
use crate::link::{self, Linked, Links};
use crate::output_store::{OutputStore, default_data_dir};
use crate::permission::Permissions;
use crate::plugin::{LinkedPlugin, Plugin};
use crate::policy::{self, Explanation, Policy, ToolPolicy};
use crate::redact::Redactor;
use crate::service::{self, FactoryDef, Incomplete};
use crate::session::Sessions;
use crate::settings::Settings;
use crate::skills::{self, LinkedSkills};
use crate::state::{Service, Services};
use crate::tool::Tool;
use crate::tool_def::ToolDef;
use crate::toolbox::Toolbox;
use candidates::{Candidate, choose};
use configured::configure;
use faults::{faults, missing_services};
use origins::Known;
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
    /// What makes tools for each caller.
    pub(crate) factories: Vec<&'static FactoryDef>,
    /// What linked crates bring of skills, each with the channel to whose sessions they belong.
    pub(crate) skills: Vec<(&'static LinkedSkills, Option<&'static str>)>,
    /// Whether any service is made at its first use.
    pub(crate) makes_services: bool,
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

    /// Why the tool of this name or alias exists for the caller, or doesn't; `None` where there is no such tool at all.
    ///
    /// It knows tools too that are switched off.
    pub fn explain(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let policy = self.0.settings.policy.as_deref();
        match self.tool(name) {
            Some(tool) => Some(policy::explain(policy, caller, &tool)),
            None => policy::switched_off(name).map(|tool| policy::explain(policy, caller, &tool)),
        }
    }

    /// What was noticed while the tools were put together.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    /// What happens to all calls, from now on.
    pub fn events(&self) -> Events {
        self.0.events.subscribe(None)
    }

    /// Forgets what tools keep for a session; false where there is no such session. Calls under way are not touched.
    #[expect(clippy::must_use_candidate, reason = "most hosts do not care whether there was one")]
    pub fn end_session(&self, session_id: &str) -> bool {
        self.0.sessions.end(session_id)
    }

    /// The questions that wait for an answer. They can be answered here, wherever they were asked.
    pub fn asks(&self) -> &Asks {
        &self.0.settings.asks
    }

    /// What people allowed always, which answers questions before anybody is asked.
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
    /// Tools that [prepare themselves](crate::Preparation) for a caller do so now, all at once.
    pub async fn toolbox(&self, caller: &Caller) -> Toolbox {
        Toolbox::new(Arc::clone(&self.0), caller.clone()).ready().await
    }
}

/// Puts a [`Toolkit`] together.
#[derive(Debug, Default)]
pub struct Builder {
    linked: bool,
    tools: Vec<Tool>,
    services: Services,
    first_lists: Vec<String>,
    prefer: Vec<String>,
    leave_out_incomplete: bool,
    pub(crate) settings: Settings,
    data_dir: Option<PathBuf>,
}

impl Builder {
    /// Adds a tool; it goes before every linked one of its name.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
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
    /// [`Duration::MAX`] for no limit. What is not ready then is left out of the toolbox.
    #[must_use]
    pub fn prepare_timeout(mut self, timeout: Duration) -> Self {
        self.settings.prepare_timeout = timeout;
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

    /// Decides which tools exist for a caller. Without one, all do that are not optional: [`ToolPolicy::default`].
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

    /// Builds the toolkit.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, at once: two tools of one name in one crate, a linked crate that brought no
    /// tool, a service that nobody provides, a name or a default that is not valid.
    pub fn build(mut self) -> Result<Toolkit, BuildError> {
        let (mut problems, mut diagnostics) = (Vec::new(), Vec::new());
        configure(&mut self);
        let policy = Arc::clone(self.settings.policy.get_or_insert_with(|| Arc::new(ToolPolicy::default())));
        let links = Links::collect(&self.first_lists, &mut diagnostics);
        let linked: Vec<&'static ToolDef> = if self.linked {
            inventory::iter::<Linked>().map(|Linked(def)| *def).collect()
        } else {
            Vec::new()
        };
        if self.linked {
            problems.extend(link::silent_crates());
        }
        let known = Known {
            links,
            linked: &linked,
            added: &self.tools,
            plugins: inventory::iter::<LinkedPlugin>().map(|LinkedPlugin(def)| *def).collect(),
            prefer: &self.prefer,
        };
        let mut origins = Origins::collect(known, &mut problems, &mut diagnostics);
        let added = std::mem::take(&mut self.tools).into_iter().enumerate();
        let mut candidates: Vec<Candidate> =
            added.map(|(place, tool)| Candidate::Added(place, tool)).collect();
        for def in linked {
            if def.enabled || policy::switches_on(&*policy, def) {
                candidates.push(Candidate::Linked(def));
            } else {
                origins.withhold(def.name);
            }
        }
        if self.linked {
            let incomplete =
                if self.leave_out_incomplete { Incomplete::LeftOut } else { Incomplete::Refused };
            let makers = service::linked_makers();
            service::add(&mut self.services, makers, incomplete, &mut problems, &mut diagnostics);
        }
        let mut tools = choose(candidates, &origins, &mut problems, &mut diagnostics);
        if self.leave_out_incomplete {
            tools.retain(|tool| {
                let missing = missing_services(tool, &self.services);
                diagnostics.extend(missing.iter().map(|missing| incomplete(tool, missing)));
                missing.is_empty()
            });
        }
        for tool in &tools {
            problems.extend(faults(tool));
            problems.extend(missing_services(tool, &self.services));
        }
        if !problems.is_empty() {
            problems.sort_unstable();
            problems.dedup();
            return Err(BuildError { problems });
        }
        let tools: Vec<Tool> = tools.into_iter().map(|tool| tool.with_services(&self.services)).collect();
        let names: Vec<&str> = tools.iter().map(Tool::name).collect();
        let plugins = origins.plugins().iter().map(|plugin| &*plugin.id).collect();
        diagnostics.extend(self.settings.configuration.diagnostics(&names, &plugins));
        self.settings.redactor = self.settings.configuration.add_secrets(self.settings.redactor);
        let registry = Registry::new(Tools::build(tools, &origins, &mut diagnostics));
        let mut of_policy = policy::diagnostics(&*policy, &registry.snapshot());
        // What the configuration says of a place already is not said again.
        of_policy.retain(|new| {
            new.location.is_none() || diagnostics.iter().all(|said| said.location != new.location)
        });
        diagnostics.extend(of_policy);
        let kinds: Vec<String> =
            registry.snapshot().iter().map(|tool| tool.permission().to_owned()).collect();
        diagnostics.extend(self.settings.permissions.diagnostics(kinds.iter().map(String::as_str)));
        let Self { services, mut settings, data_dir, linked, .. } = self;
        let data_dir = data_dir.or_else(default_data_dir);
        // A model is told where a file is, and its tools may work in another directory than the process.
        let data_dir = data_dir.and_then(|directory| std::path::absolute(directory).ok());
        settings.own_dirs.complete(data_dir.clone());
        settings.approvals = Approvals::new(data_dir.as_deref());
        settings.outputs = OutputStore::new(data_dir);
        let mut factories = if linked { service::linked_factories() } else { Vec::new() };
        // Of one name, the first one's tool is there: in the order of their crates, as everywhere.
        factories.sort_by_key(|def| {
            let core = origins.is_core_crate(def.location.crate_name());
            (!core, origins.rank(&def.location), def.location.module, def.location.line)
        });
        let skills = if self.linked { skills::linked(&origins) } else { Vec::new() };
        let makes_services = services.has_lazy();
        Ok(Toolkit(Arc::new(Inner {
            registry,
            origins,
            services,
            settings,
            diagnostics,
            factories,
            skills,
            makes_services,
            ..Inner::default()
        })))
    }
}

fn incomplete(tool: &Tool, missing: &str) -> Diagnostic {
    let crate_name = tool.crate_name();
    let source = if crate_name.is_empty() { tool.source().to_string() } else { crate_name.to_owned() };
    let diagnostic = Diagnostic::new(Level::Warning, source, format!("left out: {missing}"));
    let diagnostic = tool.location().into_iter().fold(diagnostic, Diagnostic::with_location);
    tool.plugin_id().into_iter().fold(diagnostic, Diagnostic::with_plugin)
}

/// Why a toolkit could not be built: every reason at once.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the toolkit cannot start:\n- {}", problems.join("\n- "))]
#[non_exhaustive]
pub struct BuildError {
    /// The reasons, sorted.
    pub problems: Vec<String>,
}

/// As its text, so that a `main` that returns it prints it readably.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tools", self.tools().len())
    }
}

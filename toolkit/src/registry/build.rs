//! Builds a toolkit from a builder and the linked crates, and reports all problems at once.

use super::basis::Basis;
use super::candidates::{Candidate, choose};
use super::configured::{discover, loop_guard_problems};
use super::faults::{faults, missing_services};
use super::origins::{Known, Origins};
use super::permission_keys::KnownKeys;
use super::register::Registry;
use super::services::{Host, Near, given_twice};
use super::skills;
use super::void::{void_auto_executes, void_sections};
use super::{Builder, Inner, Toolkit, Tools};
use crate::config::{ConfigError, Configuration, absent_sections, linked_twice};
use crate::data_dir::DataDir;
use crate::history::{Report, keep};
use crate::link::{self, Linked, Links};
use crate::output_store::{OutputStore, default_data_dir};
use crate::policy;
use crate::rules::{CurrentRules, Rules};
use crate::service::{self, FactoryDef, Incomplete};
use crate::session::Sessions;
use crate::settings::Settings;
use crate::tool::Tool;
use crate::tool::def::{ServiceDef, ToolDef};
use std::any::TypeId;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::plugin::LinkedPlugin;

impl Builder {
    /// Builds the toolkit.
    ///
    /// # Errors
    ///
    /// Returns all problems at once: two tools of one name in one crate, a linked crate without tools, a missing
    /// service, two services of one type, an invalid name or default, loop guard limits in the wrong order, an unknown key of `permission` or an
    /// unknown name in a list of tools in the configuration, or an unknown name in a list of the program's own policy, unless a source of
    /// tools may bring it.
    pub fn build(mut self) -> Result<Toolkit, BuildError> {
        let (mut problems, mut diagnostics) = (given_twice(&self.given), Vec::new());
        let links = Links::collect(&self.first_lists, &mut diagnostics);
        let adds_tools = !self.tools.is_empty() || !self.sources.is_empty();
        let data_dir = self.find_data_dir();
        self.prefer.extend(self.rules.configuration.prefer());
        let basis = Basis::new(&self, data_dir.clone());
        self.rules = basis.rules(self.rules.configuration.clone(), &links);
        problems.extend(loop_guard_problems(&self.rules.configuration, self.rules.loop_guard));
        let discovery = discover(&mut self, &mut problems);
        let policy = self.rules.policy.clone();
        let switches_on =
            |tool: &Tool| policy.as_deref().is_some_and(|policy| policy::switches_on(policy, tool));
        let linked = if self.linked { linked_tools() } else { Vec::new() };
        if self.linked {
            problems.extend(of_linked_crates(&self.rules.configuration));
            let has_tools = adds_tools || !linked.is_empty() || !service::linked_factories().is_empty();
            diagnostics.extend((!has_tools).then(nothing_linked));
        }
        let known = Known {
            planned: policy::planned(&links).collect(),
            links,
            linked: &linked,
            added: &self.tools,
            plugins: inventory::iter::<LinkedPlugin>().map(|LinkedPlugin(def)| *def).collect(),
            prefer: &self.prefer,
        };
        let mut origins = Origins::collect(known, &mut problems, &mut diagnostics);
        let added = std::mem::take(&mut self.tools).into_iter().enumerate();
        let given = std::mem::take(&mut self.given);
        let near = Near::new(&given, Host::new(self.linked, self.is_test));
        let mut candidates: Vec<Candidate> =
            added.map(|(place, tool)| Candidate::Added(place, tool)).collect();
        for def in linked {
            if def.enabled || switches_on(&origins.place(Tool::new(def))) {
                candidates.push(Candidate::Linked(def));
            } else {
                origins.withhold(def.name);
            }
        }
        if self.linked {
            let incomplete =
                if self.leave_out_incomplete { Incomplete::LeftOut } else { Incomplete::Refused };
            let makers = service::linked_makers();
            let explain = |missing: &ServiceDef, others: &str| near.explain(missing, others);
            service::add(&mut self.services, makers, incomplete, explain, &mut problems, &mut diagnostics);
        }
        let mut tools = choose(candidates, &origins, &mut problems, &mut diagnostics);
        if self.leave_out_incomplete {
            tools.retain(|tool| {
                let missing = missing_services(tool, &self.services, &near);
                diagnostics.extend(missing.iter().map(|missing| incomplete(tool, missing)));
                missing.is_empty()
            });
        }
        let keys = basis.known_keys(&tools, &self.rules);
        problems.extend(keys.iter().flat_map(|keys| keys.problems(&self.rules.configuration)));
        problems.extend(basis.unknown_tools(&tools, &self.rules, &origins));
        problems.extend(basis.unknown_in_code(&tools, &origins));
        problems.extend(tools.iter().flat_map(faults));
        let before = problems.len();
        problems.extend(tools.iter().flat_map(|tool| missing_services(tool, &self.services, &near)));
        let lacks_services = problems.len() > before;
        refuse(problems, lacks_services)?;
        let tools: Vec<Tool> = tools.into_iter().map(|tool| tool.with_services(&self.services)).collect();
        self.settings.redactor = self.rules.configuration.add_secrets(self.settings.redactor);
        let names: Vec<&str> = tools.iter().map(Tool::name).collect();
        diagnostics.extend(of_configuration(&self.rules.configuration, names, &origins));
        let registry = Registry::new(Tools::build(tools, &origins, &mut diagnostics));
        let snapshot = registry.snapshot();
        let search_tool = discovery.as_ref().and_then(|discovery| snapshot.get(&discovery.name)).cloned();
        of_rules(&mut diagnostics, &self.rules, &snapshot, keys.as_ref());
        diagnostics.extend(void_settings(&self));
        let Self { services, sources, mut settings, rules, linked, keeps_history, history_report, .. } = self;
        let report = keeps_history.then_some(history_report);
        diagnostics.extend(keep_history(&mut settings, &rules.configuration, data_dir.as_deref(), report));
        settings.find_approvals(data_dir.as_deref());
        settings.outputs = OutputStore::new(data_dir).with_settings(rules.configuration.output_store());
        let factories = if linked { ordered_factories(&origins) } else { Vec::new() };
        let skills = if linked { skills::linked(&origins) } else { Vec::new() };
        let makes_services = services.has_lazy();
        Ok(Toolkit(Arc::new(Inner {
            registry,
            origins,
            services,
            sessions: Sessions::new(settings.end_hooks.clone()),
            settings,
            rules: CurrentRules::new(rules),
            basis,
            diagnostics,
            sources,
            factories,
            skills,
            begins_with_linked: linked,
            is_test: self.is_test,
            makes_services,
            discovery,
            search_tool,
            ..Inner::default()
        })))
    }
}

/// Returns the errors of two types for one section. Loading a configuration finds them, too.
fn sections_twice(configuration: &Configuration) -> Vec<String> {
    if configuration.is_loaded() { Vec::new() } else { linked_twice() }
}

fn linked_tools() -> Vec<&'static ToolDef> {
    inventory::iter::<Linked>().map(|Linked(def)| *def).collect()
}

/// Opens the history in the data directory, if the host keeps one (`report`) and set no other. Returns a diagnostic if it cannot be opened.
fn keep_history(
    settings: &mut Settings,
    configuration: &Configuration,
    data_dir: Option<&Path>,
    report: Option<Report>,
) -> Option<Diagnostic> {
    let report = report.filter(|_| settings.history.is_none())?;
    match keep::open(data_dir, configuration.history(), &settings.redactor, report.clone()) {
        Ok(history) => {
            settings.history = history;
            None
        }
        Err(diagnostic) => {
            // A host that runs for long may show no diagnostics.
            report.tell(&diagnostic.message);
            Some(diagnostic)
        }
    }
}

/// Returns a diagnostic for each configured value that has no effect in this program.
fn void_settings(builder: &Builder) -> Vec<Diagnostic> {
    let configuration = &builder.rules.configuration;
    let mut void: Vec<Diagnostic> = void_auto_executes(configuration).into_iter().collect();
    void.extend(void_sections(configuration, &builder.used_sections));
    void
}

impl Builder {
    /// Returns the data directory, and provides it as a service.
    fn find_data_dir(&mut self) -> Option<PathBuf> {
        let data_dir = self.data_dir.take().or_else(default_data_dir);
        // A model is told the path of a file, and its tools may work in another directory than the process.
        let data_dir = data_dir.and_then(|directory| std::path::absolute(directory).ok());
        if !self.services.contains(TypeId::of::<DataDir>()) {
            self.services.insert(Arc::new(DataDir::of(data_dir.as_deref())));
        }
        data_dir
    }
}

/// Adds the new diagnostics for places that have none yet.
fn add_new(diagnostics: &mut Vec<Diagnostic>, mut new: Vec<Diagnostic>) {
    new.retain(|new| new.location.is_none() || diagnostics.iter().all(|said| said.location != new.location));
    diagnostics.extend(new);
}

/// Returns the diagnostics of a configuration itself.
pub(super) fn of_configuration(
    configuration: &Configuration,
    names: Vec<&str>,
    origins: &Origins,
) -> Vec<Diagnostic> {
    let plugins = origins.plugins().iter().map(|plugin| &*plugin.id);
    let absent = absent_sections(configuration, &names, &plugins);
    let mut diagnostics = configuration.diagnostics(names.into_iter(), plugins);
    diagnostics.extend(absent);
    diagnostics
}

/// Adds the diagnostics of policy and permissions.
pub(super) fn of_rules(
    diagnostics: &mut Vec<Diagnostic>,
    rules: &Rules,
    tools: &Tools,
    keys: Option<&KnownKeys>,
) {
    let policy = rules.policy.as_deref();
    add_new(diagnostics, policy.map(|policy| policy::diagnostics(policy, tools)).unwrap_or_default());
    if let Some(keys) = keys {
        diagnostics.extend(rules.permissions.diagnostics_among(|key| keys.has(key), &keys.names()));
    }
}

/// Returns the factories in the order of their crates. Of tools with the same name, the first factory's exists.
fn ordered_factories(origins: &Origins) -> Vec<&'static FactoryDef> {
    let mut factories = service::linked_factories();
    factories.sort_by_key(|def| {
        let core = origins.is_core_crate(def.location.crate_name());
        (!core, origins.rank(&def.location), def.location.module, def.location.line)
    });
    factories
}

/// Returns a diagnostic for a host that forgot `link!`, and so has no tools.
fn nothing_linked() -> Diagnostic {
    let message = "no tools are linked into this program: the linker leaves out a dependency that no code mentions; name the \
                   crates that bring tools in `toolkit::link!(my_tools)`, or add tools with `.tool(..)`";
    // A host that ignores diagnostics may still have a log.
    tracing::warn!("{message}");
    Diagnostic::new(Level::Warning, "toolkit", message)
}

fn incomplete(tool: &Tool, missing: &str) -> Diagnostic {
    let crate_name = tool.crate_name();
    let source = if crate_name.is_empty() { tool.source().to_string() } else { crate_name.to_owned() };
    let diagnostic = Diagnostic::new(Level::Warning, source, format!("left out: {missing}"));
    let diagnostic = tool.location().into_iter().fold(diagnostic, Diagnostic::with_location);
    tool.plugin_id().into_iter().fold(diagnostic, Diagnostic::with_plugin)
}

/// All reasons why a toolkit could not be built.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the toolkit cannot start:\n- {}", problems.join("\n- "))]
#[non_exhaustive]
pub struct BuildError {
    /// The reasons, sorted.
    pub problems: Vec<String>,
    pub(super) lacks_services: bool,
}

impl BuildError {
    /// Returns true if a tool takes a `State<T>` which is not provided: a host can then explain how to provide its
    /// services.
    pub fn lacks_services(&self) -> bool {
        self.lacks_services
    }
}

/// A configuration that cannot be used, so that a `main` loads it with `?` and builds with `?`.
impl From<ConfigError> for BuildError {
    fn from(error: ConfigError) -> Self {
        Self { problems: vec![error.to_string()], lacks_services: false }
    }
}

/// Formats the error like `Display`, so that a `main` that returns it prints it readably.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the problems of the crates that are linked, whatever they register.
fn of_linked_crates(configuration: &Configuration) -> Vec<String> {
    let mut problems: Vec<String> = link::silent_crates().into_iter().collect();
    problems.extend(sections_twice(configuration));
    problems
}

/// Fails if there are problems, each of which is told once.
fn refuse(mut problems: Vec<String>, lacks_services: bool) -> Result<(), BuildError> {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort_unstable();
    problems.dedup();
    Err(BuildError { problems, lacks_services })
}

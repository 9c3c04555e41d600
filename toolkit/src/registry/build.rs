//! Puts a toolkit together of what a builder was given and what is linked, and tells everything that is wrong at once.

use super::candidates::{Candidate, choose};
use super::configured::{configure, discover, loop_guard_problems};
use super::faults::{faults, missing_services};
use super::origins::{Known, Origins};
use super::register::Registry;
use super::{Builder, Inner, Toolkit, Tools};
use crate::data_dir::DataDir;
use crate::diagnostic::{Diagnostic, Level};
use crate::link::{self, Linked, Links};
use crate::output_store::{OutputStore, default_data_dir};
use crate::plugin::LinkedPlugin;
use crate::policy::{self, PolicySettings, ToolPolicy};
use crate::service::{self, Incomplete};
use crate::skills;
use crate::tool::Tool;
use crate::tool_def::ToolDef;
use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

impl Builder {
    /// Builds the toolkit.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, at once: two tools of one name in one crate, a linked crate that brought no
    /// tool, a service that nobody provides, a name or a default that is not valid, limits of the loop guard of which a later one
    /// comes first.
    pub fn build(mut self) -> Result<Toolkit, BuildError> {
        let (mut problems, mut diagnostics) = (Vec::new(), Vec::new());
        let links = Links::collect(&self.first_lists, &mut diagnostics);
        configure(&mut self, &links);
        problems.extend(loop_guard_problems(&self.settings.configuration, self.settings.hooks.loop_guard));
        let discovery = discover(&mut self, &mut problems);
        let without_any = || Arc::new(ToolPolicy::linked_by(&links, PolicySettings::default())) as _;
        let policy = Arc::clone(self.settings.policy.get_or_insert_with(without_any));
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
            if def.enabled || policy::switches_on(&*policy, &origins.place(Tool::new(def))) {
                candidates.push(Candidate::Linked(def));
            } else {
                origins.withhold(def.name);
            }
        }
        let data_dir = self.data_dir.take().or_else(default_data_dir);
        // A model is told where a file is, and its tools may work in another directory than the process.
        let data_dir = data_dir.and_then(|directory| std::path::absolute(directory).ok());
        if !self.services.contains(TypeId::of::<DataDir>()) {
            self.services.insert(Arc::new(DataDir::of(data_dir.as_deref())));
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
        let plugins = origins.plugins().iter().map(|plugin| &*plugin.id);
        let names = tools.iter().map(Tool::name);
        diagnostics.extend(self.settings.configuration.diagnostics(names, plugins));
        self.settings.redactor = self.settings.configuration.add_secrets(self.settings.redactor);
        let registry = Registry::new(Tools::build(tools, &origins, &mut diagnostics));
        let snapshot = registry.snapshot();
        let search_tool = discovery.as_ref().and_then(|discovery| snapshot.get(&discovery.name)).cloned();
        let mut of_policy = policy::diagnostics(&*policy, &snapshot);
        // What the configuration says of a place already is not said again.
        of_policy.retain(|new| {
            new.location.is_none() || diagnostics.iter().all(|said| said.location != new.location)
        });
        diagnostics.extend(of_policy);
        diagnostics.extend(self.settings.permissions.diagnostics(snapshot.iter().map(Tool::permission)));
        let Self { services, sources, mut settings, linked, .. } = self;
        settings.own_dirs.complete(data_dir.clone());
        settings.find_approvals(data_dir.as_deref());
        settings.outputs = OutputStore::new(data_dir);
        let mut factories = if linked { service::linked_factories() } else { Vec::new() };
        // Of one name, the first one's tool is there: in the order of their crates, as everywhere.
        factories.sort_by_key(|def| {
            let core = origins.is_core_crate(def.location.crate_name());
            (!core, origins.rank(&def.location), def.location.module, def.location.line)
        });
        let skills = if linked { skills::linked(&origins) } else { Vec::new() };
        let makes_services = services.has_lazy();
        Ok(Toolkit(Arc::new(Inner {
            registry,
            origins,
            services,
            settings,
            diagnostics,
            sources,
            factories,
            skills,
            makes_services,
            discovery,
            search_tool,
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

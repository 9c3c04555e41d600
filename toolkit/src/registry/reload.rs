//! Replaces the configuration of a running toolkit.

use super::build::{of_configuration, of_rules};
use super::configured::{configured, loop_guard_problems};
use super::origins::Origins;
use super::permission_keys::KnownKeys;
use super::source::ToolSource;
use super::{BuildError, Builder, Toolkit, tool_names};
use crate::config::Configuration;
use crate::link::{Linked, Links};
use crate::policy;
use crate::rules::Rules;
use crate::service;
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use std::path::PathBuf;
use std::sync::Arc;
use toolkit_core::diagnostic::{Diagnostic, Level};

/// The result of [`Toolkit::reload`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reloaded {
    /// The top-level keys of the configuration whose values changed, sorted. A host compares them with those that it reads itself.
    pub changed: Vec<String>,
    /// The diagnostics of the new configuration, among them one for each changed key that takes effect only when the program starts again.
    pub diagnostics: Vec<Diagnostic>,
}

/// The program's own settings, to which every configuration is applied anew.
#[derive(Debug, Default)]
pub(super) struct Basis {
    rules: Rules,
    first_lists: Vec<String>,
    permission_keys: Vec<String>,
    sources: Vec<Arc<dyn ToolSource>>,
    data_dir: Option<PathBuf>,
    /// Set if the toolkit has the tools of linked crates.
    linked: bool,
}

impl Basis {
    pub(super) fn new(builder: &Builder, data_dir: Option<PathBuf>) -> Self {
        let further = builder.sources.iter().flat_map(ToolSource::permission_keys);
        Self {
            rules: Rules { configuration: Configuration::default(), ..builder.rules.clone() },
            first_lists: builder.first_lists.clone(),
            permission_keys: further.chain(builder.permission_keys.iter().cloned()).collect(),
            sources: builder.sources.clone(),
            data_dir,
            linked: builder.linked,
        }
    }

    /// Returns the rules with this configuration.
    pub(super) fn rules(&self, configuration: Configuration, links: &Links) -> Rules {
        let mut rules = configured(Rules { configuration, ..self.rules.clone() }, links);
        for source in &self.sources {
            rules.own_dirs.protect_programs(source.programs(&rules.configuration));
        }
        rules.own_dirs.complete(self.data_dir.clone());
        rules
    }

    /// Collects every valid key of `permission` rules, if there are rules.
    pub(super) fn known_keys<'a>(
        &self,
        tools: impl IntoIterator<Item = &'a Tool>,
        rules: &Rules,
    ) -> Option<KnownKeys> {
        KnownKeys::new(tools, self.permission_keys.iter().cloned(), rules)
    }

    /// Returns the problems with the names in the configured lists of tools.
    pub(super) fn unknown_tools<'a>(
        &self,
        tools: impl IntoIterator<Item = &'a Tool>,
        rules: &Rules,
        origins: &Origins,
    ) -> Vec<String> {
        tool_names::problems(&rules.configuration, tools, &self.permission_keys, origins)
    }

    /// Returns the problems with the names in the program's own policy. A source of tools, or a function that makes tools, may bring any
    /// name later; then the diagnostics of the policy tell unknown names.
    pub(super) fn unknown_in_code<'a>(
        &self,
        tools: impl IntoIterator<Item = &'a Tool>,
        origins: &Origins,
    ) -> Vec<String> {
        let makes_tools = self.linked && !service::linked_factories().is_empty();
        match &self.rules.policy {
            Some(own) if self.sources.is_empty() && !makes_tools => {
                tool_names::problems_of_program(&**own, tools, &self.permission_keys, origins)
            }
            _ => Vec::new(),
        }
    }
}

impl Toolkit {
    /// Replaces the configuration while the program runs. It is checked first: with an error nothing has changed.
    ///
    /// Policy, permissions, further directories, sections of tools and plugins, and limits of repeated calls apply to every
    /// [toolbox](Self::toolbox) that is created from now on; an existing toolbox keeps the rules with which it was created. Secrets of the new
    /// configuration are redacted at once; those of the old one stay redacted. [Watches](Self::watch_tools) of the tools are notified.
    ///
    /// Settings with which the toolkit was built stay until the program starts again, and a diagnostic names each that changed:
    /// `history`, the limits of saved outputs, `tools.discovery`, the order of plugins, and tools that are off by default and would now be
    /// switched on. Services that exist keep the configuration with which they were created. Sections that a host reads itself, such
    /// as its models and MCP servers, are the host's: see [`Reloaded::changed`].
    ///
    /// Existing approvals stay; [`approvals`](Self::approvals) revokes them.
    ///
    /// ```
    /// use toolkit::config::{Configuration, LoadOptions};
    /// use toolkit::prelude::*;
    ///
    /// /// Deletes the site.
    /// #[tool(auto_execute)]
    /// async fn delete_site() -> &'static str {
    ///     "Deleted."
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(delete_site)).build()?;
    /// assert!(toolkit.toolbox(&Caller::new()).await.tool("delete_site").is_some());
    ///
    /// let stricter = Configuration::load(LoadOptions::new().set("tools.deny=[\"delete_site\"]"))?;
    /// assert_eq!(toolkit.reload(stricter)?.changed, ["tools"]);
    /// assert!(toolkit.toolbox(&Caller::new()).await.tool("delete_site").is_none());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns all problems at once, as [`Builder::build`](crate::Builder::build) does: loop guard limits in the wrong order, an unknown key of
    /// `permission`, an unknown name in a list of tools.
    pub fn reload(&self, configuration: Configuration) -> Result<Reloaded, BuildError> {
        let inner = &self.0;
        let (basis, tools) = (&inner.basis, inner.tools());
        let mut diagnostics = Vec::new();
        let links = Links::collect(&basis.first_lists, &mut diagnostics);
        // They do not depend on the configuration, and building the toolkit reported them.
        diagnostics.clear();
        let rules = basis.rules(configuration, &links);
        let keys = basis.known_keys(tools.iter(), &rules);
        let mut problems = loop_guard_problems(&rules.configuration, rules.loop_guard);
        problems.extend(keys.iter().flat_map(|keys| keys.problems(&rules.configuration)));
        problems.extend(basis.unknown_tools(tools.iter(), &rules, &inner.origins));
        if !problems.is_empty() {
            problems.sort_unstable();
            problems.dedup();
            return Err(BuildError { problems, lacks_services: false });
        }
        let before = inner.rules.get();
        let names: Vec<&str> = tools.iter().map(Tool::name).collect();
        diagnostics.extend(of_configuration(&rules.configuration, names, &inner.origins));
        of_rules(&mut diagnostics, &rules, &tools, keys.as_ref());
        diagnostics.extend(only_at_start(&before.configuration, &rules.configuration));
        let is_missing = |def: &&ToolDef| basis.linked && !def.enabled && tools.get(def.name).is_none();
        let switched_on =
            inventory::iter::<Linked>().map(|Linked(def)| *def).filter(is_missing).filter(|def| {
                let tool = inner.origins.place(Tool::new(def));
                rules.policy.as_deref().is_some_and(|policy| policy::switches_on(policy, &tool))
            });
        diagnostics.extend(switched_on.map(|def| at_start(&format!("`{}` is switched on now", def.name))));
        let changed = rules.configuration.changed_since(&before.configuration);
        inner.settings.redactor.learn(rules.configuration.secrets());
        inner.rules.replace(rules);
        inner.registry.notify();
        Ok(Reloaded { changed, diagnostics })
    }
}

/// Returns a diagnostic for each changed setting that a running toolkit does not take over.
fn only_at_start(before: &Configuration, after: &Configuration) -> impl Iterator<Item = Diagnostic> {
    let settings = [
        ("history", before.history() != after.history()),
        ("tools.outputs", before.output_store() != after.output_store()),
        ("tools.discovery", before.discovery() != after.discovery()),
        ("plugins.prefer", before.prefer() != after.prefer()),
    ];
    settings
        .into_iter()
        .filter(|(_, is_changed)| *is_changed)
        .map(|(key, _)| at_start(&format!("`{key}` has changed")))
}

fn at_start(change: &str) -> Diagnostic {
    let message = format!("{change}; this takes effect when the program starts again");
    Diagnostic::new(Level::Warning, "toolkit", message)
}

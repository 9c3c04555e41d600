//! The settings of the program itself.

use super::configured::configured;
use super::origins::Origins;
use super::permission_keys::KnownKeys;
use super::source::ToolSource;
use super::{Builder, tool_names};
use crate::config::Configuration;
use crate::link::Links;
use crate::rules::Rules;
use crate::service;
use crate::tool::Tool;
use std::path::PathBuf;
use std::sync::Arc;

/// The program's own settings, to which every configuration is applied anew.
#[derive(Debug, Default)]
pub(super) struct Basis {
    rules: Rules,
    pub(super) first_lists: Vec<String>,
    permission_keys: Vec<String>,
    sources: Vec<Arc<dyn ToolSource>>,
    data_dir: Option<PathBuf>,
    /// Set if the toolkit has the tools of linked crates.
    pub(super) linked: bool,
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

//! Finds unknown keys of configured permission rules.
//!
//! A rule with a misspelled key would deny nothing, so it is rejected.

use crate::config::{ConfigProblem, Configuration};
use crate::link::Linked;
use crate::linked::LinkedKeys;
use crate::permission::{KINDS, PermissionRules, PermissionSettings};
use crate::policy::{folded, known_names, matches};
use crate::rules::Rules;
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use std::collections::BTreeSet;
use toolkit_core::escape::escape_line;
use toolkit_core::name::nearest;
use toolkit_core::pointer::escape;
use toolkit_core::server_names::ServerNames;

/// The maximum number of problems reported.
const MAX_TOLD: usize = 20;

/// The set of known keys.
pub(super) struct KnownKeys {
    names: BTreeSet<String>,
    servers: ServerNames,
}

impl KnownKeys {
    /// Collects the keys. `further` are the keys that the host and its sources of tools name. Returns `None` if there is no rule
    /// whose key could be unknown: collecting takes longer than the rest of a start.
    pub(super) fn new<'a>(
        tools: impl IntoIterator<Item = &'a Tool>,
        further: impl IntoIterator<Item = String>,
        rules: &Rules,
    ) -> Option<Self> {
        let configuration = &rules.configuration;
        if rules.permissions.is_silent() && configured(configuration).next().is_none() {
            return None;
        }
        let mut names: BTreeSet<String> = KINDS.iter().map(|kind| (*kind).to_owned()).collect();
        for tool in tools {
            names.extend([tool.name(), tool.permission()].into_iter().chain(tool.aliases()).map(folded));
            names.extend(tool.source().remote_id().map(|id| folded(&id)));
        }
        // Includes disabled tools, and tools of core crates that are not compiled in.
        for Linked(def) in inventory::iter::<Linked>() {
            let ToolDef { name, permission, aliases, .. } = def;
            names.extend([*name].into_iter().chain(*permission).chain(aliases.iter().copied()).map(folded));
        }
        for LinkedKeys(keys) in inventory::iter::<LinkedKeys>() {
            names.extend(keys.iter().map(|key| folded(key)));
        }
        names.extend(known_names());
        names.extend(further.into_iter().map(|key| folded(&key)));
        let servers = configuration.server_names();
        names.extend(servers.ids().map(str::to_owned));
        Some(Self { names, servers })
    }

    /// Returns true if a key, in lower case, is known.
    pub(super) fn has(&self, key: &str) -> bool {
        if key.contains('*') {
            return self.servers.may_match(key) || self.names.iter().any(|name| matches(key, name));
        }
        // A client and its tools are added while the program runs.
        let is_pattern_of = |name: &&String| name.contains('*') && matches(name, key);
        self.names.contains(key)
            || self.servers.has(key)
            || key.starts_with("client:")
            || self.names.iter().any(|name| is_pattern_of(&name))
    }

    pub(super) fn names(&self) -> BTreeSet<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    /// Returns the problems with the keys of a configuration, each with its place.
    pub(super) fn problems(&self, configuration: &Configuration) -> Vec<String> {
        let mut problems = Vec::new();
        for settings in configured(configuration) {
            for (pointer, key) in keys(&settings) {
                let folded = folded(&key);
                if self.has(&folded) {
                    continue;
                }
                if problems.len() == MAX_TOLD {
                    return problems;
                }
                let near = nearest(&folded, self.names.iter().map(String::as_str));
                let near: Vec<String> =
                    near.into_iter().map(|near| format!("`{}`", escape_line(near))).collect();
                let advice = if near.is_empty() {
                    "; name a kind, a tool that is linked, or a server as `mcp:<name>`; a rule for a tool of another program \
                     belongs in a file that only that program reads"
                        .to_owned()
                } else {
                    format!("; did you mean {}?", near.join(" or "))
                };
                let message = format!("there is no permission kind, tool or server `{key}`{advice}");
                let origin = settings.origins.find(&pointer).cloned();
                problems.push(ConfigProblem::new(origin, pointer, message).to_string());
            }
        }
        problems
    }
}

/// Returns the permission rules of a configuration, of each file that has some.
fn configured(configuration: &Configuration) -> impl Iterator<Item = PermissionSettings> {
    let (sources, restrictions) = configuration.permissions();
    sources.into_iter().chain(restrictions.into_iter().map(|(_, settings)| settings))
}

/// Returns the keys of all rules, each with its pointer.
fn keys(settings: &PermissionSettings) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    let mut add = |place: &str, rules: &PermissionRules| {
        keys.extend(rules.keys().map(|key| (format!("{place}/permission/{}", escape(key)), key.clone())));
    };
    add("", &settings.everybody);
    for (place, all) in [("agents", &settings.agents), ("channels", &settings.channels)] {
        for (name, rules) in all {
            add(&format!("/{place}/{}", escape(name)), rules);
        }
    }
    for (place, all) in [("groups", &settings.groups), ("senders", &settings.senders)] {
        for (channel, all) in all {
            for (name, rules) in all {
                add(&format!("/channels/{}/{place}/{}", escape(channel), escape(name)), rules);
            }
        }
    }
    keys
}

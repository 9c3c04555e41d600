//! Finds unknown names in configured lists of tools.
//!
//! A deny list with a misspelled name would deny nothing, and an allow list would lack a tool, so it is rejected.

use super::origins::Origins;
use crate::config::{ConfigProblem, Configuration};
use crate::link::Linked;
use crate::linked::LinkedKeys;
use crate::policy::{
    Entry, PLUGINS, Policy, PolicyRule, PolicySettings, ToolRules, known_groups, known_names, matches, named,
    normalised,
};
use crate::tool::Tool;
use serde_json::Value;
use std::collections::BTreeSet;
use toolkit_core::escape::escape_line;
use toolkit_core::name::nearest;
use toolkit_core::pointer::escape;
use toolkit_core::server_names::ServerNames;

/// The maximum number of problems reported.
const MAX_TOLD: usize = 20;
/// The maximum number of patterns that are checked; each check looks at all names.
const MAX_PATTERNS: usize = 500;

/// The names that an entry of a list can have.
struct KnownNames {
    /// Tools, with their aliases, and plugins.
    names: BTreeSet<String>,
    groups: BTreeSet<String>,
    servers: ServerNames,
}

/// The part of a list that is checked.
struct List<'a> {
    pointer: String,
    entries: &'a [String],
    denies: bool,
}

/// Returns the problems with the lists of tools of a configuration, each with its place. `further` are the names that the host and its
/// sources of tools name.
///
/// Of a file that is not trusted, only deny lists are checked: an unknown name in another list allows nothing.
pub(super) fn problems<'a>(
    configuration: &Configuration,
    tools: impl IntoIterator<Item = &'a Tool>,
    further: &[String],
    origins: &Origins,
) -> Vec<String> {
    let (own, restrictions) = configuration.policy();
    let trusted = std::iter::once((&own, true));
    let sources: Vec<_> = trusted.chain(restrictions.iter().map(|(_, settings)| (settings, false))).collect();
    let lists: Vec<_> = sources
        .iter()
        .flat_map(|(settings, is_trusted)| {
            let counts = move |list: &List<'_>| *is_trusted || list.denies;
            lists(settings).into_iter().filter(counts).map(|list| (list, *settings))
        })
        .filter(|(list, _)| !list.entries.is_empty())
        .collect();
    // Collecting the names takes longer than the rest of a start.
    if lists.is_empty() {
        return Vec::new();
    }
    let known = KnownNames::new(tools, further, origins, configuration);
    let document = configuration.document();
    let plugins = document.get("plugins").and_then(Value::as_object).into_iter().flatten();
    let is_off = |plugin: &Value| plugin.get("enabled") == Some(&Value::Bool(false));
    let disabled: BTreeSet<String> =
        plugins.filter(|(_, plugin)| is_off(plugin)).map(|(id, _)| normalised(id)).collect();
    let mut problems = Vec::new();
    let mut patterns = 0;
    for (list, settings) in lists {
        for (number, entry) in list.entries.iter().enumerate() {
            if problems.len() == MAX_TOLD {
                return problems;
            }
            // An entry that cannot be parsed is refused when the configuration is loaded.
            let Ok(parsed) = Entry::parse(entry) else { continue };
            if matches!(parsed, Entry::NamePattern(_) | Entry::GroupPattern(_)) {
                patterns += 1;
                if patterns > MAX_PATTERNS {
                    continue;
                }
            }
            // A plugin that is switched off is in the deny list for everybody, whether or not this program has it.
            let is_switch = list.denies && disabled.contains(&normalised(entry));
            if is_switch || known.has(&parsed, list.denies) {
                continue;
            }
            let pointer = format!("{}/{number}", list.pointer);
            let message = format!(
                "there is no tool, plugin or group `{}`{}",
                escape_line(entry.trim()),
                known.advice(&parsed)
            );
            let origin = settings.origins.find(&pointer).cloned();
            problems.push(ConfigProblem::new(origin, pointer, message).to_string());
        }
    }
    problems
}

/// Returns the problems with the names in the lists of the program's own policy, if no source of tools can bring a tool later.
pub(super) fn problems_of_program<'a>(
    policy: &dyn Policy,
    tools: impl IntoIterator<Item = &'a Tool>,
    further: &[String],
    origins: &Origins,
) -> Vec<String> {
    let rules = named(policy);
    if rules.is_empty() {
        return Vec::new();
    }
    let known = KnownNames::new(tools, further, origins, &Configuration::default());
    let told = rules.into_iter().filter_map(|PolicyRule { entry, pointer, origin }| {
        let entry = entry?;
        let parsed = Entry::parse(&entry).ok().filter(|parsed| matches!(parsed, Entry::Name(_)))?;
        // Which servers there are is up to the user's configuration.
        let is_of_server = |name: &str| name.starts_with("mcp:") || name.contains("__");
        if known.has(&parsed, false) || matches!(&parsed, Entry::Name(name) if is_of_server(name)) {
            return None;
        }
        let near = known.near(&parsed);
        let advice = if near.is_empty() { "; name a tool that is added, or one of a crate in `toolkit::link!`" } else { &near };
        let message = format!(
            "the policy of the program names `{}`, and there is no such tool or plugin{advice}; announce a tool that is \
             registered later with `Builder::permission_keys`",
            escape_line(entry.trim())
        );
        Some(ConfigProblem::new(origin, pointer, message).to_string())
    });
    told.take(MAX_TOLD).collect()
}

impl KnownNames {
    fn new<'a>(
        tools: impl IntoIterator<Item = &'a Tool>,
        further: &[String],
        origins: &Origins,
        configuration: &Configuration,
    ) -> Self {
        let mut names: BTreeSet<String> = known_names().collect();
        let mut groups: BTreeSet<String> = known_groups().collect();
        groups.extend([PLUGINS, "mcp", "client"].map(str::to_owned));
        for tool in tools {
            names.extend(std::iter::once(tool.name()).chain(tool.aliases()).map(normalised));
            names.extend(tool.source().remote_id().map(|id| normalised(&id)));
            names.extend(tool.plugin_id().map(normalised));
            groups.extend(tool.groups().map(normalised));
        }
        // Includes disabled tools.
        for Linked(def) in inventory::iter::<Linked>() {
            names.extend(std::iter::once(&def.name).chain(def.aliases).map(|name| normalised(name)));
            groups.extend(def.groups.iter().map(|group| normalised(group)));
        }
        names.extend(origins.plugins().iter().map(|plugin| normalised(&plugin.id)));
        let linked = inventory::iter::<LinkedKeys>().flat_map(|LinkedKeys(keys)| keys.iter().copied());
        for key in further.iter().map(String::as_str).chain(linked).map(normalised) {
            match key.strip_prefix("group:") {
                Some(group) => groups.insert(group.to_owned()),
                None => names.insert(key),
            };
        }
        let servers = configuration.server_names();
        names.extend(servers.ids().map(str::to_owned));
        Self { names, groups, servers }
    }

    /// Returns true if an entry names something, or something that may come later: a tool of a server, a client and its tools.
    fn has(&self, entry: &Entry, denies: bool) -> bool {
        // The host may name tools that come later by a pattern.
        let is_in = |all: &BTreeSet<String>, name: &str| {
            all.contains(name) || all.iter().any(|known| known.contains('*') && matches(known, name))
        };
        match entry {
            Entry::Name(name) => {
                is_in(&self.names, name)
                    || self.servers.has(name)
                    || name.starts_with("client:")
                    // The name of a server alone denies its tools.
                    || denies && self.servers.is_server(name)
            }
            Entry::Group(name) => is_in(&self.groups, name),
            Entry::NamePattern(pattern) => {
                // Of two patterns it is enough that both may begin alike.
                let lead = |pattern: &str| pattern.split('*').next().unwrap_or_default().to_owned();
                let own = lead(pattern);
                let may_match = |name: &String| {
                    let known = lead(name);
                    name.contains('*') && (own.starts_with(&known) || known.starts_with(&own))
                };
                self.servers.may_match(pattern)
                    || pattern.starts_with("client:")
                    || self.names.iter().any(|name| matches(pattern, name) || may_match(name))
            }
            Entry::GroupPattern(pattern) => self.groups.iter().any(|group| matches(pattern, group)),
        }
    }

    /// Returns the advice for an unknown entry.
    fn advice(&self, entry: &Entry) -> String {
        let near = self.near(entry);
        if near.is_empty() {
            "; name a tool or plugin that is linked (`toolkit::link!` of the program names the crates of tools), `group:<name>`, or a \
             server as `mcp:<name>`; a rule for a tool of another program belongs in a file that only that program reads"
                .to_owned()
        } else {
            near
        }
    }

    /// Returns "; did you mean …?", or an empty text if no name is near.
    fn near(&self, entry: &Entry) -> String {
        let (all, text, prefix) = match entry {
            Entry::Name(text) | Entry::NamePattern(text) => (&self.names, text, ""),
            Entry::Group(text) | Entry::GroupPattern(text) => (&self.groups, text, "group:"),
        };
        let near = nearest(text, all.iter().map(String::as_str));
        let near: Vec<String> =
            near.into_iter().map(|near| format!("`{prefix}{}`", escape_line(near))).collect();
        if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
    }
}

/// Returns every list of tools, with its pointer.
fn lists(settings: &PolicySettings) -> Vec<List<'_>> {
    let mut lists = Vec::new();
    for (pointer, rules) in rules(settings) {
        let allow = rules.allow.as_deref().unwrap_or_default();
        let of_rules = [("allow", allow), ("alsoAllow", &rules.also_allow), ("deny", &rules.deny)];
        lists.extend(of_rules.map(|(key, entries)| List {
            pointer: format!("{pointer}/{key}"),
            entries,
            denies: key == "deny",
        }));
    }
    for (name, profile) in &settings.profiles {
        let allow = profile.allow.as_deref().unwrap_or_default();
        let pointer = |key| format!("/tools/profiles/{}/{key}", escape(name));
        lists.push(List { pointer: pointer("allow"), entries: allow, denies: false });
        lists.push(List { pointer: pointer("deny"), entries: &profile.deny, denies: true });
    }
    lists
}

/// Returns the rules of every layer, each with its pointer.
fn rules(settings: &PolicySettings) -> Vec<(String, &ToolRules)> {
    let PolicySettings {
        tools, by_provider, agents, agents_by_provider, channels, sandbox, subagents, ..
    } = settings;
    let mut all = vec![
        ("/tools".to_owned(), tools),
        ("/tools/sandbox".to_owned(), sandbox),
        ("/tools/subagents".to_owned(), subagents),
    ];
    let of_provider = |place: &str, key: &str| format!("{place}/byProvider/{}", escape(key));
    all.extend(by_provider.iter().map(|(key, rules)| (of_provider("/tools", key), rules)));
    for (id, by_provider) in agents_by_provider {
        let place = format!("/agents/{}/tools", escape(id));
        all.extend(by_provider.iter().map(|(key, rules)| (of_provider(&place, key), rules)));
    }
    for (place, of_place) in [("agents", agents), ("channels", channels)] {
        all.extend(of_place.iter().map(|(name, rules)| (format!("/{place}/{}/tools", escape(name)), rules)));
    }
    for (place, of_channels) in [("groups", &settings.groups), ("senders", &settings.senders)] {
        for (channel, of_channel) in of_channels {
            let channel = escape(channel);
            all.extend(
                of_channel.iter().map(|(name, rules)| {
                    (format!("/channels/{channel}/{place}/{}/tools", escape(name)), rules)
                }),
            );
        }
    }
    all
}

//! What in a policy is probably not as meant, given the tools that there are.

use super::compiled::Compiled;
use super::entry::{Entry, PLUGINS, matches, normalised};
use super::lists::{Kind, escaped};
use super::rules::Layer;
use super::subject::Subject;
use super::tool_policy::ToolPolicy;
use crate::diagnostic::{Diagnostic, Level};
use crate::escape::escape_line;
use crate::name::nearest;
use std::collections::BTreeSet;

/// The most that is told of one source. Somebody else may have written it, with thousands of names that nothing has, and
/// what each of them may have meant takes a while to find.
const MOST_TOLD: usize = 100;

/// What is probably not as meant, at most 100 things of each source. None of it widens anything.
pub(super) fn diagnostics<S: Subject>(policy: &ToolPolicy, tools: &[S]) -> Vec<Diagnostic> {
    let known = Known::of(policy, tools);
    policy
        .sources()
        .iter()
        .flat_map(|source| Lint { source, known: &known, found: Vec::new() }.run())
        .collect()
}

/// Every name that an entry can have.
struct Known<'a, S> {
    policy: &'a ToolPolicy,
    tools: &'a [S],
    /// Of tools, with all aliases, and of plugins.
    names: BTreeSet<String>,
    plugins: BTreeSet<String>,
    groups: BTreeSet<String>,
}

impl<'a, S: Subject> Known<'a, S> {
    fn of(policy: &'a ToolPolicy, tools: &'a [S]) -> Self {
        let registered = policy.registered();
        let mut groups: BTreeSet<String> = registered.built_in.iter().cloned().collect();
        groups.extend([PLUGINS, "mcp", "client"].map(str::to_owned));
        groups.extend(tools.iter().flat_map(Subject::groups).map(normalised));
        let plugins: BTreeSet<String> =
            tools.iter().filter_map(|tool| tool.plugin_id()).map(|id| normalised(&id)).collect();
        let mut names = plugins.clone();
        names.extend(
            tools.iter().flat_map(|tool| std::iter::once(tool.name()).chain(tool.aliases())).map(normalised),
        );
        names.extend(registered.aliases().flat_map(|(alias, name)| [alias, name]).map(str::to_owned));
        names.extend(registered.groups.values().flatten().cloned());
        Self { policy, tools, names, plugins, groups }
    }

    /// ": did you mean …?" where something is near.
    fn advice(&self, entry: &Entry) -> String {
        let (name, names, prefix) = match entry {
            Entry::Group(name) => (name, &self.groups, "group:"),
            Entry::Name(name) | Entry::NamePattern(name) | Entry::GroupPattern(name) => {
                (name, &self.names, "")
            }
        };
        let near = nearest(name, names.iter().map(String::as_str));
        near.first().map(|near| format!("; did you mean `{prefix}{near}`?")).unwrap_or_default()
    }

    /// The tool of a plugin that has the name only as an alias.
    fn aliased_by_plugin(&self, name: &str) -> Option<&S> {
        let is_own = |tool: &S| normalised(tool.name()) == name;
        if self.plugins.contains(name)
            || self.policy.registered().is_name(name)
            || self.tools.iter().any(is_own)
        {
            return None;
        }
        let answers = |tool: &&S| tool.aliases().any(|alias| normalised(alias) == name);
        let is_of_core = self.tools.iter().any(|tool| tool.is_core() && answers(&tool));
        self.tools.iter().find(answers).filter(|_| !is_of_core)
    }
}

struct Lint<'a, S> {
    source: &'a Compiled,
    known: &'a Known<'a, S>,
    found: Vec<Diagnostic>,
}

impl<S: Subject> Lint<'_, S> {
    fn run(mut self) -> Vec<Diagnostic> {
        self.layers();
        self.lists();
        self.switches();
        self.profiles();
        self.joining();
        if self.is_full() {
            let message = format!("there may be more that is not as meant: only {MOST_TOLD} things are told");
            self.say(Level::Info, "", message);
        }
        self.found
    }

    /// Whether nothing more is looked for.
    fn is_full(&self) -> bool {
        self.found.len() >= MOST_TOLD
    }

    fn say(&mut self, level: Level, pointer: &str, message: String) {
        self.found.push(Diagnostic {
            level,
            source: self.source.narrows.clone().unwrap_or_else(|| "configuration".to_owned()),
            plugin_id: None,
            message,
            location: self.source.origins.find(pointer).map(ToString::to_string),
        });
    }

    fn warn(&mut self, pointer: &str, message: String) {
        self.say(Level::Warning, pointer, message);
    }

    /// Profiles that there aren't, and `alsoAllow` without one.
    fn layers(&mut self) {
        let source = self.source;
        for rules in source.layers() {
            if self.is_full() {
                return;
            }
            if let Some(chosen) = rules.profile.as_ref().filter(|chosen| chosen.profiles.is_empty()) {
                let pointer = format!("{}/profile", rules.pointer);
                let near =
                    chosen.near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let name = escape_line(&chosen.name);
                self.warn(
                    &pointer,
                    format!("there is no profile `{name}` ({pointer}), so it allows nothing{near}"),
                );
            }
            if rules.also_allow.is_some() && rules.profile.is_none() {
                let pointer = format!("{}/alsoAllow", rules.pointer);
                let opens = |tool: &S| tool.is_optional() && source.opens(tool);
                if rules.layer != Layer::Profile {
                    let why = "it adds to the profile of its own layer, and there is none";
                    self.warn(&pointer, format!("`{pointer}` has no effect: {why}"));
                } else if !self.known.tools.iter().any(opens) {
                    let why = "without a profile every tool is there but the optional ones, and it names none of those";
                    self.warn(&pointer, format!("`{pointer}` has no effect: {why}"));
                }
            }
        }
    }

    fn lists(&mut self) {
        let source = self.source;
        for list in &source.lists.all {
            // What opens optional tools is the global lists once more.
            if !matches!(list.kind, Kind::Deny | Kind::Allow) {
                continue;
            }
            let mut knows_any = list.entries.is_empty();
            for (number, text) in (0..).zip(&list.entries) {
                if self.is_full() {
                    return;
                }
                let Some(pointer) = list.pointer(number) else { continue };
                knows_any |= self.entry(list.kind, text, &pointer);
            }
            let pointer = list.pointer(0).filter(|_| !knows_any && list.kind == Kind::Allow);
            if let Some(pointer) = pointer.as_deref().and_then(|pointer| pointer.strip_suffix("/0")) {
                self.warn(pointer, format!("`{pointer}` names nothing that there is, so it allows nothing"));
            }
        }
    }

    /// Whether an entry names something.
    fn entry(&mut self, kind: Kind, text: &str, pointer: &str) -> bool {
        let shown = escape_line(text);
        let entry = match Entry::parse(text) {
            Ok(entry) => entry,
            Err(fault) => {
                self.warn(pointer, format!("the entry `{shown}` ({pointer}) {fault}; it counts for nothing"));
                return false;
            }
        };
        let known = self.known;
        let (is_known, level) = match &entry {
            Entry::Name(name) => (known.names.contains(name), Level::Warning),
            Entry::Group(name) => (known.groups.contains(name), Level::Warning),
            Entry::NamePattern(pattern) => {
                (known.names.iter().any(|name| matches(pattern, name)), Level::Info)
            }
            Entry::GroupPattern(pattern) => {
                (known.groups.iter().any(|name| matches(pattern, name)), Level::Info)
            }
        };
        if !is_known {
            let what = match &entry {
                Entry::Name(_) => "no tool or plugin has the name",
                Entry::Group(_) => "no tool is in the group",
                Entry::NamePattern(_) => "no tool or plugin has a name like",
                Entry::GroupPattern(_) => "no tool is in a group like",
            };
            let advice = known.advice(&entry);
            let later = "; it may belong to a server that is not connected yet";
            self.say(level, pointer, format!("{what} `{shown}` ({pointer}){advice}{later}"));
        }
        if let (Entry::Name(name), Kind::Allow) = (&entry, kind) {
            self.allowed(name, pointer);
        }
        is_known
    }

    /// What an allow list names in a way that does not count.
    fn allowed(&mut self, name: &str, pointer: &str) {
        let known = self.known;
        if let Some(tool) = known.aliased_by_plugin(name) {
            let tool = tool.name();
            let message = format!(
                "`{name}` ({pointer}) allows nothing: it is an alias that a plugin gave to `{tool}`; name the tool itself"
            );
            self.warn(pointer, message);
        }
        let canonical = known.policy.registered().canonical(name);
        if canonical != name && known.tools.iter().any(|tool| normalised(tool.name()) == name) {
            let message = format!(
                "`{name}` ({pointer}) stands for `{canonical}`, and does not allow the tool `{name}` itself"
            );
            self.warn(pointer, message);
        }
        let is_global = ["/tools/allow/", "/tools/alsoAllow/"].iter().any(|list| pointer.starts_with(list));
        if self.source.narrows.is_none() && is_global {
            return;
        }
        let user = &known.policy.sources()[0];
        let is_named = |tool: &&S| {
            normalised(tool.name()) == canonical || tool.plugin_id().is_some_and(|id| normalised(&id) == name)
        };
        for tool in known.tools.iter().filter(is_named) {
            if tool.is_optional() && !user.opens(tool) {
                let tool = tool.name();
                let whose = if self.source.narrows.is_some() { " of a file that is trusted" } else { "" };
                let message = format!(
                    "`{name}` ({pointer}) does not open the optional tool `{tool}`: only `tools.allow` and \
                     `tools.alsoAllow`{whose} can"
                );
                self.warn(pointer, message);
            }
        }
    }

    /// Tools and plugins that are switched, or that only certain models get.
    fn switches(&mut self) {
        let source = self.source;
        let mut named: Vec<(String, String, bool)> =
            source.gates().map(|(name, pointer)| (name.to_owned(), pointer.to_owned(), false)).collect();
        for list in &source.lists.all {
            let is_plugin = match list.kind {
                Kind::Names | Kind::NamesOff => false,
                Kind::Plugins => true,
                _ => continue,
            };
            let pointers =
                (0..).zip(&list.entries).filter_map(|(number, name)| Some((name, list.pointer(number)?)));
            named.extend(pointers.map(|(name, pointer)| (name.to_string(), pointer, is_plugin)));
        }
        for (name, pointer, is_plugin) in named {
            if self.is_full() {
                return;
            }
            let known = self.known;
            let (all, what) = if is_plugin { (&known.plugins, "plugin") } else { (&known.names, "tool") };
            if all.contains(&normalised(&name)) {
                continue;
            }
            let near = nearest(&name, all.iter().map(String::as_str));
            let advice = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            self.warn(
                &pointer,
                format!("no {what} has the name `{}` ({pointer}){advice}", escape_line(&name)),
            );
        }
    }

    /// Profiles that have the name of one that a core crate registered.
    fn profiles(&mut self) {
        for name in &self.source.profiles {
            if self.is_full() {
                return;
            }
            if self.known.policy.registered().profiles.contains_key(&normalised(name)) {
                let pointer = format!("/tools/profiles/{}", escaped(name));
                let message = format!(
                    "there is a profile `{}` already: this one only narrows it ({pointer})",
                    escape_line(name)
                );
                self.warn(&pointer, message);
            }
        }
    }

    fn joining(&mut self) {
        let source = self.source;
        for (plugin, groups) in &source.join_groups {
            if self.is_full() {
                return;
            }
            let pointer = format!("/plugins/{}/joinGroups", escaped(plugin));
            if !self.known.plugins.contains(&normalised(plugin)) {
                let near = nearest(plugin, self.known.plugins.iter().map(String::as_str));
                let advice = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                let plugin = escape_line(plugin);
                self.warn(&pointer, format!("there is no plugin `{plugin}` ({pointer}){advice}"));
            }
            for group in groups.iter().take(MOST_TOLD) {
                let registered = self.known.policy.registered();
                let is_built_in = match Entry::parse(group) {
                    Ok(Entry::Name(name) | Entry::Group(name)) => registered.built_in(&name).is_some(),
                    _ => false,
                };
                if !is_built_in {
                    let near = nearest(group, registered.built_in.iter().map(String::as_str));
                    let advice =
                        near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                    let group = escape_line(group);
                    self.warn(
                        &pointer,
                        format!("`{group}` is no group that is built in ({pointer}){advice}"),
                    );
                }
            }
        }
    }
}

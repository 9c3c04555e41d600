//! Finds probable mistakes in a policy, given the existing tools.

use super::compiled::Compiled;
use super::entry::{Entry, PLUGINS, matches, normalised};
use super::lists::Kind;
use super::rules::Layer;
use super::subject::Subject;
use super::tool_policy::ToolPolicy;
use std::collections::BTreeSet;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::escape::escape_line;
use toolkit_core::name::nearest;
use toolkit_core::pointer::escape;

/// The maximum number of messages for one source; further ones are only counted. Messages about deny lists have a
/// maximum of their own, of the same size.
const MAX_SAID: usize = 100;
/// The maximum length of a message, in bytes, that is not truncated.
const LONGEST: usize = 4_000;
/// The maximum number of names of one source for which the nearest name is searched; each search looks at all names.
const MAX_ADVISED: usize = 20;
/// The maximum number of patterns of one source that are checked; each check looks at all names.
const MAX_PATTERNS: usize = 500;
/// The maximum number of names in allow lists that are checked in detail; each check looks at all tools.
const MAX_ALLOWED: usize = 200;

/// Returns probable mistakes, up to a maximum number. None of them makes the policy more permissive.
pub(super) fn diagnostics<S: Subject>(policy: &ToolPolicy, tools: &[S]) -> Vec<Diagnostic> {
    // Collecting all names is the most expensive part of building a toolkit with thousands of tools.
    if policy.sources().iter().all(|source| source.is_silent) {
        return Vec::new();
    }
    let known = Known::of(policy, tools);
    policy.sources().iter().flat_map(|source| Lint::of(source, &known).run()).collect()
}

/// The names that an entry can have.
struct Known<'a, S> {
    policy: &'a ToolPolicy,
    tools: &'a [S],
    /// Names of tools, with all aliases, and of plugins.
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
            tools.iter().filter_map(Subject::plugin_id).map(|id| normalised(&id)).collect();
        let mut names = plugins.clone();
        names.extend(
            tools.iter().flat_map(|tool| std::iter::once(tool.name()).chain(tool.aliases())).map(normalised),
        );
        names.extend(registered.aliases().flat_map(|(alias, name)| [alias, name]).map(str::to_owned));
        names.extend(registered.groups.values().flatten().chain(&registered.names).cloned());
        Self { policy, tools, names, plugins, groups }
    }

    /// Returns the plugin's tool that has the name only as an alias.
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
    /// True if the current list denies tools.
    denies: bool,
    /// The number of messages, and how many of them are about deny lists.
    counts: [usize; 2],
    advised: usize,
    patterns: usize,
    allowed: usize,
}

impl<'a, S: Subject> Lint<'a, S> {
    fn of(source: &'a Compiled, known: &'a Known<'a, S>) -> Self {
        Self {
            source,
            known,
            found: Vec::new(),
            denies: false,
            counts: [0; 2],
            advised: 0,
            patterns: 0,
            allowed: 0,
        }
    }

    fn run(mut self) -> Vec<Diagnostic> {
        self.layers();
        self.lists();
        self.switches();
        self.profiles();
        self.joining();
        for denies in [false, true] {
            let left_out = self.counts[usize::from(denies)].saturating_sub(MAX_SAID);
            if left_out > 0 {
                let of = if denies { " of what is denied" } else { "" };
                let message =
                    format!("{left_out} more like these{of}; correct the reported ones and check again");
                self.found.push(self.diagnostic(Level::Warning, message).with_concern(denies));
            }
        }
        self.found
    }

    fn diagnostic(&self, level: Level, message: String) -> Diagnostic {
        Diagnostic::new(level, self.source.narrows.as_deref().unwrap_or("configuration"), message)
    }

    /// Returns "; did you mean …?" if a name is near, or an empty text.
    fn advice<'n>(&mut self, name: &str, names: impl IntoIterator<Item = &'n String>) -> String {
        self.advised += 1;
        if self.advised > MAX_ADVISED {
            return String::new();
        }
        let near = nearest(name, names.into_iter().map(String::as_str));
        near.first().map(|near| format!("; did you mean `{}`?", escape_line(near))).unwrap_or_default()
    }

    fn say(&mut self, level: Level, pointer: &str, message: String) {
        let count = &mut self.counts[usize::from(self.denies)];
        *count += 1;
        if *count <= MAX_SAID {
            // A message may contain pointers, and names of any length that a program passed.
            let message = if message.len() > LONGEST { escape_line(&message).into_owned() } else { message };
            let said = self.diagnostic(level, message).with_concern(self.denies);
            let origin = self.source.origins.find(pointer);
            self.found.push(origin.into_iter().fold(said, Diagnostic::with_location));
        }
    }

    fn warn(&mut self, pointer: &str, message: String) {
        self.say(Level::Warning, pointer, message);
    }

    /// Reports profiles that do not exist, and `alsoAllow` without a profile.
    fn layers(&mut self) {
        let source = self.source;
        for rules in source.layers() {
            if let Some(chosen) = rules.profile.as_ref().filter(|chosen| chosen.profiles.is_empty()) {
                let pointer = format!("{}/profile", rules.pointer);
                let near =
                    chosen.near.as_ref().map(|near| format!("; did you mean `{}`?", escape_line(near)));
                let near = near.unwrap_or_default();
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
                    let why = "it extends its layer's profile, and the layer has none";
                    self.warn(&pointer, format!("`{pointer}` has no effect: {why}"));
                } else if !self.known.tools.iter().any(opens) {
                    let why = "without a profile every tool except optional ones is available, and it names no optional tool";
                    self.warn(&pointer, format!("`{pointer}` has no effect: {why}"));
                }
            }
        }
    }

    fn lists(&mut self) {
        let source = self.source;
        for list in &source.lists.all {
            // The lists that enable optional tools are the global lists, which are checked already.
            if !matches!(list.kind, Kind::Deny | Kind::Allow) {
                continue;
            }
            self.denies = list.kind.denies();
            let mut knows_any = list.entries.is_empty();
            for (number, text) in (0..).zip(&list.entries) {
                let Some(pointer) = list.pointer(number) else { continue };
                knows_any |= self.entry(list.kind, text, &pointer);
            }
            let pointer = list.pointer(0).filter(|_| !knows_any && list.kind == Kind::Allow);
            if let Some(pointer) = pointer.as_deref().and_then(|pointer| pointer.strip_suffix("/0")) {
                self.warn(pointer, format!("`{pointer}` names nothing that exists, so it allows nothing"));
            }
        }
        self.denies = false;
    }

    /// Checks that an entry names something.
    fn entry(&mut self, kind: Kind, text: &str, pointer: &str) -> bool {
        let shown = escape_line(text);
        let entry = match Entry::parse(text) {
            Ok(entry) => entry,
            Err(fault) => {
                let counts = if kind.denies() { "so it denies every tool" } else { "and allows nothing" };
                self.warn(pointer, format!("the entry `{shown}` ({pointer}) {fault}, {counts}"));
                return false;
            }
        };
        let known = self.known;
        if matches!(entry, Entry::NamePattern(_) | Entry::GroupPattern(_)) {
            self.patterns += 1;
            if self.patterns > MAX_PATTERNS {
                return true;
            }
        }
        let (is_known, level) = match &entry {
            Entry::Name(name) => {
                let servers = known.policy.servers();
                // The name of a server alone denies its tools.
                let of_server = servers.has(name) || kind.denies() && servers.is_server(name);
                (known.names.contains(name) || of_server, Level::Warning)
            }
            Entry::Group(name) => (known.groups.contains(name), Level::Warning),
            Entry::NamePattern(pattern) => {
                let is_of_server = known.policy.servers().may_match(pattern);
                (is_of_server || known.names.iter().any(|name| matches(pattern, name)), Level::Info)
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
            let advice = match &entry {
                // The suggestion is shown with its prefix `group:`.
                Entry::Group(name) => self.advice(name, &known.groups).replace("mean `", "mean `group:"),
                Entry::Name(name) | Entry::NamePattern(name) | Entry::GroupPattern(name) => {
                    self.advice(name, &known.names)
                }
            };
            let later = "; it may belong to a server that is not connected yet";
            self.say(level, pointer, format!("{what} `{shown}` ({pointer}){advice}{later}"));
        }
        if let (Entry::Name(name), Kind::Allow) = (&entry, kind) {
            self.allowed(name, pointer);
        }
        is_known
    }

    /// Reports names in an allow list that have no effect.
    fn allowed(&mut self, name: &str, pointer: &str) {
        let known = self.known;
        self.allowed += 1;
        if self.allowed > MAX_ALLOWED {
            return;
        }
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
                    "`{name}` ({pointer}) does not enable the optional tool `{tool}`: only `tools.allow` and \
                     `tools.alsoAllow`{whose} can"
                );
                self.warn(pointer, message);
            }
        }
    }

    /// Checks the settings that enable tools and plugins, or limit tools to certain models.
    fn switches(&mut self) {
        let source = self.source;
        let mut named: Vec<(String, String, bool, bool)> = source
            .gates()
            .map(|(name, pointer)| (name.to_owned(), pointer.to_owned(), false, true))
            .collect();
        for list in &source.lists.all {
            let is_plugin = match list.kind {
                Kind::Names | Kind::NamesOff => false,
                Kind::Plugins => true,
                _ => continue,
            };
            let pointers =
                (0..).zip(&list.entries).filter_map(|(number, name)| Some((name, list.pointer(number)?)));
            let denies = list.kind.denies();
            named.extend(pointers.map(|(name, pointer)| (name.to_string(), pointer, is_plugin, denies)));
        }
        for (name, pointer, is_plugin, denies) in named {
            let known = self.known;
            let (all, what) = if is_plugin { (&known.plugins, "plugin") } else { (&known.names, "tool") };
            let is_of_server = !is_plugin && known.policy.servers().has(&normalised(&name));
            if is_of_server || all.contains(&normalised(&name)) {
                continue;
            }
            let advice = self.advice(&name, all);
            self.denies = denies;
            self.warn(
                &pointer,
                format!("no {what} has the name `{}` ({pointer}){advice}", escape_line(&name)),
            );
        }
        self.denies = false;
    }

    /// Reports profiles with the same name as one that a core crate registered.
    fn profiles(&mut self) {
        for name in &self.source.profiles {
            if self.known.policy.registered().profiles.contains_key(&normalised(name)) {
                let pointer = format!("/tools/profiles/{}", escape(name));
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
            let pointer = format!("/plugins/{}/joinGroups", escape(plugin));
            if !self.known.plugins.contains(&normalised(plugin)) {
                let advice = self.advice(plugin, &self.known.plugins);
                let plugin = escape_line(plugin);
                self.warn(&pointer, format!("there is no plugin `{plugin}` ({pointer}){advice}"));
            }
            for group in groups.iter().take(MAX_SAID) {
                let registered = self.known.policy.registered();
                let is_built_in = match Entry::parse(group) {
                    Ok(Entry::Name(name) | Entry::Group(name)) => registered.built_in(&name).is_some(),
                    _ => false,
                };
                if !is_built_in {
                    let advice = self.advice(group, &registered.built_in);
                    let group = escape_line(group);
                    self.warn(&pointer, format!("`{group}` is not a built-in group ({pointer}){advice}"));
                }
            }
        }
    }
}

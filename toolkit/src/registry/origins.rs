//! The owners of tools (core, a plugin, a channel), and the names reserved for core tools.

use crate::link::Links;
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::location::Location;
use toolkit_core::name::nearest;
use toolkit_core::plugin::{Plugin, PluginDef, is_valid_id};
use toolkit_core::source::Source;

/// The known crates, plugins and names; they do not change once the toolkit is built.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    links: Links,
    plugins: Vec<Plugin>,
    /// The index in `plugins`, by crate.
    by_crate: HashMap<&'static str, usize, RandomState>,
    has_blocked: bool,
    /// Names and aliases of core tools, including disabled ones, with their tools.
    reserved: BTreeMap<Box<str>, Box<str>>,
    /// Names of planned core tools, which no tool has yet.
    planned: BTreeSet<Box<str>>,
    /// Names of disabled tools.
    withheld: BTreeSet<Box<str>>,
    /// Ids of plugins, in order of precedence.
    prefer: Vec<String>,
}

/// The inputs of a toolkit.
pub(super) struct Known<'a> {
    pub(super) links: Links,
    /// Every linked tool, including disabled ones.
    pub(super) linked: &'a [&'static ToolDef],
    /// The tools that the host adds directly.
    pub(super) added: &'a [Tool],
    /// The plugin definitions of crates.
    pub(super) plugins: Vec<&'static PluginDef>,
    /// Ids of plugins, in order of precedence.
    pub(super) prefer: &'a [String],
    /// Names of planned core tools.
    pub(super) planned: Vec<&'static str>,
}

/// The owner of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placing {
    pub(crate) source: Source,
    pub(crate) plugin: Option<Arc<str>>,
    pub(crate) optional: bool,
}

impl Origins {
    /// Collects the crates, and reports their problems.
    pub(super) fn collect(
        known: Known<'_>,
        problems: &mut Vec<String>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let Known { links, linked, added, plugins, prefer, planned } = known;
        let mut origins = Self { links, ..Self::default() };
        let locations = linked.iter().map(|def| &def.location);
        let locations = locations.chain(added.iter().filter_map(Tool::def).map(|def| &def.location));
        let mut crates: BTreeMap<&'static str, &Location> = BTreeMap::new();
        // Tools of one crate are adjacent, and there may be thousands. A definition that is written by hand may have no
        // location.
        let mut last = "";
        for location in locations {
            let name = location.crate_name();
            if name != last {
                last = name;
                crates.insert(name, location);
            }
        }
        crates.remove("");
        origins.reserve(linked, added);
        let is_there = |name: &&str| origins.reserved.contains_key(*name);
        origins.planned = planned.into_iter().filter(|name| !is_there(name)).map(Into::into).collect();
        origins.add_plugins(&crates, plugins, problems);
        origins.prefer(prefer, diagnostics);
        origins
    }

    fn reserve(&mut self, linked: &[&'static ToolDef], added: &[Tool]) {
        if !self.links.has_core() {
            return;
        }
        for def in linked.iter().copied() {
            if self.links.is_core(def.location.crate_name()) {
                for name in std::iter::once(&def.name).chain(def.aliases) {
                    self.reserved.entry((*name).into()).or_insert_with(|| def.name.into());
                }
            }
        }
        for tool in added {
            if !self.is_core(tool) {
                continue;
            }
            for name in std::iter::once(tool.name()).chain(tool.aliases()) {
                self.reserved.entry(name.into()).or_insert_with(|| tool.name().into());
            }
        }
    }

    fn add_plugins(
        &mut self,
        crates: &BTreeMap<&'static str, &Location>,
        plugins: Vec<&'static PluginDef>,
        problems: &mut Vec<String>,
    ) {
        let mut stated: BTreeMap<&'static str, Vec<_>> = BTreeMap::new();
        for def in plugins {
            stated.entry(def.location.crate_name()).or_default().push(def);
        }
        for (crate_name, defs) in &mut stated {
            defs.sort_by_key(|def| (def.location.file, def.location.line));
            if let [_, _, ..] = defs[..] {
                let places: Vec<String> = defs.iter().map(|def| def.location.to_string()).collect();
                problems.push(format!(
                    "the crate `{crate_name}` declares its plugin more than once: at {}; keep one `toolkit::plugin!`",
                    places.join(" and ")
                ));
            }
            if let Some(def) = defs.iter().find(|def| !is_valid_id(def.id.trim())) {
                problems.push(format!(
                    "the plugin id `{}` ({}) is not valid: it takes letters, digits, `-`, `_` and `.`, at most 128 bytes",
                    def.id, def.location
                ));
            }
        }
        let is_planned = |id: &str| self.planned.contains(&*id.to_lowercase().replace(['-', '.'], "_"));
        let names: BTreeSet<&'static str> = crates.keys().chain(stated.keys()).copied().collect();
        let mut by_id: BTreeMap<Arc<str>, Vec<&'static str>> = BTreeMap::new();
        for crate_name in names.into_iter().filter(|name| !self.links.is_core(name)) {
            let stated = stated.get(crate_name).map(|defs| Plugin::of_def(defs[0]));
            let Some(mut plugin) = stated.or_else(|| Some(Plugin::of_crate(crates.get(crate_name)?))) else {
                continue;
            };
            if is_planned(&plugin.id) {
                problems.push(format!(
                    "the plugin id `{}` of the crate `{crate_name}` is reserved for a future builtin tool; give the plugin another one \
                     with `toolkit::plugin!`",
                    plugin.id
                ));
            }
            plugin.blocked = self.core_tool_of_id(&plugin.id).is_some();
            self.has_blocked |= plugin.blocked;
            by_id.entry(Arc::clone(&plugin.id)).or_default().push(crate_name);
            self.by_crate.insert(crate_name, self.plugins.len());
            self.plugins.push(plugin);
        }
        for (id, crates) in by_id.into_iter().filter(|(_, crates)| crates.len() > 1) {
            problems.push(format!(
                "the crates {} have the same plugin id `{id}`, so a rule for one would apply to the other; give \
                 one another id with `toolkit::plugin!`",
                crates.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
            ));
        }
    }

    fn prefer(&mut self, prefer: &[String], diagnostics: &mut Vec<Diagnostic>) {
        self.prefer = prefer.iter().map(|id| id.trim().to_lowercase()).collect();
        for id in &self.prefer {
            if self.plugins.iter().all(|plugin| *plugin.id != **id) {
                let near = nearest(id, self.plugins.iter().map(|plugin| &*plugin.id));
                let advice = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                diagnostics.push(
                    Diagnostic::new(
                        Level::Warning,
                        "plugins.prefer",
                        format!("the plugin `{id}` is preferred, but no plugin has this id{advice}"),
                    )
                    .with_plugin(id),
                );
            }
        }
    }

    /// Records the name of a disabled tool.
    pub(super) fn withhold(&mut self, name: &str) {
        self.withheld.insert(name.into());
    }

    /// Returns the order of the crates, and the set of core crates.
    pub(super) fn links(&self) -> &Links {
        &self.links
    }

    /// Returns true if the tool is of a core crate.
    pub(crate) fn is_core(&self, tool: &Tool) -> bool {
        tool.def().is_some()
            && matches!(tool.source(), Source::Core | Source::Channel { .. } | Source::Runtime)
            && self.links.is_core(tool.crate_name())
    }

    pub(crate) fn is_core_crate(&self, crate_name: &str) -> bool {
        self.links.is_core(crate_name)
    }

    /// Returns the rank of a crate among crates that are equally core or not; lower takes precedence.
    pub(super) fn rank(&self, location: &Location) -> (usize, usize) {
        let crate_name = location.crate_name();
        let preferred = || {
            let id = &self.plugin(location).id;
            self.prefer.iter().position(|other| **other == **id)
        };
        let preferred = if self.prefer.is_empty() { None } else { preferred() };
        (preferred.unwrap_or(usize::MAX), self.links.rank(crate_name))
    }

    /// Returns the plugin of a crate that is not core.
    fn plugin(&self, location: &Location) -> Cow<'_, Plugin> {
        let known = self.plugin_of_crate(location.crate_name());
        known.map_or_else(|| Cow::Owned(Plugin::of_crate(location)), Cow::Borrowed)
    }

    /// Returns the plugins, by crate.
    pub(super) fn plugins(&self) -> &[Plugin] {
        &self.plugins
    }

    /// Returns the plugin of a crate, if it has one.
    pub(crate) fn plugin_of_crate(&self, crate_name: &str) -> Option<&Plugin> {
        self.by_crate.get(crate_name).map(|place| &self.plugins[*place])
    }

    /// Returns the owner of a tool with this source location.
    pub(crate) fn placing(&self, location: &Location, channel: Option<&'static str>) -> Placing {
        let crate_name = location.crate_name();
        if crate_name.is_empty() {
            let source = channel.map_or(Source::Runtime, Source::channel);
            return Placing { source, plugin: None, optional: false };
        }
        let core = self.links.is_core(crate_name);
        let plugin = (!core).then(|| self.plugin(location));
        let channel = channel.or(plugin.as_ref().and_then(|plugin| plugin.channel));
        let id = plugin.as_ref().map(|plugin| Arc::clone(&plugin.id));
        let source = match (channel, &id) {
            (Some(name), _) => Source::channel(name),
            (None, Some(id)) => Source::Plugin { id: Arc::clone(id) },
            (None, None) => Source::Core,
        };
        Placing { source, plugin: id, optional: plugin.is_some_and(|plugin| plugin.optional) }
    }

    /// Sets the owner of the tool. The source of a tool that the host created itself stays, except `Core`.
    pub(crate) fn place(&self, tool: Tool) -> Tool {
        match self.placing_of(&tool) {
            Some(Placing { source, plugin, optional }) => tool.placed(source, plugin, optional),
            None => tool,
        }
    }

    /// Returns the owner of the tool; `None` if the source set by the host stays.
    pub(super) fn placing_of(&self, tool: &Tool) -> Option<Placing> {
        if !matches!(tool.source(), Source::Core | Source::Runtime) {
            return None;
        }
        Some(match tool.def() {
            Some(def) => self.placing(&def.location, def.channel),
            None => Placing { source: Source::Runtime, plugin: None, optional: false },
        })
    }

    /// Returns the id of the plugin with this source location, if it is blocked.
    pub(super) fn blocked_plugin(&self, location: &Location) -> Option<&Arc<str>> {
        if !self.has_blocked {
            return None;
        }
        let plugin = &self.plugins[*self.by_crate.get(location.crate_name())?];
        plugin.blocked.then_some(&plugin.id)
    }

    /// Returns the core tool of this name or alias, even if it is disabled.
    pub(crate) fn core_tool_of(&self, name: &str) -> Option<&str> {
        if self.reserved.is_empty() {
            return None;
        }
        self.reserved.get(name).map(|tool| &**tool)
    }

    /// Returns true if the name is reserved for a planned core tool.
    pub(crate) fn is_planned(&self, name: &str) -> bool {
        self.planned.contains(name)
    }

    /// Returns the core tool that a plugin of this id would be confused with.
    pub(crate) fn core_tool_of_id(&self, id: &str) -> Option<&str> {
        self.core_tool_of(&id.to_lowercase().replace(['-', '.'], "_")).or_else(|| self.core_tool_of(id))
    }

    /// Returns true if a tool of this name is disabled.
    pub(crate) fn is_withheld(&self, name: &str) -> bool {
        self.withheld.contains(name)
    }

    pub(super) fn reserved_names(&self) -> impl Iterator<Item = &str> {
        let all = self.reserved.keys().chain(&self.planned).map(|name| &**name);
        all.collect::<BTreeSet<_>>().into_iter()
    }
}

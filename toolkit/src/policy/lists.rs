//! An index of all lists of a policy, so that a tool is looked up once and not once per list.

use super::data::Registered;
use super::entry::{Entry, PLUGINS, matches, normalised};
use super::finder::Finder;
use super::subject::Subject;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use toolkit_core::pointer::escape;

/// The index of a list within its policy.
pub(super) type ListId = u32;

/// The groups of all tools of servers and of clients; tools are added to them only by their source.
const REMOTE_GROUPS: [&str; 2] = ["mcp", "client"];

/// The mark for "no entry" in [`Marks`].
const NONE: u32 = u32::MAX;

/// The purpose of a list, which determines how its entries match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Denies tools: an entry applies to every name that leads to a tool, and to every group that the tool's author or
    /// a core crate names.
    Deny,
    /// Allows tools, for a list in a configuration.
    Allow,
    /// Allows tools, for a profile registered by a crate, which knows no plugins: names and patterns apply to core
    /// tools only.
    Profile,
    /// Enables optional tools: only names, plugin ids and `group:plugins` apply.
    Open,
    /// Enables tools by name, like an allow list.
    Names,
    /// Disables tools by name, like a deny list.
    NamesOff,
    /// Denies plugins by id.
    Plugins,
}

impl Kind {
    /// Returns true if its entries deny tools.
    pub(super) fn denies(self) -> bool {
        matches!(self, Self::Deny | Self::NamesOff | Self::Plugins)
    }
}

/// A list as it was written.
#[derive(Debug)]
pub(super) struct List {
    pub(super) kind: Kind,
    pub(super) place: Place,
    pub(super) entries: Box<[Box<str>]>,
}

/// The place of a list.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In the code of the crate that registered it.
    Code,
    /// In the configuration, at this pointer.
    At(String),
    /// The members of an object: the member's name is between these two parts of a pointer.
    Members(&'static str, &'static str),
}

impl List {
    /// Returns the pointer to the entry; `None` if it is not in a configuration.
    pub(super) fn pointer(&self, entry: u32) -> Option<String> {
        match &self.place {
            Place::Code => None,
            Place::At(pointer) => Some(format!("{pointer}/{entry}")),
            Place::Members(before, after) => {
                Some(format!("{before}{}{after}", escape(&self.entries[entry as usize])))
            }
        }
    }
}

/// An entry that may apply to a tool.
#[derive(Debug, Clone, Copy)]
struct Hit {
    list: ListId,
    entry: u32,
    needs: Needs,
}

/// The condition on a tool for an entry to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// None, and any name of the tool matches: the entry denies.
    AnyName,
    /// The name is the tool's own, or an alias from a core crate.
    OwnName,
    /// The tool is a core tool.
    Core,
    /// The tool is a core tool, or the configuration lets its plugin join this group.
    Joined(u32),
}

/// A pattern with the lists that contain it.
#[derive(Debug)]
struct Pattern {
    text: Box<str>,
    is_group: bool,
    hits: Vec<Hit>,
}

/// The index of all lists of a policy.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) all: Vec<List>,
    patterns: Vec<Pattern>,
    /// The index in `patterns` of each text, for names and for groups, while lists are added.
    places: HashMap<Box<str>, [Option<usize>; 2]>,
    /// The search for name patterns.
    finder: Finder,
    /// The indices of group patterns.
    group_patterns: Vec<usize>,
    names: HashMap<Box<str>, Vec<Hit>>,
    plugins: HashMap<Box<str>, Vec<Hit>>,
    groups: HashMap<Box<str>, Vec<Hit>>,
    /// The entries `group:plugins`.
    every_plugin: Vec<Hit>,
    /// Invalid entries of deny lists: since their meaning is unknown, they apply to every tool.
    unreadable: Vec<Hit>,
    /// Groups in which a plugin's tools are counted only if the configuration says so, sorted.
    built_in: Vec<String>,
    /// The groups that plugins may join, by plugin id.
    joined: HashMap<Box<str>, Vec<u32>>,
}

impl Lists {
    pub(super) fn new(registered: &Registered) -> Self {
        Self { built_in: registered.built_in.clone(), ..Self::default() }
    }

    /// Returns true if an author's claim to be in the group is not sufficient.
    fn is_reserved(&self, group: &str) -> bool {
        group == PLUGINS || self.built_in.binary_search_by(|other| other.as_str().cmp(group)).is_ok()
    }

    /// Lets the tools of plugins join built-in groups.
    pub(super) fn join(&mut self, groups: &BTreeMap<String, BTreeSet<String>>, registered: &Registered) {
        for (plugin, groups) in groups {
            let numbers = groups.iter().filter_map(|group| match Entry::parse(group) {
                Ok(Entry::Name(name) | Entry::Group(name)) => registered.built_in(&name),
                _ => None,
            });
            self.joined.entry(normalised(plugin).into()).or_default().extend(numbers);
        }
    }

    /// Adds a list. An invalid entry of an allow list allows nothing; an invalid entry of a deny list denies every
    /// tool.
    pub(super) fn add<'a>(
        &mut self,
        kind: Kind,
        place: Place,
        entries: impl IntoIterator<Item = &'a str>,
        registered: &Registered,
    ) -> ListId {
        let list = ListId::try_from(self.all.len()).expect("a configuration has a bounded size");
        let entries: Box<[Box<str>]> = entries.into_iter().map(Into::into).collect();
        for (number, text) in entries.iter().enumerate() {
            let entry = u32::try_from(number).expect("a configuration has a bounded size");
            match Entry::parse(text) {
                Ok(parsed) => self.add_entry(kind, list, entry, parsed, registered),
                Err(_) if kind.denies() => self.deny_all(list, entry),
                Err(_) => {}
            }
        }
        self.all.push(List { kind, place, entries });
        list
    }

    fn add_entry(&mut self, kind: Kind, list: ListId, entry: u32, parsed: Entry, registered: &Registered) {
        let hit = |needs| Hit { list, entry, needs };
        let by_name = match kind {
            Kind::Deny | Kind::NamesOff | Kind::Plugins => Needs::AnyName,
            Kind::Allow | Kind::Open | Kind::Names => Needs::OwnName,
            Kind::Profile => Needs::Core,
        };
        match (kind, parsed) {
            (Kind::Plugins, Entry::Name(id)) => add_to(&mut self.plugins, &id, hit(by_name)),
            (Kind::Deny | Kind::NamesOff, Entry::Name(name)) => {
                for name in registered.family(&name) {
                    add_to(&mut self.names, name, hit(by_name));
                }
                if kind == Kind::Deny {
                    add_to(&mut self.plugins, &name, hit(by_name));
                }
            }
            (_, Entry::Name(name)) => {
                add_to(&mut self.names, registered.canonical(&name), hit(by_name));
                // Allowing a tool must not allow a whole plugin whose id is the name of a missing tool.
                if matches!(kind, Kind::Allow | Kind::Open) && !registered.is_name(&name) {
                    add_to(&mut self.plugins, &name, hit(by_name));
                }
            }
            (Kind::Deny | Kind::Allow | Kind::Open, Entry::Group(group)) if group == PLUGINS => {
                self.every_plugin.push(hit(by_name));
            }
            // A crate that registers a profile knows no plugins.
            (Kind::Profile, Entry::Group(group)) if group == PLUGINS => {}
            (Kind::Open | Kind::Names | Kind::NamesOff | Kind::Plugins, _) => {}
            (_, Entry::Group(group)) => self.add_group(kind, hit(by_name), &group, registered),
            (_, Entry::NamePattern(pattern)) => {
                if kind == Kind::Deny {
                    let aliases = registered
                        .aliases()
                        .filter(|(alias, name)| matches(&pattern, alias) || matches(&pattern, name));
                    for (alias, _) in aliases {
                        for name in registered.family(alias) {
                            add_to(&mut self.names, name, hit(by_name));
                        }
                    }
                }
                self.add_pattern(pattern, false, hit(by_name));
            }
            (_, Entry::GroupPattern(pattern)) => {
                if kind == Kind::Deny && matches(&pattern, PLUGINS) {
                    self.every_plugin.push(hit(by_name));
                }
                for group in registered.built_in.iter().filter(|group| matches(&pattern, group)) {
                    self.add_group(kind, hit(by_name), group, registered);
                }
                self.add_pattern(pattern, true, hit(by_name));
            }
        }
    }

    /// Adds the tools that name the group themselves, and those that a core crate adds to it.
    fn add_group(&mut self, kind: Kind, hit: Hit, group: &str, registered: &Registered) {
        let needs = match (kind, registered.built_in(group)) {
            (Kind::Deny, _) | (_, None) => hit.needs,
            (_, Some(number)) => Needs::Joined(number),
        };
        let hit = Hit { needs, ..hit };
        add_to(&mut self.groups, group, hit);
        for member in registered.groups.get(group).into_iter().flatten() {
            if kind == Kind::Deny {
                for name in registered.family(member) {
                    add_to(&mut self.names, name, hit);
                }
            } else {
                add_to(&mut self.names, registered.canonical(member), hit);
            }
        }
    }

    fn add_pattern(&mut self, text: String, is_group: bool, hit: Hit) {
        let text: Box<str> = text.into();
        let place = &mut self.places.entry(text.clone()).or_default()[usize::from(is_group)];
        match *place {
            Some(place) => self.patterns[place].hits.push(hit),
            None => {
                *place = Some(self.patterns.len());
                self.patterns.push(Pattern { text, is_group, hits: vec![hit] });
            }
        }
    }

    /// Makes an invalid entry deny every tool.
    fn deny_all(&mut self, list: ListId, entry: u32) {
        // The first one of a list is sufficient.
        if self.unreadable.last().is_none_or(|hit| hit.list != list) {
            self.unreadable.push(Hit { list, entry, needs: Needs::AnyName });
        }
    }

    /// Prepares the search for patterns, after the last list.
    pub(super) fn finish(mut self) -> Self {
        self.places = HashMap::new();
        let (groups, names): (Vec<_>, Vec<_>) =
            self.patterns.iter().enumerate().partition(|(_, pattern)| pattern.is_group);
        self.finder = Finder::new(names.into_iter().map(|(place, pattern)| (place, &*pattern.text)));
        self.group_patterns = groups.into_iter().map(|(place, _)| place).collect();
        self
    }

    /// Returns flags for the patterns that occur in one of these lists, for [`mark`](Self::mark).
    pub(super) fn patterns_in(&self, lists: &[bool]) -> Vec<bool> {
        let is_in = |pattern: &Pattern| pattern.hits.iter().any(|hit| lists[hit.list as usize]);
        let patterns: Vec<bool> = self.patterns.iter().map(is_in).collect();
        if patterns.contains(&true) { patterns } else { Vec::new() }
    }

    /// Marks the lists that contain the tool, by their entries and by the patterns flagged in `patterns`; no patterns
    /// are used if it is empty.
    pub(super) fn mark<S: Subject>(&self, subject: &S, patterns: &[bool], marks: &mut Marks) {
        let is_core = subject.is_core();
        let plugin = if is_core { None } else { subject.plugin_id().map(|id| key(&id).into_owned()) };
        let joined = plugin.as_ref().and_then(|id| self.joined.get(&**id)).map_or(&[][..], Vec::as_slice);
        let by = |hits: &[Hit], has_alias_only: bool, marks: &mut Marks| {
            for hit in hits {
                let counts = match hit.needs {
                    Needs::AnyName => true,
                    // Any author can give a tool an alias; only the host decides which crates are core.
                    Needs::OwnName => is_core || !has_alias_only,
                    Needs::Core => is_core,
                    Needs::Joined(group) => is_core || !has_alias_only && joined.contains(&group),
                };
                if counts {
                    marks.set(hit.list, hit.entry);
                }
            }
        };
        by(&self.unreadable, false, marks);
        let deny = |hits: &[Hit], marks: &mut Marks| {
            let denying = hits.iter().filter(|hit| hit.needs == Needs::AnyName);
            denying.for_each(|hit| marks.set(hit.list, hit.entry));
        };
        let name = key(subject.name());
        if let Some(hits) = self.names.get(&*name) {
            by(hits, false, marks);
        }
        for alias in subject.aliases() {
            if let Some(hits) = self.names.get(&*key(alias)) {
                by(hits, true, marks);
            }
        }
        if !is_core {
            by(&self.every_plugin, false, marks);
        }
        if let Some(hits) = plugin.as_ref().and_then(|id| self.plugins.get(&**id)) {
            by(hits, false, marks);
        }
        if let Some(hits) = subject.remote_name().and_then(|name| self.plugins.get(&*key(name))) {
            deny(hits, marks);
        }
        let remote_group = subject.remote_group();
        if let Some(hits) = remote_group.and_then(|group| self.groups.get(group)) {
            by(hits, false, marks);
        }
        for group in subject.groups() {
            let group = key(group);
            let Some(hits) = self.groups.get(&*group) else { continue };
            // Otherwise a server's tools would be allowed by a group name that means something else to the user.
            if remote_group.is_some() || REMOTE_GROUPS.contains(&&*group) {
                deny(hits, marks);
            } else {
                by(hits, false, marks);
            }
        }
        if patterns.is_empty() {
            return;
        }
        let text = |place: usize| patterns[place].then(|| &*self.patterns[place].text);
        for own in std::iter::once(&*name).chain(plugin.as_deref()) {
            self.finder.find(own, text, |place| by(&self.patterns[place].hits, false, marks));
        }
        for alias in subject.aliases() {
            // A pattern of an allow list matches even a core tool only by its own name.
            self.finder.find(&key(alias), text, |place| {
                deny(&self.patterns[place].hits, marks);
            });
        }
        if let Some(name) = subject.remote_name() {
            self.finder.find(&key(name), text, |place| deny(&self.patterns[place].hits, marks));
        }
        for pattern in self.group_patterns.iter().filter(|place| patterns[**place]) {
            let pattern = &self.patterns[*pattern];
            // Built-in groups were looked up above, by name.
            let is_in = |group: &str| matches(&pattern.text, group) && !self.is_reserved(group);
            if remote_group.is_some_and(is_in) {
                by(&pattern.hits, false, marks);
            } else if subject.groups().any(|group| is_in(&key(group))) {
                if remote_group.is_some() {
                    deny(&pattern.hits, marks);
                } else {
                    by(&pattern.hits, false, marks);
                }
            }
        }
    }
}

fn add_to(index: &mut HashMap<Box<str>, Vec<Hit>>, key: &str, hit: Hit) {
    match index.get_mut(key) {
        Some(hits) => hits.push(hit),
        None => {
            index.insert(key.into(), vec![hit]);
        }
    }
}

/// Returns a name as it is used in the index, borrowed if it is already in that form.
fn key(name: &str) -> Cow<'_, str> {
    let is_normal = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    if name.bytes().all(is_normal) { Cow::Borrowed(name) } else { Cow::Owned(normalised(name)) }
}

/// The lists that contain a tool, each with its first matching entry.
#[derive(Debug)]
pub(super) struct Marks {
    entries: Vec<u32>,
    marked: Vec<ListId>,
}

impl Marks {
    pub(super) fn new(lists: &Lists) -> Self {
        Self { entries: vec![NONE; lists.all.len()], marked: Vec::new() }
    }

    /// Clears the marks for another tool.
    pub(super) fn clear(&mut self) {
        for list in self.marked.drain(..) {
            self.entries[list as usize] = NONE;
        }
    }

    fn set(&mut self, list: ListId, entry: u32) {
        let known = &mut self.entries[list as usize];
        if *known == NONE {
            self.marked.push(list);
        }
        *known = entry.min(*known);
    }

    pub(super) fn has(&self, list: ListId) -> bool {
        self.entries[list as usize] != NONE
    }

    /// Returns the first entry of the list that names the tool.
    pub(super) fn entry(&self, list: ListId) -> Option<u32> {
        Some(self.entries[list as usize]).filter(|entry| *entry != NONE)
    }
}

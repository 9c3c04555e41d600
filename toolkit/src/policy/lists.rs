//! Every list of a policy in one index, so that a tool is looked up once and not once a list.

use super::data::Registered;
use super::entry::{Entry, PLUGINS, matches, normalised};
use super::finder::Finder;
use super::subject::Subject;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of a list within its policy.
pub(super) type ListId = u32;

/// The groups of all tools of servers, and of clients: nobody else's word puts a tool there.
const REMOTE_GROUPS: [&str; 2] = ["mcp", "client"];

/// What stands for no entry in [`Marks`].
const NONE: u32 = u32::MAX;

/// What the entries of a list are looked up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// To deny: an entry counts for every name that leads to a tool, and for every group that somebody says it is in.
    Deny,
    /// To allow, by who configures.
    Allow,
    /// To allow, by who registered a profile, who knows no plugin: names and patterns count for core tools only.
    Profile,
    /// To open what is optional: only names, ids of plugins and `group:plugins` count.
    Open,
    /// To switch tools on by name, as an allow list does.
    Names,
    /// To switch tools off by name, as a deny list does.
    NamesOff,
    /// Ids of plugins, to deny.
    Plugins,
}

/// A list as it was written.
#[derive(Debug)]
pub(super) struct List {
    pub(super) kind: Kind,
    pub(super) place: Place,
    pub(super) entries: Box<[Box<str>]>,
}

/// Where a list stands.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In the code of the crate that registered it.
    Code,
    /// In the configuration, at this pointer.
    At(String),
    /// Spread over the members of an object: their names between these two parts of a pointer.
    Members(&'static str, &'static str),
}

impl List {
    /// The pointer to the entry; `None` where it is in no configuration.
    pub(super) fn pointer(&self, entry: u32) -> Option<String> {
        match &self.place {
            Place::Code => None,
            Place::At(pointer) => Some(format!("{pointer}/{entry}")),
            Place::Members(before, after) => {
                Some(format!("{before}{}{after}", escaped(&self.entries[entry as usize])))
            }
        }
    }
}

/// A key as a step of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// An entry that may count for a tool.
#[derive(Debug, Clone, Copy)]
struct Hit {
    list: ListId,
    entry: u32,
    needs: Needs,
}

/// What a tool must be for an entry to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    /// Nothing, and any of its names will do: the entry denies.
    AnyName,
    /// It has the very name, or a core crate gave it the alias.
    OwnName,
    /// It is a core tool.
    Core,
    /// It is a core tool, or the configuration lets its plugin join this group.
    Joined(u32),
}

/// A pattern with the lists in which it stands.
#[derive(Debug)]
struct Pattern {
    text: Box<str>,
    is_group: bool,
    hits: Vec<Hit>,
}

/// Every list of a policy.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) all: Vec<List>,
    patterns: Vec<Pattern>,
    /// The place of each text in `patterns`, of names and of groups, while lists are added.
    places: HashMap<Box<str>, [Option<usize>; 2]>,
    /// Those for names.
    finder: Finder,
    /// The places of those for groups.
    group_patterns: Vec<usize>,
    names: HashMap<Box<str>, Vec<Hit>>,
    plugins: HashMap<Box<str>, Vec<Hit>>,
    groups: HashMap<Box<str>, Vec<Hit>>,
    /// Of `group:plugins`.
    every_plugin: Vec<Hit>,
    /// Groups in which a plugin's tools do not count by their own word, sorted.
    built_in: Vec<String>,
    /// The groups that plugins may join, by their ids.
    joined: HashMap<Box<str>, Vec<u32>>,
}

impl Lists {
    pub(super) fn new(registered: &Registered) -> Self {
        Self { built_in: registered.built_in.clone(), ..Self::default() }
    }

    /// Whether what an author says of being in the group is not enough.
    fn is_reserved(&self, group: &str) -> bool {
        group == PLUGINS || self.built_in.binary_search_by(|other| other.as_str().cmp(group)).is_ok()
    }

    /// Lets the tools of plugins count in groups that are built in.
    pub(super) fn join(&mut self, groups: &BTreeMap<String, BTreeSet<String>>, registered: &Registered) {
        for (plugin, groups) in groups {
            let numbers = groups.iter().filter_map(|group| match Entry::parse(group) {
                Ok(Entry::Name(name) | Entry::Group(name)) => registered.built_in(&name),
                _ => None,
            });
            self.joined.entry(normalised(plugin).into()).or_default().extend(numbers);
        }
    }

    /// Adds a list. An entry that names nothing counts for nothing.
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
            if let Ok(parsed) = Entry::parse(text) {
                self.add_entry(kind, list, entry, parsed, registered);
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
                // Who allows a tool must not get a whole plugin that took the name of a tool that is not there.
                if matches!(kind, Kind::Allow | Kind::Open) && !registered.is_name(&name) {
                    add_to(&mut self.plugins, &name, hit(by_name));
                }
            }
            (Kind::Deny | Kind::Allow | Kind::Open, Entry::Group(group)) if group == PLUGINS => {
                self.every_plugin.push(hit(by_name));
            }
            // Who registers a profile knows no plugin.
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

    /// The tools that name the group, and those of which a core crate says that they are in it.
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

    /// Makes the patterns ready, after the last list.
    pub(super) fn finish(mut self) -> Self {
        self.places = HashMap::new();
        let (groups, names): (Vec<_>, Vec<_>) =
            self.patterns.iter().enumerate().partition(|(_, pattern)| pattern.is_group);
        self.finder = Finder::new(names.into_iter().map(|(place, pattern)| (place, &*pattern.text)));
        self.group_patterns = groups.into_iter().map(|(place, _)| place).collect();
        self
    }

    /// Which patterns stand in one of these lists, for [`mark`](Self::mark).
    pub(super) fn patterns_in(&self, lists: &[bool]) -> Vec<bool> {
        let is_in = |pattern: &Pattern| pattern.hits.iter().any(|hit| lists[hit.list as usize]);
        let patterns: Vec<bool> = self.patterns.iter().map(is_in).collect();
        if patterns.contains(&true) { patterns } else { Vec::new() }
    }

    /// Marks the lists that have the tool, by their entries and by those patterns that `patterns` says; none where it is
    /// empty.
    pub(super) fn mark<S: Subject>(&self, subject: &S, patterns: &[bool], marks: &mut Marks) {
        let is_core = subject.is_core();
        let plugin = if is_core { None } else { subject.plugin_id().map(|id| key(&id).into_owned()) };
        let joined = plugin.as_ref().and_then(|id| self.joined.get(&**id)).map_or(&[][..], Vec::as_slice);
        let by = |hits: &[Hit], has_alias_only: bool, marks: &mut Marks| {
            for hit in hits {
                let counts = match hit.needs {
                    Needs::AnyName => true,
                    // Anybody can give a tool an alias; only the host says what is core.
                    Needs::OwnName => is_core || !has_alias_only,
                    Needs::Core => is_core,
                    Needs::Joined(group) => is_core || !has_alias_only && joined.contains(&group),
                };
                if counts {
                    marks.set(hit.list, hit.entry);
                }
            }
        };
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
            // A server would be let in by a group that the user knows something else by.
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
            // Even a core tool is allowed by a pattern only under its own name.
            self.finder.find(&key(alias), text, |place| {
                deny(&self.patterns[place].hits, marks);
            });
        }
        if let Some(name) = subject.remote_name() {
            self.finder.find(&key(name), text, |place| deny(&self.patterns[place].hits, marks));
        }
        for pattern in self.group_patterns.iter().filter(|place| patterns[**place]) {
            let pattern = &self.patterns[*pattern];
            // Those that are built in were looked up above, under their names.
            let is_in = |group: &str| matches(&pattern.text, group) && !self.is_reserved(group);
            if remote_group.is_some_and(is_in) {
                by(&pattern.hits, false, marks);
            } else if subject.groups().any(|group| is_in(&key(group))) {
                if remote_group.is_some() {
                    deny(&pattern.hits, marks)
                } else {
                    by(&pattern.hits, false, marks)
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

/// A name as the index has it, without a copy where it is so already.
fn key(name: &str) -> Cow<'_, str> {
    let is_normal = |byte: u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
    if name.bytes().all(is_normal) { Cow::Borrowed(name) } else { Cow::Owned(normalised(name)) }
}

/// The lists that have a tool, each with the first entry by which it does.
#[derive(Debug)]
pub(super) struct Marks {
    entries: Vec<u32>,
    marked: Vec<ListId>,
}

impl Marks {
    pub(super) fn new(lists: &Lists) -> Self {
        Self { entries: vec![NONE; lists.all.len()], marked: Vec::new() }
    }

    /// Ready for another tool.
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

    /// The first entry of the list that names the tool.
    pub(super) fn entry(&self, list: ListId) -> Option<u32> {
        Some(self.entries[list as usize]).filter(|entry| *entry != NONE)
    }
}

//! What crates of tools register of policies: groups, profiles and aliases.
//!
//! The runtime knows no tool by name; [`policy_data!`](crate::policy_data) is how the names get here.

use super::entry::{PLUGINS, normalised};
use super::settings::ProfileRules;
use crate::link::{Linked, Links};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// What a crate registers with [`policy_data!`](crate::policy_data).
#[derive(Debug, Clone, Copy)]
pub struct PolicyData {
    /// The module that registers it; its first segment is the crate.
    pub module: &'static str,
    /// Groups with the names of their tools, beside those that name the group themselves.
    pub groups: &'static [(&'static str, &'static [&'static str])],
    /// Profiles with their entries; `None` for every tool.
    pub profiles: &'static [(&'static str, Option<&'static [&'static str]>)],
    /// Other names that lists may use, each with the tool that it means.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Further names that are no mistake in a list, though no tool of such a name need be there.
    pub names: &'static [&'static str],
    /// Names of tools to come, which no plugin, server or client can have meanwhile.
    pub planned: &'static [&'static str],
}

inventory::collect!(PolicyData);

/// What all core crates together register; every name in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    /// Groups with the names of their tools.
    pub(crate) groups: BTreeMap<String, BTreeSet<String>>,
    /// The groups in which a plugin's tools do not count by their own word, sorted.
    pub(crate) built_in: Vec<String>,
    /// Profiles by name; where two have one name, both hold.
    pub(crate) profiles: BTreeMap<String, Vec<ProfileRules>>,
    /// Aliases, to the tool.
    aliases: BTreeMap<String, String>,
    /// Tools, to their aliases.
    families: BTreeMap<String, BTreeSet<String>>,
    /// Further names that are no mistake in a list.
    pub(crate) names: BTreeSet<String>,
}

impl Default for Registered {
    /// Nothing but the profile that is there without any configuration, which has every tool.
    fn default() -> Self {
        Self {
            groups: BTreeMap::new(),
            built_in: Vec::new(),
            profiles: BTreeMap::from([("full".to_owned(), vec![ProfileRules::default()])]),
            aliases: BTreeMap::new(),
            families: BTreeMap::new(),
            names: BTreeSet::new(),
        }
    }
}

/// The names of tools to come that the core crates register, in the order of the linker.
pub(crate) fn planned(links: &Links) -> impl Iterator<Item = &'static str> {
    let of_core = |data: &&PolicyData| links.is_core(data.crate_name());
    inventory::iter::<PolicyData>().filter(of_core).flat_map(|data| data.planned).copied()
}

impl PolicyData {
    fn crate_name(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

impl Registered {
    /// What the core crates of this process register, by the `link!` lists as they stand.
    pub(crate) fn linked() -> &'static Self {
        static LINKED: LazyLock<Registered> =
            LazyLock::new(|| Registered::by(&Links::collect(&[], &mut Vec::new())));
        &LINKED
    }

    /// What the crates register that are core by these lists.
    pub(crate) fn by(links: &Links) -> Self {
        let mut registered = Self::default();
        let mut core_groups = BTreeSet::new();
        for Linked(def) in inventory::iter::<Linked>() {
            if links.is_core(def.location.crate_name()) {
                core_groups.extend(def.groups.iter().map(|group| normalised(group)));
            }
        }
        let of_core = |data: &&PolicyData| links.is_core(data.crate_name());
        inventory::iter::<PolicyData>().filter(of_core).for_each(|data| registered.add(data));
        registered.reserve(core_groups);
        registered
    }

    /// Adds what one crate registers.
    pub(crate) fn add(&mut self, data: &PolicyData) {
        for (name, members) in data.groups {
            let members = members.iter().map(|member| normalised(member));
            self.groups.entry(normalised(name)).or_default().extend(members);
            self.reserve([normalised(name)]);
        }
        for (name, entries) in data.profiles {
            let allow = entries.map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect());
            let rules = ProfileRules { allow, ..ProfileRules::default() };
            self.profiles.entry(normalised(name)).or_default().push(rules);
        }
        for (alias, name) in data.aliases {
            let (alias, name) = (normalised(alias), normalised(name));
            // Of two crates that give one alias to two tools, the first tool by name has it.
            let taken = self.aliases.get(&alias).is_some_and(|other| *other <= name);
            if !taken {
                self.aliases.insert(alias, name);
            }
        }
        self.names.extend(data.names.iter().map(|name| normalised(name)));
        self.families.clear();
        for (alias, name) in &self.aliases {
            self.families.entry(name.clone()).or_default().insert(alias.clone());
        }
    }

    /// Groups in which a plugin's tools do not count by their own word.
    fn reserve(&mut self, groups: impl IntoIterator<Item = String>) {
        self.built_in.extend(groups.into_iter().filter(|group| group != PLUGINS));
        self.built_in.sort_unstable();
        self.built_in.dedup();
    }

    /// The number of a group that is built in.
    pub(crate) fn built_in(&self, group: &str) -> Option<u32> {
        let place = self.built_in.binary_search_by(|other| other.as_str().cmp(group)).ok()?;
        u32::try_from(place).ok()
    }

    /// The tool that a name means.
    pub(crate) fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// The tool that lists mean by a name, be it compiled in or not.
    pub(crate) fn meant_by(&self, name: &str) -> Option<&str> {
        let canonical = self.canonical(name);
        let known = self.families.get_key_value(canonical).map(|(name, _)| name);
        let of_groups = || self.groups.values().find_map(|members| members.get(canonical));
        known.or_else(of_groups).map(String::as_str)
    }

    /// A name with every other that means the same tool.
    pub(crate) fn family<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let canonical = self.canonical(name);
        let aliases = self.families.get(canonical).into_iter().flatten().map(String::as_str);
        std::iter::once(canonical).chain(aliases)
    }

    /// Every alias, with the tool that it means.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases.iter().map(|(alias, name)| (alias.as_str(), name.as_str()))
    }

    /// Whether the name is known as that of a tool, be it compiled in or not.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.aliases.contains_key(name)
            || self.families.contains_key(name)
            || self.groups.values().any(|members| members.contains(name))
    }
}

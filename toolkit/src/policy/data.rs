//! Policy data registered by tool crates: groups, profiles and aliases.
//!
//! The runtime knows no tool by name; crates register names with [`policy_data!`](crate::policy_data).

use super::entry::{PLUGINS, normalised};
use super::settings::ProfileRules;
use crate::link::{Linked, Links};
use crate::linked::PolicyData;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The combined policy data of all core crates, with every name in lower case.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    /// Groups with the names of their tools.
    pub(crate) groups: BTreeMap<String, BTreeSet<String>>,
    /// Groups in which a plugin's tools are counted only if the configuration says so, sorted.
    pub(crate) built_in: Vec<String>,
    /// Profiles by name; if two crates define the same name, both apply.
    pub(crate) profiles: BTreeMap<String, Vec<ProfileRules>>,
    /// Aliases, with their tools.
    aliases: BTreeMap<String, String>,
    /// Tools, with their aliases.
    families: BTreeMap<String, BTreeSet<String>>,
    /// Further names that are accepted in lists.
    pub(crate) names: BTreeSet<String>,
}

impl Default for Registered {
    /// Contains only the built-in profile, which has every tool.
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

/// Returns the names of planned tools that the core crates register, in the linker's order.
pub(crate) fn planned(links: &Links) -> impl Iterator<Item = &'static str> {
    let of_core = |data: &&PolicyData| links.is_core(data.crate_name());
    inventory::iter::<PolicyData>().filter(of_core).flat_map(|data| data.planned).copied()
}

impl Registered {
    /// Returns the data of the core crates of this process, according to the `link!` lists in their original order.
    pub(crate) fn linked() -> &'static Self {
        static LINKED: LazyLock<Registered> =
            LazyLock::new(|| Registered::by(&Links::collect(&[], &mut Vec::new())));
        &LINKED
    }

    /// Returns the data of the crates that are core according to these lists.
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

    /// Adds the data of one crate.
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
            // If two crates give one alias to two tools, the first tool by name has it.
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

    /// Marks groups in which a plugin's tools are counted only if the configuration says so.
    fn reserve(&mut self, groups: impl IntoIterator<Item = String>) {
        self.built_in.extend(groups.into_iter().filter(|group| group != PLUGINS));
        self.built_in.sort_unstable();
        self.built_in.dedup();
    }

    /// Returns the index of a built-in group.
    pub(crate) fn built_in(&self, group: &str) -> Option<u32> {
        let place = self.built_in.binary_search_by(|other| other.as_str().cmp(group)).ok()?;
        u32::try_from(place).ok()
    }

    /// Returns the tool that a name means.
    pub(crate) fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// Returns the tool that a name in a list means, whether or not it is compiled in.
    pub(crate) fn meant_by(&self, name: &str) -> Option<&str> {
        let canonical = self.canonical(name);
        let known = self.families.get_key_value(canonical).map(|(name, _)| name);
        let of_groups = || self.groups.values().find_map(|members| members.get(canonical));
        known.or_else(of_groups).map(String::as_str)
    }

    /// Returns a name and all other names of the same tool.
    pub(crate) fn family<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let canonical = self.canonical(name);
        let aliases = self.families.get(canonical).into_iter().flatten().map(String::as_str);
        std::iter::once(canonical).chain(aliases)
    }

    /// Returns every alias, with the tool that it means.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases.iter().map(|(alias, name)| (alias.as_str(), name.as_str()))
    }

    /// Returns true if a tool of this name is known, whether or not it is compiled in.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        self.aliases.contains_key(name)
            || self.families.contains_key(name)
            || self.groups.values().any(|members| members.contains(name))
    }
}

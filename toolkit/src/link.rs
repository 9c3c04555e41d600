//! The crates that a host expects tools from.
//!
//! A dependency that no code mentions is not linked at all, and its tools are silently absent. [`link!`](crate::link)
//! mentions crates, defines their order, and lets the toolkit check at start-up that each registered something.

use crate::linked::LinkedSkills;
use crate::tool::def::ToolDef;
use std::collections::{BTreeMap, HashMap, HashSet};
use toolkit_core::diagnostic::{Diagnostic, Level};

/// An entry of a `link!` list.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The crate's own name, as Rust code writes it.
    pub crate_name: &'static str,
    /// True if its tools are core tools.
    pub core: bool,
    /// Its index in the list, from 0.
    pub order: u32,
    /// The module that contains the list; its first segment is the crate.
    pub module: &'static str,
    /// The file of the list.
    pub file: &'static str,
    /// The line of the entry, from 1.
    pub line: u32,
}

inventory::collect!(Link);

impl Link {
    /// Returns the crate that contains the list.
    fn list(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

/// A tool that is linked into this process.
#[derive(Debug, Clone, Copy)]
pub struct Linked(pub &'static ToolDef);

inventory::collect!(Linked);

/// The order of the crates, and the set of core crates.
#[derive(Debug, Default)]
pub(crate) struct Links {
    rank: HashMap<&'static str, (usize, bool), foldhash::fast::RandomState>,
}

impl Links {
    /// Collects all lists of this process: those of the crates in `first`, in that order, then those of crates that no
    /// other list links. The crates of a linked crate's own list come right after it.
    pub(crate) fn collect(first: &[String], diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut lists: BTreeMap<&'static str, Vec<&'static Link>> = BTreeMap::new();
        for link in inventory::iter::<Link>() {
            lists.entry(link.list()).or_default().push(link);
        }
        for list in lists.values_mut() {
            list.sort_by_key(|link| (link.module, link.file, link.order));
        }
        let listed: HashSet<&str> = lists
            .iter()
            .flat_map(|(list, links)| links.iter().filter(move |link| link.crate_name != *list))
            .map(|link| link.crate_name)
            .collect();
        let roots = first
            .iter()
            .filter_map(|name| lists.get_key_value(name.as_str()))
            .chain(lists.iter().filter(|(list, _)| !listed.contains(**list)))
            // The remaining lists link each other in a cycle.
            .chain(lists.iter());
        let mut links = Self::default();
        let mut walked = HashSet::new();
        for (list, _) in roots {
            links.walk(list, true, &lists, &mut walked, diagnostics);
        }
        links
    }

    fn walk(
        &mut self,
        list: &'static str,
        may_be_core: bool,
        lists: &BTreeMap<&'static str, Vec<&'static Link>>,
        walked: &mut HashSet<&'static str>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        if !walked.insert(list) {
            return;
        }
        for link in lists.get(list).into_iter().flatten() {
            // Only the host decides which crates are core: a crate that is not core cannot make another one core.
            let core = link.core && may_be_core;
            if link.core && !core {
                let message = format!(
                    "`core: {}` in the `toolkit::link!` of `{list}` has no effect: only the program, or a crate that it \
                     marks as core, can set it",
                    link.crate_name
                );
                let place = format!("{}:{}", link.file, link.line);
                diagnostics.push(Diagnostic::new(Level::Warning, list, message).with_location(place));
            }
            let place = self.rank.len();
            self.rank.entry(link.crate_name).or_insert((place, false)).1 |= core;
            self.walk(link.crate_name, core, lists, walked, diagnostics);
        }
    }

    /// Creates the links of these crates in this order, with a flag for core crates.
    #[cfg(test)]
    pub(crate) fn of(crates: &[(&'static str, bool)]) -> Self {
        let ranked = crates.iter().enumerate();
        Self { rank: ranked.map(|(place, (name, core))| (*name, (place, *core))).collect() }
    }

    /// Returns the rank of a crate: linked crates in their order, all others after them.
    pub(crate) fn rank(&self, crate_name: &str) -> usize {
        self.rank.get(crate_name).map_or(usize::MAX, |(place, _)| *place)
    }

    pub(crate) fn has_core(&self) -> bool {
        self.rank.values().any(|(_, core)| *core)
    }

    pub(crate) fn is_core(&self, crate_name: &str) -> bool {
        self.rank.get(crate_name).is_some_and(|(_, core)| *core)
    }
}

/// Returns the problems of the `link!` lists: crates that registered nothing.
pub(crate) fn silent_crates() -> Vec<String> {
    let mut silent: Vec<String> = inventory::iter::<Link>()
        .filter(|link| {
            !inventory::iter::<Linked>().any(|Linked(def)| def.location.crate_name() == link.crate_name)
                && !inventory::iter::<LinkedSkills>().any(|skills| skills.crate_name() == link.crate_name)
                // A program and a library of one package share a name: only a list in another crate shows that the
                // library exists.
                && !inventory::iter::<Link>().any(|other| {
                    other.list() == link.crate_name && (other.module, other.file) != (link.module, link.file)
                })
        })
        .map(|link| {
            format!(
                "the crate `{name}` in `toolkit::link!` at {file}:{line} registered nothing: either no `#[tool]` in it is \
                 compiled in (is the cargo feature with its tools on?), or `{name}` is what Cargo.toml renames it to \
                 (then write `link!({name} as its_own_name)`), or it has no tools (then take it out of `link!`)",
                name = link.crate_name,
                file = link.file,
                line = link.line,
            )
        })
        .collect();
    silent.sort_unstable();
    silent.dedup();
    silent
}

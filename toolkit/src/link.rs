//! Which crates a host expects tools from.
//!
//! A dependency that no code mentions is not linked at all, and its tools are silently absent.
//! [`link!`](crate::link) mentions crates, keeps their order and lets the start-up check that each brought something.

use crate::tool_def::ToolDef;
use std::collections::HashMap;

/// An entry of a `link!` list.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The crate, as Rust code writes its own name.
    pub crate_name: &'static str,
    /// Whether its tools are core tools.
    pub core: bool,
    /// Its place in the list, from 0.
    pub order: u32,
    /// The module in which the list stands; its first segment is the crate.
    pub module: &'static str,
    /// The file of the list.
    pub file: &'static str,
    /// The line of the entry, from 1.
    pub line: u32,
}

inventory::collect!(Link);

impl Link {
    fn list(&self) -> &'static str {
        self.module.split("::").next().unwrap_or(self.module)
    }
}

/// A tool that is linked into this process.
#[derive(Debug, Clone, Copy)]
pub struct Linked(pub &'static ToolDef);

inventory::collect!(Linked);

/// The order of the crates, and which are core.
#[derive(Debug, Default)]
pub(crate) struct Links {
    rank: HashMap<&'static str, (usize, bool)>,
}

impl Links {
    /// All lists of this process: those of the crates in `first` in that order, then the others by name.
    pub(crate) fn collect(first: &[String]) -> Self {
        let mut links: Vec<&Link> = inventory::iter::<Link>().collect();
        links.sort_by_key(|link| {
            let place = first.iter().position(|list| list == link.list()).unwrap_or(first.len());
            (place, link.module, link.file, link.order)
        });
        let mut rank = HashMap::new();
        for (place, link) in links.into_iter().enumerate() {
            let entry = rank.entry(link.crate_name).or_insert((place, false));
            entry.1 |= link.core;
        }
        Self { rank }
    }

    /// The place of a crate: linked ones in their order, all others after them.
    pub(crate) fn rank(&self, crate_name: &str) -> usize {
        self.rank.get(crate_name).map_or(usize::MAX, |(place, _)| *place)
    }

    pub(crate) fn is_core(&self, crate_name: &str) -> bool {
        self.rank.get(crate_name).is_some_and(|(_, core)| *core)
    }
}

/// What is wrong with the `link!` lists: crates that brought nothing.
pub(crate) fn silent_crates() -> Vec<String> {
    let mut silent: Vec<String> = inventory::iter::<Link>()
        .filter(|link| {
            !inventory::iter::<Linked>().any(|Linked(def)| def.location.crate_name() == link.crate_name)
                && !inventory::iter::<Link>().any(|other| other.list() == link.crate_name)
        })
        .map(|link| {
            format!(
                "the crate `{name}` in `toolkit::link!` at {file}:{line} registered nothing: either no `#[tool]` in it is \
                 compiled in (is the cargo feature with its tools on?), or `{name}` is what Cargo.toml renames it to \
                 (then write `link!({name} as its_own_name)`)",
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

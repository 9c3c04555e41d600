//! Snapshots of the tools of a toolkit.

use super::change::RegisterError;
use super::index::Index;
use super::origins::Origins;
use crate::policy;
use crate::tool::Tool;
use crate::tool::prepare::has_placeholder;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use toolkit_core::diagnostic::{Diagnostic, Level};

/// A snapshot of the tools of a toolkit, by name: a slice of [`Tool`]s that never changes. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tools(Arc<Listing>);

/// The content of a snapshot, in arrays of small values, which calls and hosts read without traversing a tree.
#[derive(Clone, Default)]
pub(super) struct Listing {
    /// The tools, sorted by name.
    tools: Vec<Tool>,
    /// The index from names and aliases to `tools`.
    index: Index,
    /// Registration numbers, which distinguish a tool from a later one of the same name; a replacement keeps the
    /// number.
    registrations: Vec<u64>,
    version: u64,
    /// The number of tools that need a preparation.
    preparing: usize,
}

/// The registration number of a tool that only one toolbox has.
const UNREGISTERED: u64 = 0;
/// The registration number of tools that were there when the toolkit was built.
pub(super) const FIRST: u64 = 1;

impl Tools {
    /// Builds a listing of tools sorted by unique names. An alias never takes a name, nor an alias of an earlier crate.
    pub(super) fn build(tools: Vec<Tool>, origins: &Origins, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut index = Index::with_capacity(tools.len());
        for (place, tool) in tools.iter().enumerate() {
            index.insert(tool.name(), place, 0);
        }
        let mut order: Vec<usize> =
            (0..tools.len()).filter(|place| tools[*place].aliases().len() > 0).collect();
        order.sort_by_cached_key(|place| {
            let tool = &tools[*place];
            (!origins.is_core(tool), origins.rank(&tool.stated().location), *place)
        });
        for place in order {
            let tool = &tools[place];
            for (number, alias) in tool.aliases().enumerate() {
                match alias_fault(tool, alias, &index, &tools, origins) {
                    Some(fault) => diagnostics.push(alias_left_out(tool, alias, &fault)),
                    None => index.insert(alias, place, number + 1),
                }
            }
        }
        let registrations = vec![FIRST; tools.len()];
        let preparing = tools.iter().filter(|tool| prepares(tool)).count();
        Self(Arc::new(Listing { tools, index, registrations, version: 0, preparing }))
    }

    /// Returns the index of the tool of this name or alias.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.0.index.get(name, &self.0.tools)
    }

    /// Returns the tool of this name or alias.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.place(name).map(|place| &self.0.tools[place])
    }

    /// Returns the number of changes before this snapshot.
    pub(crate) fn version(&self) -> u64 {
        self.0.version
    }

    /// Returns true if any tool needs a preparation.
    pub(crate) fn prepare(&self) -> bool {
        self.0.preparing > 0
    }

    /// Returns true if the tool at this index is still in `now`, or was replaced there by its source.
    pub(crate) fn is_still_in(&self, place: usize, now: &Self) -> bool {
        let registration = self.0.registrations[place];
        registration == UNREGISTERED
            || now
                .0
                .tools
                .binary_search_by(|tool| tool.name().cmp(self[place].name()))
                .is_ok_and(|place| now.0.registrations[place] == registration)
    }

    /// Returns the reason why a tool cannot be added, if there is one.
    pub(super) fn check(&self, tool: &Tool, origins: &Origins) -> Result<(), RegisterError> {
        self.0.check(tool, origins)
    }

    /// Copies the tools for a change; the result is the next version.
    pub(super) fn edit(&self) -> Edit {
        let Listing { tools, index, registrations, version, preparing } = &*self.0;
        // Room for one more, so that adding one copies once.
        let mut listing = Listing {
            tools: Vec::with_capacity(tools.len() + 1),
            index: index.clone(),
            registrations: registrations.clone(),
            version: *version,
            preparing: *preparing,
        };
        listing.tools.extend_from_slice(tools);
        Edit::of(listing)
    }

    /// Returns the listing, if this is its last reference.
    pub(super) fn into_listing(self) -> Option<Listing> {
        Arc::try_unwrap(self.0).ok()
    }

    /// Copies the tools and adds tools of one toolbox: the versions stay the same.
    pub(crate) fn for_one_toolbox(
        &self,
        origins: &Origins,
        change: impl FnOnce(&mut Edit, &Origins),
    ) -> Self {
        let mut edit = self.edit();
        change(&mut edit, origins);
        Self(Arc::new(edit.0))
    }
}

impl Deref for Tools {
    type Target = [Tool];

    fn deref(&self) -> &[Tool] {
        &self.0.tools
    }
}

impl<'a> IntoIterator for &'a Tools {
    type Item = &'a Tool;
    type IntoIter = std::slice::Iter<'a, Tool>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(Tool::name)).finish()
    }
}

/// A listing that is being changed and not visible yet, with the changes made to it.
pub(crate) struct Edit(Listing, Vec<Op>);

/// A step of a change, which can be repeated on another listing of the same content.
pub(super) enum Op {
    Insert { place: usize, tool: Tool, registration: u64 },
    Remove { place: usize },
}

impl Listing {
    /// Repeats the steps that were made with another listing of the same content.
    pub(super) fn follow(&mut self, steps: Vec<Op>) {
        for step in steps {
            match step {
                Op::Insert { place, tool, registration } => self.insert(place, tool, registration),
                Op::Remove { place } => drop(self.remove(place)),
            }
        }
        self.version += 1;
    }

    /// Inserts a tool with unused names at its index.
    fn insert(&mut self, place: usize, tool: Tool, registration: u64) {
        self.index.shift_up(place);
        self.preparing += usize::from(prepares(&tool));
        self.tools.insert(place, tool);
        self.registrations.insert(place, registration);
        let tool = &self.tools[place];
        self.index.insert(tool.name(), place, 0);
        for (number, alias) in tool.aliases().enumerate() {
            self.index.insert(alias, place, number + 1);
        }
    }

    /// Returns the reason why a tool cannot be added, if there is one.
    fn check(&self, tool: &Tool, origins: &Origins) -> Result<(), RegisterError> {
        let is_core = origins.is_core(tool);
        if !is_core
            && let Some(id) = tool.plugin_id()
            && let Some(core) = origins.core_tool_of_id(id)
        {
            return Err(RegisterError::Blocked {
                tool: tool.name().to_owned(),
                id: id.to_owned(),
                core: core.to_owned(),
            });
        }
        for (number, name) in std::iter::once(tool.name()).chain(tool.aliases()).enumerate() {
            // Lists may name core tools that are not linked: a server's tool must not take such a name.
            let meant = || tool.source().is_remote().then(|| policy::core_name(name)).flatten();
            if !is_core && let Some(core) = origins.core_tool_of(name).or_else(meant) {
                return Err(RegisterError::Reserved {
                    tool: tool.name().to_owned(),
                    name: name.to_owned(),
                    core: core.to_owned(),
                });
            }
            if !is_core && origins.is_planned(name) {
                return Err(RegisterError::Planned { tool: tool.name().to_owned(), name: name.to_owned() });
            }
            if let Some(place) = self.index.get(name, &self.tools) {
                return Err(RegisterError::taken(tool, name, &self.tools[place]));
            }
            let is_own =
                std::iter::once(tool.name()).chain(tool.aliases()).take(number).any(|own| own == name);
            if is_own {
                return Err(RegisterError::taken(tool, name, tool));
            }
            if number > 0 && origins.is_withheld(name) {
                return Err(RegisterError::Withheld { tool: tool.name().to_owned(), name: name.to_owned() });
            }
        }
        Ok(())
    }

    fn remove(&mut self, place: usize) -> (Tool, u64) {
        self.preparing -= usize::from(prepares(&self.tools[place]));
        self.index.remove_place(place, &self.tools[place]);
        (self.tools.remove(place), self.registrations.remove(place))
    }
}

impl Edit {
    pub(super) fn of(listing: Listing) -> Self {
        Self(listing, Vec::new())
    }

    /// Returns the next version, and the steps to it.
    pub(super) fn finish(mut self) -> (Tools, Vec<Op>) {
        self.0.version += 1;
        (Tools(Arc::new(self.0)), self.1)
    }

    /// Returns the listing, if it was not changed.
    pub(super) fn unchanged(self) -> Option<Listing> {
        self.1.is_empty().then_some(self.0)
    }

    pub(super) fn tools(&self) -> &[Tool] {
        &self.0.tools
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.0.index.get(name, &self.0.tools)
    }

    /// Adds a tool; its names must be unused.
    pub(super) fn insert(
        &mut self,
        tool: Tool,
        registration: u64,
        origins: &Origins,
    ) -> Result<(), RegisterError> {
        self.0.check(&tool, origins)?;
        let Err(place) = self.0.tools.binary_search_by(|other| other.name().cmp(tool.name())) else {
            return Err(RegisterError::taken(&tool, tool.name(), &tool));
        };
        self.1.push(Op::Insert { place, tool: tool.clone(), registration });
        self.0.insert(place, tool, registration);
        Ok(())
    }

    /// Removes the tool at this index; returns it and its registration number.
    pub(super) fn remove(&mut self, place: usize) -> (Tool, u64) {
        self.1.push(Op::Remove { place });
        self.0.remove(place)
    }

    /// Replaces a tool by one of the same name, for one toolbox only. The aliases stay those of the first.
    pub(crate) fn put(&mut self, place: usize, tool: Tool) {
        debug_assert_eq!(self.0.tools[place].name(), tool.name(), "a prepared tool keeps its name");
        self.0.tools[place] = tool;
    }

    /// Adds a tool for one toolbox only.
    ///
    /// # Errors
    ///
    /// Returns the owner of the tool's name or of one of its aliases, if it is taken.
    pub(crate) fn add(&mut self, tool: Tool, origins: &Origins) -> Result<(), RegisterError> {
        self.insert(tool, UNREGISTERED, origins)
    }
}

/// Returns true if the tool needs a preparation. Tools of other sources are shown unchanged.
fn prepares(tool: &Tool) -> bool {
    tool.def().is_some_and(|def| def.prepare.is_some() || has_placeholder(tool.description()))
}

/// Returns the reason why a tool cannot have an alias, if there is one.
fn alias_fault(tool: &Tool, alias: &str, index: &Index, tools: &[Tool], origins: &Origins) -> Option<String> {
    if let Some(other) = index.get(alias, tools) {
        return Some(format!("it already names `{}`", tools[other].name()));
    }
    match origins.core_tool_of(alias) {
        Some(core) if !origins.is_core(tool) => Some(format!("it is a name of the core tool `{core}`")),
        _ if origins.is_withheld(alias) => Some("it names a tool that is switched off".to_owned()),
        _ => None,
    }
}

fn alias_left_out(tool: &Tool, alias: &str, fault: &str) -> Diagnostic {
    let crate_name = tool.crate_name();
    let source = if crate_name.is_empty() { tool.source().to_string() } else { crate_name.to_owned() };
    let message = format!("the alias `{alias}` of the tool `{}` is left out: {fault}", tool.name());
    let diagnostic = Diagnostic::new(Level::Warning, source, message);
    let diagnostic = tool.location().into_iter().fold(diagnostic, Diagnostic::with_location);
    tool.plugin_id().into_iter().fold(diagnostic, Diagnostic::with_plugin)
}

//! The tools of a toolkit at one moment.

use super::change::RegisterError;
use super::index::Index;
use super::origins::Origins;
use crate::diagnostic::{Diagnostic, Level};
use crate::policy;
use crate::prepare::has_placeholder;
use crate::tool::Tool;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The tools of a toolkit at one moment, by name: a slice of [`Tool`]s that never changes. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tools(Arc<Listing>);

/// In whole arrays of small things, which calls and hosts read without following a tree.
#[derive(Clone, Default)]
pub(super) struct Listing {
    /// By name, in that order.
    tools: Vec<Tool>,
    /// Names and aliases, to the place in `tools`.
    index: Index,
    /// What tells a tool from another one that got its name later; the same for one that replaced it.
    registrations: Vec<u64>,
    version: u64,
    /// How many of them are to be made ready for a caller.
    preparing: usize,
}

/// Of a tool that only one toolbox has.
const UNREGISTERED: u64 = 0;
/// Of what was there when the toolkit was built.
pub(super) const FIRST: u64 = 1;

impl Tools {
    /// Of tools by name, none of them twice. An alias never takes a name, nor an alias that an earlier crate has.
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

    /// The place of the tool of this name or alias.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.0.index.get(name, &self.0.tools)
    }

    /// The tool of this name or alias.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.place(name).map(|place| &self.0.tools[place])
    }

    /// How many changes there were until this moment.
    pub(crate) fn version(&self) -> u64 {
        self.0.version
    }

    /// Whether any of them is to be made ready for a caller.
    pub(crate) fn prepare(&self) -> bool {
        self.0.preparing > 0
    }

    /// Whether the tool at this place is still one of `now`, or was replaced by one of its own.
    pub(crate) fn is_still_in(&self, place: usize, now: &Self) -> bool {
        let registration = self.0.registrations[place];
        registration == UNREGISTERED
            || now
                .0
                .tools
                .binary_search_by(|tool| tool.name().cmp(self[place].name()))
                .is_ok_and(|place| now.0.registrations[place] == registration)
    }

    /// The same tools, to be changed; what is changed is the next version.
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

    /// The list itself, where nobody else looks at it any more.
    pub(super) fn into_listing(self) -> Option<Listing> {
        Arc::try_unwrap(self.0).ok()
    }

    /// These with tools of one toolbox alone: the versions stay the same.
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

/// A list that is being changed, and that nobody sees yet; and what was changed about it.
pub(crate) struct Edit(Listing, Vec<Op>);

/// One step of a change, by which another list of the same content becomes the same.
pub(super) enum Op {
    Insert { place: usize, tool: Tool, registration: u64 },
    Remove { place: usize },
}

impl Listing {
    /// Goes through the steps that were made with another list of this very content.
    pub(super) fn follow(&mut self, steps: Vec<Op>) {
        for step in steps {
            match step {
                Op::Insert { place, tool, registration } => self.insert(place, tool, registration),
                Op::Remove { place } => drop(self.remove(place)),
            }
        }
        self.version += 1;
    }

    /// Adds a tool whose names nobody has, where it belongs.
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

    /// The next version, and the steps to it.
    pub(super) fn finish(mut self) -> (Tools, Vec<Op>) {
        self.0.version += 1;
        (Tools(Arc::new(self.0)), self.1)
    }

    /// The list, where nothing was changed about it.
    pub(super) fn unchanged(self) -> Option<Listing> {
        self.1.is_empty().then_some(self.0)
    }

    pub(super) fn tools(&self) -> &[Tool] {
        &self.0.tools
    }

    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.0.index.get(name, &self.0.tools)
    }

    /// Adds a tool; none of its names may be taken.
    pub(super) fn insert(
        &mut self,
        tool: Tool,
        registration: u64,
        origins: &Origins,
    ) -> Result<(), RegisterError> {
        self.check(&tool, origins)?;
        let Err(place) = self.0.tools.binary_search_by(|other| other.name().cmp(tool.name())) else {
            return Err(RegisterError::taken(&tool, tool.name(), &tool));
        };
        self.1.push(Op::Insert { place, tool: tool.clone(), registration });
        self.0.insert(place, tool, registration);
        Ok(())
    }

    /// Takes out the tool at this place; says by which registration it was there.
    pub(super) fn remove(&mut self, place: usize) -> (Tool, u64) {
        self.1.push(Op::Remove { place });
        self.0.remove(place)
    }

    /// Puts another tool in the place of one of its name, for one toolbox alone. Its aliases stay those of the first.
    pub(crate) fn put(&mut self, place: usize, tool: Tool) {
        debug_assert_eq!(self.0.tools[place].name(), tool.name(), "a prepared tool keeps its name");
        self.0.tools[place] = tool;
    }

    /// Adds a tool for one toolbox alone.
    ///
    /// # Errors
    ///
    /// Whose the name is that it has, or one of its aliases.
    pub(crate) fn add(&mut self, tool: Tool, origins: &Origins) -> Result<(), RegisterError> {
        self.insert(tool, UNREGISTERED, origins)
    }

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
            // Lists speak of core tools also where none of the name is linked: a server must not be what they mean.
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
            if let Some(place) = self.place(name) {
                return Err(RegisterError::taken(tool, name, &self.0.tools[place]));
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
}

/// What comes from elsewhere is told as it is.
fn prepares(tool: &Tool) -> bool {
    tool.def().is_some_and(|def| def.prepare.is_some() || has_placeholder(tool.description()))
}

/// Why a tool cannot answer to an alias, if it cannot.
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

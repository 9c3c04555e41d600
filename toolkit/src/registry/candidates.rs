//! Selects the tools of a toolkit: of several tools with one name, the one with the highest precedence.

use super::origins::{Origins, Placing};
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use std::collections::BTreeMap;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::location::Location;

/// A tool that may be selected. Small, since there may be thousands, most of them linked.
#[derive(Debug)]
pub(super) enum Candidate {
    /// Added by the host, with its index.
    Added(usize, Tool),
    Linked(&'static ToolDef),
}

/// The precedence of tools with one name: tools added by the host in the order in which they were added. For linked
/// tools the linker's order has no meaning: core tools first, then preferred plugins, then the order of the lists, then
/// crate and source location.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Added(usize),
    Linked(Core, (usize, usize), &'static str, (&'static str, &'static str, u32)),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Core {
    Yes,
    No,
}

impl Candidate {
    fn name(&self) -> &str {
        match self {
            Self::Added(_, tool) => tool.name(),
            Self::Linked(def) => def.name,
        }
    }

    fn location(&self) -> Location {
        match self {
            Self::Added(_, tool) => tool.stated().location,
            Self::Linked(def) => def.location,
        }
    }

    fn order(&self, origins: &Origins) -> Order {
        match self {
            Self::Added(place, _) => Order::Added(*place),
            Self::Linked(ToolDef { location, .. }) => {
                let name = location.crate_name();
                let core = if origins.is_core_crate(name) { Core::Yes } else { Core::No };
                let place = (location.version, location.file, location.line);
                Order::Linked(core, origins.rank(location), name, place)
            }
        }
    }

    /// Returns the scope in which there must be only one tool of a name.
    fn scope(&self) -> Option<&'static str> {
        match self {
            Self::Added(..) => None,
            Self::Linked(def) => Some(def.location.crate_name()),
        }
    }

    /// Returns the owner of the tool.
    fn placing(&self, origins: &Origins) -> Placing {
        match self {
            Self::Added(_, tool) => origins.placing_of(tool).unwrap_or_else(|| Placing {
                source: tool.source().clone(),
                plugin: tool.plugin_id().map(Into::into),
                optional: tool.is_optional(),
            }),
            Self::Linked(def) => origins.placing(&def.location, def.channel),
        }
    }

    fn into_tool(self, origins: &Origins) -> Tool {
        match self {
            Self::Added(_, tool) => origins.place(tool),
            Self::Linked(def) => {
                let Placing { source, plugin, optional } = origins.placing(&def.location, def.channel);
                Tool::linked(def, source, plugin, optional)
            }
        }
    }

    fn diagnostic(&self, level: Level, origins: &Origins, message: String) -> Diagnostic {
        let Placing { source, plugin, .. } = self.placing(origins);
        let crate_name = self.location().crate_name();
        let source = if crate_name.is_empty() { source.to_string() } else { crate_name.to_owned() };
        let diagnostic = Diagnostic::new(level, source, message).with_location(self.location());
        match plugin {
            Some(id) => diagnostic.with_plugin(&*id),
            None => diagnostic,
        }
    }

    /// Returns the owner in words.
    fn owner(&self) -> String {
        match self.location().crate_name() {
            "" => "of the host".to_owned(),
            name => format!("of the crate `{name}`"),
        }
    }
}

/// Selects the tools by name, and reports those that are left out.
pub(super) fn choose(
    mut candidates: Vec<Candidate>,
    origins: &Origins,
    problems: &mut Vec<String>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Tool> {
    block_plugins(&mut candidates, origins, diagnostics);
    candidates.sort_by(|one, other| {
        one.name().cmp(other.name()).then_with(|| one.order(origins).cmp(&other.order(origins)))
    });
    for same in candidates.chunk_by(|one, other| one.name() == other.name()) {
        problems.extend(same.chunk_by(|one, other| one.scope() == other.scope()).filter_map(duplicates));
    }
    problems.extend(candidates.iter().filter_map(|candidate| planned(candidate, origins)));
    let mut left = Vec::new();
    candidates.retain(|candidate| match taken_by_core(candidate, origins) {
        None => true,
        Some(diagnostic) => {
            left.push((candidate.order(origins), diagnostic));
            false
        }
    });
    for same in candidates.chunk_by(|one, other| one.name() == other.name()) {
        if let [first, others @ ..] = same {
            left.extend(others.iter().map(|other| (other.order(origins), left_out(other, first, origins))));
        }
    }
    left.sort_by(|(one, _), (other, _)| one.cmp(other));
    diagnostics.extend(left.into_iter().map(|(_, diagnostic)| diagnostic));
    candidates.dedup_by(|other, first| other.name() == first.name());
    candidates.into_iter().map(|candidate| candidate.into_tool(origins)).collect()
}

/// Removes all tools of a plugin whose id could be confused with a core tool, because a policy entry for one would
/// apply to the other.
fn block_plugins(candidates: &mut Vec<Candidate>, origins: &Origins, diagnostics: &mut Vec<Diagnostic>) {
    let mut blocked: BTreeMap<_, (Order, Diagnostic)> = BTreeMap::new();
    candidates.retain(|candidate| {
        let id = match candidate {
            Candidate::Linked(def) => origins.blocked_plugin(&def.location).cloned(),
            Candidate::Added(..) => candidate.placing(origins).plugin,
        };
        let Some(id) = id else { return true };
        let Some(core) = origins.core_tool_of_id(&id) else { return true };
        let order = candidate.order(origins);
        let message = format!(
            "the plugin `{id}` is left out whole, since its id is a name of the core tool `{core}`; give it another one with \
             `toolkit::plugin!`"
        );
        let found = (order, candidate.diagnostic(Level::Error, origins, message));
        // Reports the location of the first of its tools, whatever the linker's order.
        match blocked.get_mut(&id) {
            Some(first) if found.0 < first.0 => *first = found,
            Some(_) => {}
            None => {
                blocked.insert(id, found);
            }
        }
        false
    });
    diagnostics.extend(blocked.into_values().map(|(_, diagnostic)| diagnostic));
}

/// A tool that is not core cannot have the name or alias of a core tool, unless the host added it directly.
fn taken_by_core(candidate: &Candidate, origins: &Origins) -> Option<Diagnostic> {
    let Candidate::Linked(def) = candidate else { return None };
    let core = origins.core_tool_of(def.name)?;
    if origins.is_core_crate(def.location.crate_name()) {
        return None;
    }
    let what = if core == def.name { "has this name" } else { "answers to this name" };
    let message =
        format!("the tool `{}` {} is left out: the core tool `{core}` {what}", def.name, candidate.owner());
    Some(candidate.diagnostic(Level::Warning, origins, message))
}

/// Reports the name of a planned core tool, unless the host added the tool directly: a configuration that names it must
/// keep its meaning.
fn planned(candidate: &Candidate, origins: &Origins) -> Option<String> {
    let Candidate::Linked(def) = candidate else { return None };
    if origins.is_core_crate(def.location.crate_name()) {
        return None;
    }
    let name = std::iter::once(&def.name).chain(def.aliases).find(|name| origins.is_planned(name))?;
    let what = if *name == def.name { "the name" } else { "an alias" };
    Some(format!(
        "`{name}`, {what} of the tool `{}` {} at {}, is reserved for a future builtin tool; give the tool another one",
        def.name,
        candidate.owner(),
        def.location
    ))
}

/// Reports tools of one name in a scope that allows only one, with all their locations.
fn duplicates(same: &[Candidate]) -> Option<String> {
    let [first, _, ..] = same else { return None };
    let within = if first.scope().is_none() { "added to the toolkit" } else { "in one crate" };
    let places: Vec<String> = same.iter().map(|one| one.location().to_string()).collect();
    Some(format!(
        "the tool name `{}` is taken more than once {within}: at {}; rename all but one",
        first.name(),
        places.join(" and ")
    ))
}

fn left_out(tool: &Candidate, first: &Candidate, origins: &Origins) -> Diagnostic {
    if let (Candidate::Linked(def), Candidate::Added(_, added)) = (tool, first)
        && added.def().is_some_and(|own| std::ptr::eq(own, *def))
    {
        let message = format!(
            "the tool `{}` is there twice: it is linked, and the host adds it; leave `.tool(..)` out, or build with `Toolkit::empty()`",
            def.name
        );
        return tool.diagnostic(Level::Warning, origins, message);
    }
    let message = format!(
        "the tool `{}` {} is left out: {} takes precedence and has one of this name at {}",
        tool.name(),
        tool.owner(),
        match first.location().crate_name() {
            "" => "the host".to_owned(),
            name => format!("`{name}`"),
        },
        first.location()
    );
    tool.diagnostic(Level::Warning, origins, message)
}

//! Which tools of all there are a toolkit has: of one name, the one that goes first.

use super::faults;
use crate::diagnostic::{Diagnostic, Level};
use crate::link::Links;
use crate::state::Services;
use crate::tool::Tool;
use crate::tool_def::ToolDef;

/// A tool that may be chosen.
#[derive(Debug)]
pub(super) struct Candidate {
    tool: Tool,
    order: Order,
}

/// Which tool goes first: those that the host adds as it adds them. The linker's order means nothing: core first, then
/// as the lists say, then by crate and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Added(usize),
    Linked(Crate, (&'static str, &'static str, u32)),
}

/// The place of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Crate {
    is_no_core: bool,
    rank: usize,
    name: &'static str,
}

impl Candidate {
    pub(super) fn added((place, tool): (usize, Tool)) -> Self {
        Self { tool, order: Order::Added(place) }
    }

    /// `last` is the module that was asked for before, with its crate: mostly it is the same one again.
    pub(super) fn linked(
        def: &'static ToolDef,
        links: &Links,
        last: &mut Option<(&'static str, Crate)>,
    ) -> Self {
        let location = &def.location;
        let known = last.filter(|(module, _)| std::ptr::eq(*module, location.module));
        let (_, its_crate) = known.unwrap_or_else(|| {
            let name = location.crate_name();
            (location.module, Crate { is_no_core: !links.is_core(name), rank: links.rank(name), name })
        });
        *last = Some((location.module, its_crate));
        let place = (location.version, location.file, location.line);
        Self { tool: Tool::new(def), order: Order::Linked(its_crate, place) }
    }

    /// Where there must be only one of a name.
    fn scope(&self) -> Option<&'static str> {
        match self.order {
            Order::Added(_) => None,
            Order::Linked(its_crate, _) => Some(its_crate.name),
        }
    }
}

/// The tools by name, and what is wrong with them or left out.
pub(super) fn choose(
    mut candidates: Vec<Candidate>,
    services: &Services,
    problems: &mut Vec<String>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Tool> {
    candidates.sort_by(|one, other| (one.tool.name(), one.order).cmp(&(other.tool.name(), other.order)));
    let mut left = Vec::new();
    for same in candidates.chunk_by(|one, other| one.tool.name() == other.tool.name()) {
        let [first, others @ ..] = same else { continue };
        problems.extend(faults(&first.tool, services));
        if !others.is_empty() {
            problems.extend(same.chunk_by(|one, other| one.scope() == other.scope()).filter_map(duplicates));
            left.extend(others.iter().map(|other| (other.order, left_out(&other.tool, &first.tool))));
        }
    }
    left.sort_by_key(|(order, _)| *order);
    diagnostics.extend(left.into_iter().map(|(_, diagnostic)| diagnostic));
    candidates.dedup_by(|other, first| other.tool.name() == first.tool.name());
    candidates.into_iter().map(|candidate| candidate.tool).collect()
}

/// Tools of one name where there must be one, named with all their places.
fn duplicates(same: &[Candidate]) -> Option<String> {
    let [first, _, ..] = same else { return None };
    let within = if first.scope().is_none() { "added to the toolkit" } else { "in one crate" };
    let places: Vec<String> = same.iter().map(|one| one.tool.location().to_string()).collect();
    Some(format!(
        "the tool name `{}` is taken more than once {within}: at {}; rename all but one",
        first.tool.name(),
        places.join(" and ")
    ))
}

fn left_out(tool: &Tool, first: &Tool) -> Diagnostic {
    Diagnostic {
        level: Level::Warning,
        source: tool.location().crate_name().to_owned(),
        message: format!(
            "the tool `{}` of the crate `{}` is left out: `{}` goes first and has one of this name at {}",
            tool.name(),
            tool.location().crate_name(),
            first.location().crate_name(),
            first.location()
        ),
        location: Some(tool.location().to_string()),
    }
}

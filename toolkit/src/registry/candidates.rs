//! Which tools of all there are a toolkit has: of one name, the one that goes first.

use crate::diagnostic::{Diagnostic, Level};
use crate::link::Links;
use crate::tool::Tool;
use crate::tool_def::{Location, ToolDef};

/// A tool that may be chosen. Small, since there may be thousands, most of them linked.
#[derive(Debug)]
pub(super) enum Candidate {
    /// By the host, as one of so many.
    Added(usize, Tool),
    Linked(&'static ToolDef),
}

/// Which of one name goes first: those that the host adds as it adds them. The linker's order means nothing: core first,
/// then as the lists say, then by crate and place.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Added(usize),
    Linked(Core, usize, &'static str, (&'static str, &'static str, u32)),
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

    fn order(&self, links: &Links) -> Order {
        match self {
            Self::Added(place, _) => Order::Added(*place),
            Self::Linked(ToolDef { location, .. }) => {
                let name = location.crate_name();
                let core = if links.is_core(name) { Core::Yes } else { Core::No };
                let place = (location.version, location.file, location.line);
                Order::Linked(core, links.rank(name), name, place)
            }
        }
    }

    /// Where there must be only one of a name.
    fn scope(&self) -> Option<&'static str> {
        match self {
            Self::Added(..) => None,
            Self::Linked(def) => Some(def.location.crate_name()),
        }
    }

    fn into_tool(self) -> Tool {
        match self {
            Self::Added(_, tool) => tool,
            Self::Linked(def) => Tool::new(def),
        }
    }
}

/// The tools by name, and what is left out.
pub(super) fn choose(
    mut candidates: Vec<Candidate>,
    links: &Links,
    problems: &mut Vec<String>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Tool> {
    candidates.sort_by(|one, other| {
        one.name().cmp(other.name()).then_with(|| one.order(links).cmp(&other.order(links)))
    });
    let mut left = Vec::new();
    for same in candidates.chunk_by(|one, other| one.name() == other.name()) {
        if let [first, others @ ..] = same
            && !others.is_empty()
        {
            problems.extend(same.chunk_by(|one, other| one.scope() == other.scope()).filter_map(duplicates));
            left.extend(others.iter().map(|other| (other.order(links), left_out(other, first))));
        }
    }
    left.sort_by(|(one, _), (other, _)| one.cmp(other));
    diagnostics.extend(left.into_iter().map(|(_, diagnostic)| diagnostic));
    candidates.dedup_by(|other, first| other.name() == first.name());
    candidates.into_iter().map(Candidate::into_tool).collect()
}

/// Tools of one name where there must be one, named with all their places.
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

fn left_out(tool: &Candidate, first: &Candidate) -> Diagnostic {
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

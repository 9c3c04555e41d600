//! Verdicts on names for which there is no tool.

use super::data::Registered;
use super::entry::normalised;
use super::{Explanation, Policy, explain};
use crate::link::Links;
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use toolkit_core::caller::Caller;
use toolkit_core::name::is_valid_name;
use toolkit_core::source::Source;

/// The definition of a missing tool, of which only the name is known.
static ABSENT: ToolDef = ToolDef::BASE;

/// Returns the verdicts on a name for which there is no tool, if the name is known: registered for lists by a core
/// crate, or used in a rule. A registered name is judged like the name of a core tool.
pub(crate) fn explain_absent(
    policy: Option<&dyn Policy>,
    caller: &Caller,
    name: &str,
    links: &Links,
) -> Option<Explanation> {
    let given = normalised(name);
    let registered = Registered::by(links);
    let name = registered.canonical(&given);
    if !is_valid_name(name) {
        return None;
    }
    let is_registered = registered.is_name(name) || registered.names.contains(name);
    let source = if is_registered { Source::Core } else { Source::Runtime };
    let tool = Tool::new(&ABSENT).named(name).placed(source, None, false);
    let explanation = explain(policy, caller, &tool);
    let mut rules = explanation.layers.iter().filter_map(|layer| layer.rule.as_ref()?.entry.as_deref());
    let is_known = is_registered || rules.any(|entry| [name, &given].contains(&&*normalised(entry)));
    is_known.then_some(Explanation { exists: false, present: false, ..explanation })
}

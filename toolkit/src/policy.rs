//! Which tools exist for a caller.

mod absent;
mod both;
mod compiled;
mod data;
mod entry;
mod finder;
mod lint;
mod lists;
mod models;
mod rules;
mod settings;
mod subject;
#[cfg(test)]
mod tests;
mod tool_policy;
mod verdict;
mod words;

pub(crate) use absent::explain_absent;
pub(crate) use both::Both;
pub use data::PolicyData;
pub(crate) use data::planned;
pub(crate) use entry::{Entry, PLUGINS, folded, matches, normalised};
pub use settings::{PolicySettings, ProfileRules, ToolRules};
pub use tool_policy::ToolPolicy;
pub use verdict::{Explanation, LayerVerdict, PolicyRule, PolicyVerdict};

use crate::caller::Caller;
use crate::config_origin::ConfigOrigin;
use crate::diagnostic::Diagnostic;
use crate::escape::{escape_line, escape_rest};
use crate::guard::guard;
use crate::link::Linked;
use crate::tool::Tool;
use crate::tool_def::ToolDef;
use std::fmt;

/// Decides which tools exist for a caller.
///
/// It is asked for every tool when a toolbox is made, and once more at each call, so that what is revoked
/// meanwhile counts at once. It must not block: it stands on the path of every call.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::{Policy, Refusal};
///
/// #[derive(Debug)]
/// struct OnlyReading;
///
/// impl Policy for OnlyReading {
///     fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
///         match tool.annotations().read_only_hint {
///             true => Ok(()),
///             false => Err(Refusal::new("the reading policy", "it allows only tools that change nothing")),
///         }
///     }
/// }
///
/// # fn main() -> Result<(), toolkit::BuildError> {
/// let toolkit = Toolkit::empty().policy(OnlyReading).build()?;
/// # drop(toolkit);
/// # Ok(()) }
/// ```
pub trait Policy: fmt::Debug + Send + Sync + 'static {
    /// Whether the tool exists for the caller.
    ///
    /// # Errors
    ///
    /// Which layer refuses it, and why.
    fn check(&self, caller: &Caller, tool: &Tool) -> Result<(), Refusal>;

    /// The places in `tools` of those that exist for the caller, in order: the same as [`check`](Self::check) says of
    /// each, where that can be had for less.
    fn admitted(&self, caller: &Caller, tools: &[Tool]) -> Vec<usize> {
        let is_there = |place: &usize| {
            let tool = &tools[*place];
            guard(tool.name(), || self.check(caller, tool)).is_ok_and(|answer| answer.is_ok())
        };
        (0..tools.len()).filter(is_there).collect()
    }

    /// What each part of the policy says of the tool, those that say nothing included; the tool exists if none denies it.
    fn explain(&self, caller: &Caller, tool: &Tool) -> Vec<LayerVerdict> {
        vec![match self.check(caller, tool) {
            Ok(()) => LayerVerdict::new("the policy", PolicyVerdict::Allows, "it has nothing against it"),
            Err(refusal) => refusal.into(),
        }]
    }

    /// What is probably not as meant, given the tools that there are: names that nothing has, for instance.
    fn diagnostics(&self, tools: &[Tool]) -> Vec<Diagnostic> {
        let _ = tools;
        Vec::new()
    }

    /// A number that is another one whenever any answer may be another one: while it stays, a toolbox does not ask again
    /// at each call. `None` where nobody counts.
    fn version(&self) -> Option<u64> {
        None
    }

    /// Whether a tool that its author switched off (`#[tool(enabled = false)]`) is switched on.
    fn switches_on(&self, tool: &Tool) -> bool {
        let _ = tool;
        false
    }
}

/// What a policy says of a tool; one that fails refuses.
pub(crate) fn check(policy: &dyn Policy, caller: &Caller, tool: &Tool) -> Result<(), Refusal> {
    guard(tool.name(), || policy.check(caller, tool)).unwrap_or_else(|_| Err(failed()))
}

/// The places of the tools that exist; none where the policy fails.
pub(crate) fn admitted(policy: &dyn Policy, caller: &Caller, tools: &[Tool]) -> Vec<usize> {
    let mut places = guard("the policy", || policy.admitted(caller, tools)).unwrap_or_default();
    // What a host's own policy hands over is looked up by halves.
    places.retain(|place| *place < tools.len());
    places.sort_unstable();
    places.dedup();
    places
}

/// Whether nothing changed since the policy had this version.
pub(crate) fn is_current(policy: &dyn Policy, version: Option<u64>) -> bool {
    version.is_some() && guard("the policy", || policy.version()).is_ok_and(|now| now == version)
}

/// The version of the policy; none where it fails.
pub(crate) fn version(policy: &dyn Policy) -> Option<u64> {
    guard("the policy", || policy.version()).ok().flatten()
}

/// Why the tool exists for the caller, or doesn't.
pub(crate) fn explain(policy: Option<&dyn Policy>, caller: &Caller, tool: &Tool) -> Explanation {
    let layers = policy.map_or_else(Vec::new, |policy| {
        guard(tool.name(), || policy.explain(caller, tool)).unwrap_or_else(|_| vec![failed().into()])
    });
    // What it explains is not what counts.
    let exists = policy.is_none_or(|policy| check(policy, caller, tool).is_ok());
    Explanation { tool: tool.name().to_owned(), exists, present: true, absence: None, layers }
}

/// What is probably not as meant.
pub(crate) fn diagnostics(policy: &dyn Policy, tools: &[Tool]) -> Vec<Diagnostic> {
    guard("the policy", || policy.diagnostics(tools)).unwrap_or_default()
}

/// The core tool that lists mean by the name, also where none of it is linked.
pub(crate) fn core_name(name: &str) -> Option<&'static str> {
    data::Registered::linked().meant_by(&entry::normalised(name))
}

/// The core tool of which `key`, in lower case, is another name for lists; none where it is no such name.
pub(crate) fn alias_of(key: &str) -> Option<String> {
    let tool = data::Registered::linked().canonical(key);
    (tool != key).then(|| tool.to_owned())
}

/// Every name of a tool that core crates register for lists, in lower case, whether or not the tool is compiled in.
pub(crate) fn known_names() -> impl Iterator<Item = String> {
    let registered = data::Registered::linked();
    let aliases = registered.aliases().flat_map(|(alias, name)| [alias, name]).map(str::to_owned);
    aliases.chain(registered.groups.values().flatten().chain(&registered.names).cloned())
}

/// Whether a tool that is switched off by its author is switched on.
pub(crate) fn switches_on(policy: &dyn Policy, tool: &Tool) -> bool {
    guard(tool.name(), || policy.switches_on(tool)).unwrap_or(false)
}

/// The linked tool of this name that its author switched off; whose it is, is not said yet.
pub(crate) fn switched_off(name: &str) -> Option<Tool> {
    let is_it = |def: &ToolDef| !def.enabled && (def.name == name || def.aliases.contains(&name));
    let mut defs: Vec<&'static ToolDef> =
        inventory::iter::<Linked>().map(|Linked(def)| *def).filter(|def| is_it(def)).collect();
    defs.sort_by_key(|def| (def.name != name, def.name, def.location.module));
    defs.first().map(|def| Tool::new(def))
}

fn failed() -> Refusal {
    Refusal::new("the policy", "it stopped on an internal error")
}

/// Why a policy does not give a tool to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Which part of the policy decided.
    pub layer: String,
    /// Why, as a clause: "it allows only tools that change nothing".
    pub reason: String,
    /// The rule that decided, as a JSON pointer into the configuration, if it was one.
    pub pointer: Option<String>,
    /// Where that rule was written, if that is known.
    pub origin: Option<ConfigOrigin>,
}

impl Refusal {
    /// A refusal.
    pub fn new(layer: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { layer: layer.into(), reason: reason.into(), pointer: None, origin: None }
    }
}

impl From<LayerVerdict> for Refusal {
    fn from(verdict: LayerVerdict) -> Self {
        let LayerVerdict { layer, reason, rule, .. } = verdict;
        let (pointer, origin) = rule.map_or((None, None), |rule| (Some(rule.pointer), rule.origin));
        Self { layer, reason, pointer, origin }
    }
}

impl From<Refusal> for LayerVerdict {
    fn from(refusal: Refusal) -> Self {
        let Refusal { layer, reason, pointer, origin } = refusal;
        let rule = pointer.map(|pointer| PolicyRule { entry: None, pointer, origin });
        Self { layer, verdict: PolicyVerdict::Denies, reason, rule }
    }
}

/// In one line that is safe to show: names that somebody else chose may stand in it.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied by {}: {}", escape_rest(&self.layer), escape_rest(&self.reason))?;
        match self.pointer.as_deref().map(escape_line) {
            Some(pointer) => write!(f, " (`{pointer}` in the configuration, which only the user can change)"),
            None => Ok(()),
        }
    }
}

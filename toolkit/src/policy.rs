//! Policies: which tools exist for a caller.

mod absent;
mod both;
mod compiled;
mod data;
mod entry;
mod finder;
mod lint;
mod lists;
mod models;
mod names;
mod rules;
mod settings;
mod subject;
#[cfg(test)]
mod tests;
mod tool_policy;
mod verdict;
mod words;

#[doc(hidden)]
pub use crate::linked::PolicyData;
pub(crate) use absent::explain_absent;
pub(crate) use both::Both;
pub(crate) use data::planned;
pub(crate) use entry::{Entry, PLUGINS, folded, matches, normalised};
pub use settings::{PolicySettings, ProfileRules, ToolRules};
pub use tool_policy::ToolPolicy;
pub use verdict::{Explanation, LayerVerdict, PolicyRule, PolicyVerdict};

use crate::link::Linked;
use crate::tool::Tool;
use crate::tool::def::ToolDef;
use std::fmt;
use toolkit_core::caller::Caller;
use toolkit_core::config_origin::ConfigOrigin;
use toolkit_core::diagnostic::Diagnostic;
use toolkit_core::escape::{escape_line, escape_rest};
use toolkit_core::guard::guard;

/// Decides which tools exist for a caller.
///
/// It is called for every tool when a toolbox is made, and again at each call, so that a revoked tool is denied at
/// once. It must not block, because it runs in the path of every call.
///
/// For a caller that others [delegated](Caller::delegated) to, it is called for each of them as well: a tool exists only
/// if it exists for all of them.
///
/// ```
/// use toolkit::prelude::*;
/// use toolkit::policy::{Policy, Refusal};
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
#[diagnostic::on_unimplemented(
    message = "this is not a policy",
    label = "not a `Policy`",
    note = "of rules in the program: `ToolPolicy::new(settings)`, where `settings` is a `PolicySettings::default()` with `settings.tools = rules`, both in `toolkit::policy`",
    note = "of a file: `.configuration(Configuration::load(LoadOptions::of_process(\".\"))?)`, both in `toolkit::config`",
    note = "of your own code: implement `Policy` for a type of your own"
)]
pub trait Policy: fmt::Debug + Send + Sync + 'static {
    /// Checks if the tool exists for the caller.
    ///
    /// # Errors
    ///
    /// Returns the layer that denies the tool, and its reason.
    fn check(&self, caller: &Caller, tool: &Tool) -> Result<(), Refusal>;

    /// Returns the indices in `tools` of the tools that exist for the caller, in order. The result is the same as that
    /// of [`check`](Self::check) for each tool; implement it if it can be computed faster.
    fn admitted(&self, caller: &Caller, tools: &[Tool]) -> Vec<usize> {
        let is_there = |place: &usize| {
            let tool = &tools[*place];
            guard(tool.name(), || self.check(caller, tool)).is_ok_and(|answer| answer.is_ok())
        };
        (0..tools.len()).filter(is_there).collect()
    }

    /// Returns the verdict of each part of the policy, including silent ones; the tool exists if none denies it.
    fn explain(&self, caller: &Caller, tool: &Tool) -> Vec<LayerVerdict> {
        vec![match self.check(caller, tool) {
            Ok(()) => LayerVerdict::new("the policy", PolicyVerdict::Allows, "it has nothing against it"),
            Err(refusal) => refusal.into(),
        }]
    }

    /// Returns probable mistakes in the policy, given the existing tools: unknown names, for example.
    fn diagnostics(&self, tools: &[Tool]) -> Vec<Diagnostic> {
        let _ = tools;
        Vec::new()
    }

    /// Returns the entries of its lists that each name one tool or plugin, without groups and patterns. [`Builder::build`](crate::Builder::build)
    /// refuses an entry whose name neither exists nor is announced by a [source](crate::Builder::tool_source) or by
    /// [`permission_keys`](crate::Builder::permission_keys).
    fn named(&self) -> Vec<PolicyRule> {
        Vec::new()
    }

    /// Returns a number that changes whenever a verdict may have changed: while it stays the same, a toolbox does not
    /// check again at each call. `None` if the policy keeps no count.
    fn version(&self) -> Option<u64> {
        None
    }

    /// Returns true if the policy enables a tool that its author disabled (`#[tool(enabled = false)]`).
    fn switches_on(&self, tool: &Tool) -> bool {
        let _ = tool;
        false
    }
}

/// Checks a tool with a policy, for the caller and each caller above it; a policy that panics denies the tool.
pub(crate) fn check(policy: &dyn Policy, caller: &Caller, tool: &Tool) -> Result<(), Refusal> {
    caller.chain().try_for_each(|link| {
        check_alone(policy, link, tool)
            .map_err(|refusal| Refusal { layer: of_link(caller, link, refusal.layer), ..refusal })
    })
}

/// Checks a tool for one caller, without those above it.
fn check_alone(policy: &dyn Policy, caller: &Caller, tool: &Tool) -> Result<(), Refusal> {
    guard(tool.name(), || policy.check(caller, tool)).unwrap_or_else(|_| Err(failed()))
}

/// Returns the name of a layer of the policy for a caller in the chain of another.
fn of_link(caller: &Caller, link: &Caller, layer: String) -> String {
    if std::ptr::eq(caller, link) {
        return layer;
    }
    match &link.agent {
        Some(agent) => format!("{layer}, for the delegating agent `{}`", escape_line(agent)),
        None => format!("{layer}, for the delegating caller"),
    }
}

/// Returns the indices of the tools that exist for the caller and each caller above it; none if the policy panics.
pub(crate) fn admitted(policy: &dyn Policy, caller: &Caller, tools: &[Tool]) -> Vec<usize> {
    let mut places = admitted_alone(policy, caller, tools);
    for above in caller.chain().skip(1) {
        let others = admitted_alone(policy, above, tools);
        places.retain(|place| others.binary_search(place).is_ok());
    }
    places
}

/// Returns the indices of the tools that exist for one caller, without those above it.
fn admitted_alone(policy: &dyn Policy, caller: &Caller, tools: &[Tool]) -> Vec<usize> {
    let mut places = guard("the policy", || policy.admitted(caller, tools)).unwrap_or_default();
    // The indices of a host's own policy are binary-searched later, so they must be valid and sorted.
    places.retain(|place| *place < tools.len());
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns true if the policy still has this version.
pub(crate) fn is_current(policy: &dyn Policy, version: Option<u64>) -> bool {
    version.is_some() && guard("the policy", || policy.version()).is_ok_and(|now| now == version)
}

/// Returns the version of the policy; `None` if it panics.
pub(crate) fn version(policy: &dyn Policy) -> Option<u64> {
    guard("the policy", || policy.version()).ok().flatten()
}

/// Explains why the tool exists for the caller or not.
pub(crate) fn explain(policy: Option<&dyn Policy>, caller: &Caller, tool: &Tool) -> Explanation {
    let mut layers = Vec::new();
    for (policy, link) in policy.iter().flat_map(|policy| caller.chain().map(move |link| (policy, link))) {
        let of_one =
            guard(tool.name(), || policy.explain(link, tool)).unwrap_or_else(|_| vec![failed().into()]);
        // The callers above are mentioned only where they decide.
        let counts =
            |verdict: &LayerVerdict| std::ptr::eq(caller, link) || verdict.verdict == PolicyVerdict::Denies;
        layers.extend(of_one.into_iter().filter(counts).map(|verdict| {
            let layer = of_link(caller, link, verdict.layer);
            LayerVerdict { layer, ..verdict }
        }));
    }
    // The check decides, whatever the explanation says.
    let exists = policy.is_none_or(|policy| check(policy, caller, tool).is_ok());
    Explanation { tool: tool.name().to_owned(), exists, present: true, absence: None, layers }
}

/// Returns probable mistakes in the policy.
pub(crate) fn diagnostics(policy: &dyn Policy, tools: &[Tool]) -> Vec<Diagnostic> {
    guard("the policy", || policy.diagnostics(tools)).unwrap_or_default()
}

/// Returns the entries of the policy's lists that each name one tool or plugin.
pub(crate) fn named(policy: &dyn Policy) -> Vec<PolicyRule> {
    guard("the policy", || policy.named()).unwrap_or_default()
}

/// Returns the core tool that a name in a list means, even if no such tool is linked.
pub(crate) fn core_name(name: &str) -> Option<&'static str> {
    data::Registered::linked().meant_by(&entry::normalised(name))
}

/// Returns the core tool for which `key`, in lower case, is an alias in lists; `None` if it is not an alias.
pub(crate) fn alias_of(key: &str) -> Option<String> {
    let tool = data::Registered::linked().canonical(key);
    (tool != key).then(|| tool.to_owned())
}

/// Returns every tool name that core crates register for lists, in lower case, including tools that are not compiled
/// in.
pub(crate) fn known_names() -> impl Iterator<Item = String> {
    let registered = data::Registered::linked();
    let aliases = registered.aliases().flat_map(|(alias, name)| [alias, name]).map(str::to_owned);
    aliases.chain(registered.groups.values().flatten().chain(&registered.names).cloned())
}

/// Returns every group that core crates register for lists, in lower case.
pub(crate) fn known_groups() -> impl Iterator<Item = String> {
    let registered = data::Registered::linked();
    registered.groups.keys().chain(&registered.built_in).cloned()
}

/// Returns true if the policy enables a tool that its author disabled.
pub(crate) fn switches_on(policy: &dyn Policy, tool: &Tool) -> bool {
    guard(tool.name(), || policy.switches_on(tool)).unwrap_or(false)
}

/// Returns the linked tool of this name that its author disabled; its source is not set yet.
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

/// The reason why a policy denies a tool to a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The part of the policy that decided.
    pub layer: String,
    /// The reason, as a clause: "it allows only tools that change nothing".
    pub reason: String,
    /// The rule that decided, as a JSON pointer into the configuration, if a rule did.
    pub pointer: Option<String>,
    /// The source location of that rule, if known.
    pub origin: Option<ConfigOrigin>,
}

impl Refusal {
    /// Creates a refusal.
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

/// Formats the refusal in one line that is safe to display: names chosen by others are escaped.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied by {}: {}", escape_rest(&self.layer), escape_rest(&self.reason))?;
        match self.pointer.as_deref().map(escape_line) {
            Some(pointer) => write!(f, " (`{pointer}` in the configuration, which only the user can change)"),
            None => Ok(()),
        }
    }
}

//! The policy defined by the configuration.

use super::compiled::{Compiled, Step};
use super::data::Registered;
use super::lists::Marks;
use super::rules::Layer;
use super::settings::{PolicySettings, ProfileRules};
use super::subject::Subject;
use super::verdict::{LayerVerdict, PolicyRule, PolicyVerdict};
use super::words::absent;
use super::{Policy, Refusal, lint, names};
use crate::link::Links;
use crate::tool::Tool;
use std::collections::BTreeMap;
use toolkit_core::caller::Caller;
use toolkit_core::diagnostic::Diagnostic;
use toolkit_core::server_names::ServerNames;

/// The policy defined by the configuration: it decides layer by layer which tools exist for a caller. Each layer can
/// only narrow.
///
/// The layers are, in this order: the profile, provider and model, the global lists, agent, channel, conversation, sender, sandbox,
/// sub-agents.
/// Before them come settings that disable tools, limits to certain models or a channel, and optional tools: an optional
/// tool exists only if `tools.allow` or `tools.alsoAllow` names the tool, its plugin or `group:plugins`.
///
/// A layer denies a tool if its deny list matches any name that leads to the tool, or any group of the tool. If the
/// layer has a profile, it denies a tool that is neither in the profile nor in `alsoAllow`; if it has an allow list, it
/// denies a tool that is not in it. An allow list names tools by their own names; an alias applies if a core crate
/// defined it. A built-in group in an allow list means core tools, and tools of plugins that the configuration lets
/// join the group.
///
/// ```standalone_crate
/// use toolkit::prelude::*;
/// use toolkit::policy::{PolicySettings, ToolPolicy, ToolRules};
///
/// /// Reads.
/// #[tool(read_only)]
/// async fn look() {}
///
/// /// Runs a command.
/// #[tool(alias = "shell")]
/// async fn run() {}
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolkit::BuildError> {
/// let mut settings = PolicySettings::default();
/// settings.agents.insert("kid".to_owned(), ToolRules::default().deny(["shell"]));
/// let policy = ToolPolicy::new(settings);
///
/// let toolkit = Toolkit::builder().policy(policy).build()?;
/// let toolbox = toolkit.toolbox(&Caller::new().with_agent("kid")).await;
/// assert!(toolbox.tool("look").is_some() && toolbox.tool("run").is_none());
/// let denied = &toolbox.denied()[0];
/// assert_eq!(denied.denied_by().unwrap().reason, "`shell` is in its deny list");
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ToolPolicy {
    registered: Registered,
    profiles: BTreeMap<String, ProfileRules>,
    /// The names of the configured servers.
    servers: ServerNames,
    /// The sources. The first is the user's; all others only narrow it.
    sources: Vec<Compiled>,
}

impl Default for ToolPolicy {
    /// Creates a policy without any configuration: every tool exists that is not optional.
    fn default() -> Self {
        Self::new(PolicySettings::default())
    }
}

impl ToolPolicy {
    /// Creates a policy from settings, and from the data that the core crates of this process register.
    pub fn new(settings: PolicySettings) -> Self {
        Self::with(settings, Registered::linked().clone())
    }

    /// Creates a policy by `link!` lists in the host's order: the list that comes first decides which crates are core.
    pub(crate) fn linked_by(links: &Links, settings: PolicySettings) -> Self {
        Self::with(settings, Registered::by(links))
    }

    pub(super) fn with(settings: PolicySettings, registered: Registered) -> Self {
        let profiles = settings.profiles.clone();
        let servers = ServerNames::new(settings.servers.iter().map(String::as_str));
        let first = Compiled::new(settings, &registered, None, &BTreeMap::new());
        Self { registered, profiles, servers, sources: vec![first] }
    }

    /// Narrows the policy by another source that is trusted with nothing else: a workspace's file, for example. `name`
    /// is the name of the source in explanations. A tool exists only if both admit it.
    ///
    /// Settings that would widen the policy apply only within that source: tools that it enables, groups that it lets
    /// plugins join.
    #[must_use]
    pub fn narrowed_by(mut self, name: impl Into<String>, settings: PolicySettings) -> Self {
        let narrows = Some(name.into());
        self.sources.push(Compiled::new(settings, &self.registered, narrows, &self.profiles));
        self
    }

    /// Returns the indices of the tools that exist.
    pub(super) fn admitted_of<S: Subject>(&self, caller: &Caller, subjects: &[S]) -> Vec<usize> {
        let mut views: Vec<_> =
            self.sources.iter().map(|source| (source.view(caller), Marks::new(&source.lists))).collect();
        let mut is_there =
            |place: &usize| views.iter_mut().all(|(view, marks)| view.admits(&subjects[*place], marks));
        (0..subjects.len()).filter(|place| is_there(place)).collect()
    }

    /// Returns the first verdict that denies the tool.
    pub(super) fn refusal<S: Subject>(&self, caller: &Caller, subject: &S) -> Option<LayerVerdict> {
        self.sources.iter().find_map(|source| {
            let (view, mut marks) = (source.view(caller), Marks::new(&source.lists));
            view.mark(subject, &mut marks);
            view.steps().find_map(|step| {
                let (verdict, ground) = view.judge(step, subject, &marks);
                (verdict == PolicyVerdict::Denies).then(|| view.word(step, verdict, ground, subject, &marks))
            })
        })
    }

    /// Returns the verdict of each step. Silent steps are left out if they come before the layers, or belong to a
    /// source that only narrows.
    pub(super) fn verdicts<S: Subject>(&self, caller: &Caller, subject: &S) -> Vec<LayerVerdict> {
        let mut verdicts = Vec::new();
        for source in &self.sources {
            let (view, mut marks) = (source.view(caller), Marks::new(&source.lists));
            view.mark(subject, &mut marks);
            let word = |step: &Step<'_>| {
                let (verdict, ground) = view.judge(*step, subject, &marks);
                view.word(*step, verdict, ground, subject, &marks)
            };
            let (layers, gates): (Vec<_>, Vec<_>) =
                view.steps().partition(|step| matches!(step, Step::Layer(_)));
            let speaks = |verdict: &LayerVerdict| verdict.verdict != PolicyVerdict::Silent;
            verdicts.extend(gates.iter().map(word).filter(speaks));
            if source.narrows.is_some() {
                verdicts.extend(layers.iter().map(word).filter(speaks));
                continue;
            }
            for layer in Layer::ALL {
                let of_layer = |step: &&Step<'_>| matches!(step, Step::Layer(rules) if rules.layer == layer);
                let before = verdicts.len();
                verdicts.extend(layers.iter().filter(of_layer).map(word));
                if verdicts.len() == before {
                    verdicts.extend(absent(layer, caller));
                }
            }
        }
        verdicts
    }

    pub(super) fn sources(&self) -> &[Compiled] {
        &self.sources
    }

    pub(super) fn servers(&self) -> &ServerNames {
        &self.servers
    }

    pub(super) fn registered(&self) -> &Registered {
        &self.registered
    }
}

#[diagnostic::do_not_recommend]
impl Policy for ToolPolicy {
    fn check(&self, caller: &Caller, tool: &Tool) -> Result<(), Refusal> {
        match self.refusal(caller, tool) {
            Some(refusal) => Err(refusal.into()),
            None => Ok(()),
        }
    }

    fn admitted(&self, caller: &Caller, tools: &[Tool]) -> Vec<usize> {
        self.admitted_of(caller, tools)
    }

    fn explain(&self, caller: &Caller, tool: &Tool) -> Vec<LayerVerdict> {
        self.verdicts(caller, tool)
    }

    fn diagnostics(&self, tools: &[Tool]) -> Vec<Diagnostic> {
        lint::diagnostics(self, tools)
    }

    fn named(&self) -> Vec<PolicyRule> {
        names::of(&self.sources, &self.servers)
    }

    /// The policy never changes.
    fn version(&self) -> Option<u64> {
        Some(0)
    }

    fn switches_on(&self, tool: &Tool) -> bool {
        self.sources[0].switches_on(tool)
    }
}

//! The policy that is configured.

use super::compiled::{Compiled, Step};
use super::data::Registered;
use super::lists::Marks;
use super::rules::Layer;
use super::settings::{PolicySettings, ProfileRules};
use super::subject::Subject;
use super::verdict::{LayerVerdict, PolicyVerdict};
use super::words::absent;
use super::{Policy, Refusal, lint};
use crate::caller::Caller;
use crate::diagnostic::Diagnostic;
use crate::link::Links;
use crate::server_names::ServerNames;
use crate::tool::Tool;
use std::collections::BTreeMap;

/// The policy that is configured: which tools exist for whom, layer by layer. Each layer can only narrow.
///
/// The layers are, in this order: the profile, provider and model, the global lists, agent, channel, conversation, sender, sandbox,
/// sub-agents.
/// Before them come what is switched off, what only certain models or a certain channel get, and what is optional: that
/// is there only where `tools.allow` or `tools.alsoAllow` names the tool, its plugin or `group:plugins`.
///
/// A layer denies what its deny list names, by any name that leads to the tool and by any group that the tool is in. It
/// denies what is not in its profile or `alsoAllow`, where it has a profile, and what is not in its allow list, where it has
/// one. An allow list names tools by their own names; an alias counts if a core crate gave it. By a group that is built in
/// it means core tools, and those of plugins that the configuration lets join the group.
///
/// ```standalone_crate
/// use toolkit::prelude::*;
/// use toolkit::{PolicySettings, ToolPolicy, ToolRules};
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
    /// What servers are called that are configured.
    servers: ServerNames,
    /// The first is the user's; all others only narrow it.
    sources: Vec<Compiled>,
}

impl Default for ToolPolicy {
    /// Without any configuration: every tool but those that are optional.
    fn default() -> Self {
        Self::new(PolicySettings::default())
    }
}

impl ToolPolicy {
    /// From what is configured, and from what the core crates of this process register.
    pub fn new(settings: PolicySettings) -> Self {
        Self::with(settings, Registered::linked().clone())
    }

    /// The same, by `link!` lists that a host has put in an order: a list that goes first says itself which crates are core.
    pub(crate) fn linked_by(links: &Links, settings: PolicySettings) -> Self {
        Self::with(settings, Registered::by(links))
    }

    pub(super) fn with(settings: PolicySettings, registered: Registered) -> Self {
        let profiles = settings.profiles.clone();
        let servers = ServerNames::new(settings.servers.iter().map(String::as_str));
        let first = Compiled::new(settings, &registered, None, &BTreeMap::new());
        Self { registered, profiles, servers, sources: vec![first] }
    }

    /// The same, narrowed by another source that is trusted with nothing else: the file of a workspace, say. `name` says in
    /// explanations which it is. A tool exists only if both let it.
    ///
    /// What would widen counts only within that source: tools that it switches on, groups that it lets plugins join.
    #[must_use]
    pub fn narrowed_by(mut self, name: impl Into<String>, settings: PolicySettings) -> Self {
        let narrows = Some(name.into());
        self.sources.push(Compiled::new(settings, &self.registered, narrows, &self.profiles));
        self
    }

    /// The places of those that exist.
    pub(super) fn admitted_of<S: Subject>(&self, caller: &Caller, subjects: &[S]) -> Vec<usize> {
        let mut views: Vec<_> =
            self.sources.iter().map(|source| (source.view(caller), Marks::new(&source.lists))).collect();
        let mut is_there =
            |place: &usize| views.iter_mut().all(|(view, marks)| view.admits(&subjects[*place], marks));
        (0..subjects.len()).filter(|place| is_there(place)).collect()
    }

    /// What denies the tool first.
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

    /// What each step says. Of those before the layers only what has something to say; of a source that narrows only
    /// what says something.
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

    /// It never changes.
    fn version(&self) -> Option<u64> {
        Some(0)
    }

    fn switches_on(&self, tool: &Tool) -> bool {
        self.sources[0].switches_on(tool)
    }
}

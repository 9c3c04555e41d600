//! Compiles one source of configuration.

use super::data::Registered;
use super::entry::{folded, matches};
use super::lists::{Kind, ListId, Lists, Marks, Place};
use super::models::{Model, ModelKey, ProviderKey};
use super::rules::{Compiler, Layer, Rules, Why};
use super::settings::{PolicySettings, ProfileRules, ToolRules};
use super::subject::Subject;
use super::verdict::PolicyVerdict;
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::caller::Caller;
use toolkit_core::config_origin::ConfigOrigins;
use toolkit_core::escape::escape_line;
use toolkit_core::pointer::escape;

/// A compiled source of configuration.
#[derive(Debug)]
pub(super) struct Compiled {
    /// The name of the source, if it only narrows another source.
    pub(super) narrows: Option<String>,
    pub(super) lists: Lists,
    /// True if it has no rules at all.
    pub(super) is_silent: bool,
    pub(super) origins: ConfigOrigins,
    pub(super) calls: Option<bool>,
    switched_off: ListId,
    switched_on: ListId,
    plugins_off: ListId,
    /// The lists that enable optional tools: `tools.allow` and `tools.alsoAllow`.
    opens: [ListId; 2],
    gates: Vec<Gate>,
    /// The layers for all callers.
    common: Vec<Rules>,
    by_provider: Vec<(ProviderKey, Rules)>,
    agents: Vec<(String, Rules)>,
    agents_by_provider: Vec<(String, ProviderKey, Rules)>,
    channels: Vec<(String, Rules)>,
    /// The rules by channel and conversation.
    groups: Vec<(String, String, Rules)>,
    /// The rules by channel and sender.
    senders: Vec<(String, String, Rules)>,
    sandbox: Rules,
    subagents: Rules,
    /// The names of the profiles that it defines.
    pub(super) profiles: Vec<String>,
    /// The groups that plugins may join.
    pub(super) join_groups: BTreeMap<String, BTreeSet<String>>,
}

/// A restriction of a tool to certain models.
#[derive(Debug)]
pub(super) struct Gate {
    list: ListId,
    models: Vec<ModelKey>,
    pub(super) pointer: String,
}

impl Compiled {
    /// Compiles the settings. `narrows` is the name of the source, if it can only narrow; `profiles` are the profiles
    /// of the source that it narrows.
    pub(super) fn new(
        settings: PolicySettings,
        registered: &Registered,
        narrows: Option<String>,
        profiles: &BTreeMap<String, ProfileRules>,
    ) -> Self {
        let servers = settings.servers.clone();
        let is_silent = settings == PolicySettings { servers, ..PolicySettings::default() };
        let mut compiler = Compiler::new(registered);
        compiler.lists.join(&settings.join_groups, registered);
        // Its own definitions take precedence over profiles of other sources.
        let others = profiles.iter().filter(|(name, _)| !settings.profiles.contains_key(*name));
        let others: BTreeMap<_, _> = others.map(|(name, rules)| (name.clone(), rules.clone())).collect();
        compiler.add_profiles(&others);
        compiler.add_profiles(&settings.profiles);

        let whole = &settings.tools;
        let profile = ToolRules { allow: None, deny: Vec::new(), ..whole.clone() };
        let global = ToolRules { profile: None, also_allow: Vec::new(), ..whole.clone() };
        let at = |key: &str| format!("/tools/{key}");
        let open = |compiler: &mut Compiler<'_>, key, entries: &[String]| {
            compiler.list(Kind::Open, Place::At(at(key)), entries)
        };
        let opens = [
            open(&mut compiler, "allow", whole.allow.as_deref().unwrap_or_default()),
            open(&mut compiler, "alsoAllow", &whole.also_allow),
        ];
        let mut switch = |kind, value: bool| {
            let names = settings.enabled.iter().filter(|(_, is_on)| **is_on == value);
            let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
            compiler.list(kind, Place::Members("/tools/settings/", "/enabled"), &names)
        };
        let (switched_off, switched_on) = (switch(Kind::NamesOff, false), switch(Kind::Names, true));
        let plugins = settings.plugins_enabled.iter().filter(|(_, is_on)| !**is_on);
        let plugins: Vec<String> = plugins.map(|(id, _)| id.clone()).collect();
        let plugins_off = compiler.list(Kind::Plugins, Place::Members("/plugins/", "/enabled"), &plugins);
        let gates = settings.models.iter().map(|(tool, (models, pointer))| Gate {
            list: compiler.list(Kind::NamesOff, Place::Code, std::slice::from_ref(tool)),
            models: models.iter().map(|model| ModelKey::new(model)).collect(),
            pointer: pointer.clone(),
        });
        let gates = gates.collect();

        let mut rules = |layer, title: String, pointer: String, rules: &ToolRules| {
            compiler.rules(layer, title, pointer, rules)
        };
        let common = vec![
            rules(Layer::Profile, "the profile".to_owned(), "/tools".to_owned(), &profile),
            rules(Layer::Global, "the global lists".to_owned(), "/tools".to_owned(), &global),
        ];
        let by_provider = settings.by_provider.iter().map(|(key, of)| {
            let pointer = format!("/tools/byProvider/{}", escape(key));
            (
                ProviderKey::new(key),
                rules(Layer::Provider, format!("the rules of {}", model(key)), pointer, of),
            )
        });
        let by_provider = by_provider.collect();
        let agents = settings.agents.iter().map(|(id, of)| {
            let pointer = format!("/agents/{}/tools", escape(id));
            (
                folded(id),
                rules(Layer::Agent, format!("the rules of agent `{}`", escape_line(id)), pointer, of),
            )
        });
        let agents = agents.collect();
        let agents_by_provider = agents_by_provider(&mut rules, &settings.agents_by_provider);
        let channels = settings.channels.iter().map(|(name, of)| {
            let pointer = format!("/channels/{}/tools", escape(name));
            let title = format!("the rules of channel `{}`", escape_line(name));
            (folded(name), rules(Layer::Channel, title, pointer, of))
        });
        let channels = channels.collect();
        let groups = some_callers(&mut rules, Layer::Group, ("groups", "conversation"), &settings.groups);
        let senders = some_callers(&mut rules, Layer::Sender, ("senders", "sender"), &settings.senders);
        let sandbox =
            rules(Layer::Sandbox, "the rules of the sandbox".to_owned(), at("sandbox"), &settings.sandbox);
        let subagents = rules(
            Layer::Subagents,
            "the rules of sub-agents".to_owned(),
            at("subagents"),
            &settings.subagents,
        );
        Self {
            narrows,
            lists: compiler.lists.finish(),
            is_silent,
            origins: settings.origins,
            calls: settings.enable_tool_calls,
            switched_off,
            switched_on,
            plugins_off,
            opens,
            gates,
            common,
            by_provider,
            agents,
            agents_by_provider,
            channels,
            groups,
            senders,
            sandbox,
            subagents,
            profiles: settings.profiles.into_keys().collect(),
            join_groups: settings.join_groups,
        }
    }

    /// Returns true if it enables a tool that its author disabled.
    pub(super) fn switches_on<S: Subject>(&self, subject: &S) -> bool {
        let marks = self.marks(subject);
        marks.has(self.switched_on) && !marks.has(self.switched_off)
    }

    /// Returns true if it enables an optional tool.
    pub(super) fn opens<S: Subject>(&self, subject: &S) -> bool {
        let marks = self.marks(subject);
        self.opens.iter().any(|list| marks.has(*list))
    }

    /// Marks the lists that contain the tool without a pattern.
    fn marks<S: Subject>(&self, subject: &S) -> Marks {
        let mut marks = Marks::new(&self.lists);
        self.lists.mark(subject, &[], &mut marks);
        marks
    }

    /// Returns the tools that are limited to certain models: the entry that names the tool, and the pointer to its list
    /// of models.
    pub(super) fn gates(&self) -> impl Iterator<Item = (&str, &str)> {
        self.gates.iter().filter_map(|gate| {
            let name = self.lists.all[gate.list as usize].entries.first()?;
            Some((&**name, gate.pointer.as_str()))
        })
    }

    /// Returns every layer, for all callers.
    pub(super) fn layers(&self) -> impl Iterator<Item = &Rules> {
        let by_provider = self.by_provider.iter().map(|(_, rules)| rules);
        let agents = self.agents.iter().map(|(_, rules)| rules);
        let agents_by_provider = self.agents_by_provider.iter().map(|(.., rules)| rules);
        let channels = self.channels.iter().map(|(_, rules)| rules);
        let within = self.groups.iter().chain(&self.senders).map(|(.., rules)| rules);
        let last = [&self.sandbox, &self.subagents];
        self.common
            .iter()
            .chain(by_provider)
            .chain(agents)
            .chain(agents_by_provider)
            .chain(channels)
            .chain(within)
            .chain(last)
    }

    /// Returns the layers that apply to this caller.
    pub(super) fn view(&self, caller: &Caller) -> View<'_> {
        let model = Model::of(caller);
        let known = |text: &Option<String>| text.as_deref().map(folded);
        let (agent, channel) = (known(&caller.agent), known(&caller.channel));
        let (conversation, person) = (known(&caller.conversation_id), known(&caller.sender_id));
        let is = |key: &str, known: &Option<String>| known.as_ref().is_some_and(|known| matches(key, known));
        let mut layers: Vec<&Rules> = self.common.iter().collect();
        layers.extend(self.by_provider.iter().filter(|(key, _)| key.names(&model)).map(|(_, rules)| rules));
        layers.extend(self.agents.iter().filter(|(key, _)| is(key, &agent)).map(|(_, rules)| rules));
        let of_agent =
            self.agents_by_provider.iter().filter(|(id, key, _)| is(id, &agent) && key.names(&model));
        layers.extend(of_agent.map(|(.., rules)| rules));
        layers.extend(self.channels.iter().filter(|(key, _)| is(key, &channel)).map(|(_, rules)| rules));
        for (all, id) in [(&self.groups, &conversation), (&self.senders, &person)] {
            let of_caller = all.iter().filter(|(of, key, _)| is(of, &channel) && is(key, id));
            layers.extend(of_caller.map(|(.., rules)| rules));
        }
        layers.extend(caller.sandboxed.then_some(&self.sandbox));
        layers.extend((caller.depth > 0).then_some(&self.subagents));
        layers.sort_by_key(|rules| rules.layer);
        let mut is_active = vec![false; self.lists.all.len()];
        for list in layers.iter().flat_map(|rules| rules.lists()) {
            is_active[list as usize] = true;
        }
        let patterns = self.lists.patterns_in(&is_active);
        let closed = self.gates.iter().filter(|gate| !gate.models.iter().any(|key| key.names(&model)));
        View { compiled: self, layers, closed: closed.collect(), patterns, channel }
    }
}

/// Compiles the rules of agents for a provider or model.
fn agents_by_provider(
    rules: &mut impl FnMut(Layer, String, String, &ToolRules) -> Rules,
    all: &BTreeMap<String, BTreeMap<String, ToolRules>>,
) -> Vec<(String, ProviderKey, Rules)> {
    let mut compiled = Vec::new();
    for (id, by_provider) in all {
        for (key, of) in by_provider {
            let pointer = format!("/agents/{}/tools/byProvider/{}", escape(id), escape(key));
            let title = format!("the rules of agent `{}` for {}", escape_line(id), model(key));
            compiled.push((folded(id), ProviderKey::new(key), rules(Layer::Agent, title, pointer, of)));
        }
    }
    compiled
}

/// Compiles the rules of conversations or senders, which are grouped by channel.
fn some_callers(
    rules: &mut impl FnMut(Layer, String, String, &ToolRules) -> Rules,
    layer: Layer,
    (key, what): (&str, &str),
    all: &BTreeMap<String, BTreeMap<String, ToolRules>>,
) -> Vec<(String, String, Rules)> {
    let mut compiled = Vec::new();
    for (channel, all) in all {
        for (id, of) in all {
            let pointer = format!("/channels/{}/{key}/{}/tools", escape(channel), escape(id));
            let (shown, of_channel) = (escape_line(id), escape_line(channel));
            let title = format!("the rules of {what} `{shown}` in channel `{of_channel}`");
            compiled.push((folded(channel), folded(id), rules(layer, title, pointer, of)));
        }
    }
    compiled
}

/// Formats a provider or model: `provider `openai`` or `model `openai/gpt-5``.
fn model(key: &str) -> String {
    let what = if key.contains('/') { "model" } else { "provider" };
    format!("{what} `{}`", escape_line(key))
}

/// The part of a source of configuration that applies to one caller.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) layers: Vec<&'a Rules>,
    /// The restrictions that exclude the caller's model.
    closed: Vec<&'a Gate>,
    /// The patterns that occur in one of the layers, as flags.
    patterns: Vec<bool>,
    channel: Option<String>,
}

/// A check that can deny a tool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'a> {
    Calls,
    Switch,
    Models,
    Channel,
    Optional,
    Layer(&'a Rules),
}

/// The reason for the verdict of a step.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ground<'a> {
    /// It has no verdict.
    Nothing,
    CallsOff,
    SwitchedOff(ListId),
    SwitchedOn(ListId),
    OffByAuthor,
    WrongModel(&'a Gate),
    OtherChannel,
    /// An entry enables the tool.
    Opened(ListId),
    Unopened,
    Layer(&'a Rules, Why),
}

impl<'a> View<'a> {
    /// Returns all checks that can deny a tool, in order.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step<'a>> {
        [Step::Calls, Step::Switch, Step::Models, Step::Channel, Step::Optional]
            .into_iter()
            .chain(self.layers.iter().map(|rules| Step::Layer(rules)))
    }

    /// Marks the lists that contain the tool.
    pub(super) fn mark<S: Subject>(&self, subject: &S, marks: &mut Marks) {
        marks.clear();
        self.compiled.lists.mark(subject, &self.patterns, marks);
    }

    /// Returns true if no check denies the tool.
    pub(super) fn admits<S: Subject>(&self, subject: &S, marks: &mut Marks) -> bool {
        self.mark(subject, marks);
        self.steps().all(|step| self.judge(step, subject, marks).0 != PolicyVerdict::Denies)
    }

    /// Returns the verdict of a step on the marked tool.
    pub(super) fn judge<S: Subject>(
        &self,
        step: Step<'a>,
        subject: &S,
        marks: &Marks,
    ) -> (PolicyVerdict, Ground<'a>) {
        let compiled = self.compiled;
        // The author's requirements are checked once: a source that only narrows does not check them again.
        let asks_for_it = compiled.narrows.is_none();
        let marked = |lists: &[ListId]| lists.iter().copied().find(|list| marks.has(*list));
        match step {
            Step::Calls if compiled.calls == Some(false) => (PolicyVerdict::Denies, Ground::CallsOff),
            Step::Switch => match marked(&[compiled.switched_off, compiled.plugins_off]) {
                Some(list) => (PolicyVerdict::Denies, Ground::SwitchedOff(list)),
                None if !asks_for_it => (PolicyVerdict::Silent, Ground::Nothing),
                None => match marked(&[compiled.switched_on]) {
                    Some(list) => (PolicyVerdict::Allows, Ground::SwitchedOn(list)),
                    None if !subject.is_enabled() => (PolicyVerdict::Denies, Ground::OffByAuthor),
                    None => (PolicyVerdict::Silent, Ground::Nothing),
                },
            },
            Step::Models => match self.closed.iter().find(|gate| marks.has(gate.list)) {
                Some(gate) => (PolicyVerdict::Denies, Ground::WrongModel(gate)),
                None => (PolicyVerdict::Silent, Ground::Nothing),
            },
            Step::Channel => match subject.channel() {
                Some(own) if asks_for_it && self.channel.as_deref() != Some(&*folded(own)) => {
                    (PolicyVerdict::Denies, Ground::OtherChannel)
                }
                _ => (PolicyVerdict::Silent, Ground::Nothing),
            },
            Step::Optional if asks_for_it && subject.is_optional() => match marked(&compiled.opens) {
                Some(list) => (PolicyVerdict::Allows, Ground::Opened(list)),
                None => (PolicyVerdict::Denies, Ground::Unopened),
            },
            Step::Layer(rules) => {
                let (verdict, why) = rules.judge(marks);
                (verdict, Ground::Layer(rules, why))
            }
            Step::Calls | Step::Optional => (PolicyVerdict::Silent, Ground::Nothing),
        }
    }
}

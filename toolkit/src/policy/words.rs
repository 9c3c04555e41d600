//! Texts for the verdicts of a policy, for people and models.

use super::compiled::{Compiled, Ground, Step, View};
use super::entry::Entry;
use super::lists::{ListId, Marks};
use super::rules::{Layer, Rules, Why};
use super::subject::Subject;
use super::verdict::{LayerVerdict, PolicyRule, PolicyVerdict};
use toolkit_core::caller::Caller;
use toolkit_core::escape::escape_line;

impl View<'_> {
    /// Formats the verdict of a step.
    pub(super) fn word<S: Subject>(
        &self,
        step: Step<'_>,
        verdict: PolicyVerdict,
        ground: Ground<'_>,
        subject: &S,
        marks: &Marks,
    ) -> LayerVerdict {
        let words = Words { compiled: self.compiled, marks };
        let name = subject.name();
        let (reason, rule) = match ground {
            Ground::Nothing => ("no entry matches the tool".to_owned(), None),
            Ground::CallsOff => {
                ("models can call no tools at all".to_owned(), Some(words.rule("/enableToolCalls")))
            }
            Ground::SwitchedOff(list) => ("it is switched off".to_owned(), words.entry(list).1),
            Ground::SwitchedOn(list) => ("it is switched on".to_owned(), words.entry(list).1),
            Ground::OffByAuthor => (
                format!("its author switched it off; `tools.settings.{name}.enabled` can switch it on"),
                None,
            ),
            Ground::WrongModel(gate) => {
                ("only the models in its list get it".to_owned(), Some(words.rule(&gate.pointer)))
            }
            Ground::OtherChannel => (
                format!(
                    "it is available only in sessions of the channel `{}`",
                    escape_line(subject.channel().unwrap_or_default())
                ),
                None,
            ),
            Ground::Opened(list) => {
                let (entry, rule) = words.entry(list);
                (format!("`{entry}` enables it"), rule)
            }
            Ground::Unopened => {
                let plugin = match subject.plugin_id() {
                    Some(id) => format!(", `{}` or `group:plugins`", escape_line(&id)),
                    None => String::new(),
                };
                (
                    format!(
                        "it is optional: only `{name}`{plugin} in `tools.allow` or `tools.alsoAllow` enables it"
                    ),
                    None,
                )
            }
            Ground::Layer(rules, why) => words.layer(rules, why),
        };
        let mut layer = match step {
            Step::Calls => "the switch of all tools".to_owned(),
            Step::Switch => "the switch of the tool".to_owned(),
            Step::Models => "the models of the tool".to_owned(),
            Step::Channel => "the channel of the tool".to_owned(),
            Step::Optional => "the optional tools".to_owned(),
            Step::Layer(rules) => rules.title.clone(),
        };
        if let Some(source) = &self.compiled.narrows {
            layer = format!("{layer} in {}", escape_line(source));
        }
        LayerVerdict { layer, verdict, reason, rule }
    }
}

/// Returns the verdict of a layer that has no rules for the caller.
pub(super) fn absent(layer: Layer, caller: &Caller) -> Option<LayerVerdict> {
    let named = |what: &str, name: &Option<String>| match name {
        Some(name) => format!("there are no rules for {what} `{}`", escape_line(name)),
        None => format!("the calling {what} is unknown"),
    };
    let (layer, reason) = match layer {
        Layer::Provider => match (&caller.provider, &caller.model) {
            (None, model @ Some(_)) => ("the rules of the model", named("model", model)),
            (provider, _) => ("the rules of the provider", named("provider", provider)),
        },
        Layer::Agent => ("the rules of the agent", named("agent", &caller.agent)),
        Layer::Channel => (
            "the rules of the channel",
            match &caller.channel {
                Some(_) => named("channel", &caller.channel),
                None => "the call did not come from a channel".to_owned(),
            },
        ),
        // These rules are part of the channel's rules.
        Layer::Group | Layer::Sender => return None,
        Layer::Sandbox => ("the rules of the sandbox", "the caller is not in a sandbox".to_owned()),
        Layer::Subagents => ("the rules of sub-agents", "the caller is not a sub-agent".to_owned()),
        Layer::Profile => ("the profile", "there is none".to_owned()),
        Layer::Global => ("the global lists", "there are none".to_owned()),
    };
    Some(LayerVerdict::new(layer, PolicyVerdict::Silent, reason))
}

/// The data needed for the texts.
struct Words<'a> {
    compiled: &'a Compiled,
    marks: &'a Marks,
}

impl Words<'_> {
    fn rule(&self, pointer: &str) -> PolicyRule {
        self.rule_of(None, pointer.to_owned())
    }

    fn rule_of(&self, entry: Option<&str>, pointer: String) -> PolicyRule {
        let origin = self.compiled.origins.find(&pointer).cloned();
        PolicyRule { entry: entry.map(str::to_owned), pointer, origin }
    }

    /// Returns the first entry of the list that names the tool, and its rule.
    fn entry(&self, list: ListId) -> (String, Option<PolicyRule>) {
        let of = &self.compiled.lists.all[list as usize];
        let Some(entry) = self.marks.entry(list) else { return (String::new(), None) };
        let text = &*of.entries[entry as usize];
        (
            escape_line(text.trim()).into_owned(),
            of.pointer(entry).map(|pointer| self.rule_of(Some(text), pointer)),
        )
    }

    /// Returns true if the entry of the list that decides is invalid.
    fn is_unreadable(&self, list: ListId) -> bool {
        let entries = &self.compiled.lists.all[list as usize].entries;
        self.marks.entry(list).is_some_and(|entry| Entry::parse(&entries[entry as usize]).is_err())
    }

    fn layer(&self, rules: &Rules, why: Why) -> (String, Option<PolicyRule>) {
        let at = |key: &str| Some(self.rule(&format!("{}/{key}", rules.pointer)));
        let profile = escape_line(rules.profile.as_ref().map_or("", |chosen| chosen.name.trim()));
        // A registered profile is in no configuration: there the rule is the choice of the profile.
        let of_profile = |list, how: &str| {
            let (entry, rule) = self.entry(list);
            (format!("the profile `{profile}` {how} `{entry}`"), rule.or_else(|| at("profile")))
        };
        let with_entry = |list, how: &str| {
            let (entry, rule) = self.entry(list);
            (format!("`{entry}` is in its {how} list"), rule)
        };
        match why {
            Why::NoRule if rules.layer == Layer::Profile => {
                ("none is set, and the default one, `full`, has every tool".to_owned(), None)
            }
            Why::NoRule => ("no entry matches the tool".to_owned(), None),
            Why::Denied(list) if self.is_unreadable(list) => {
                let (entry, rule) = self.entry(list);
                (format!("the entry `{entry}` in its deny list is invalid, so it denies every tool"), rule)
            }
            Why::Denied(list) => with_entry(list, "deny"),
            Why::Allowed(list) => with_entry(list, "allow"),
            Why::AlsoAllowed(list) => with_entry(list, "`alsoAllow`"),
            Why::InProfile(list) => of_profile(list, "has it by"),
            Why::ProfileDenies(list) => of_profile(list, "denies"),
            Why::InFullProfile => (format!("the profile `{profile}` has every tool"), at("profile")),
            Why::NotInProfile => (format!("the profile `{profile}` does not have it"), at("profile")),
            Why::NoSuchProfile => {
                let near = rules.profile.as_ref().and_then(|chosen| chosen.near.as_deref());
                let advice =
                    near.map(|near| format!("; did you mean `{}`?", escape_line(near))).unwrap_or_default();
                (format!("there is no profile `{profile}`, so it allows nothing{advice}"), at("profile"))
            }
            Why::NotAllowed(list) => {
                let is_empty = self.compiled.lists.all[list as usize].entries.is_empty();
                let reason =
                    if is_empty { "its allow list is empty" } else { "its allow list does not have it" };
                (reason.to_owned(), at("allow"))
            }
            Why::NotDenied(_) => ("its deny list does not have it".to_owned(), at("deny")),
        }
    }
}

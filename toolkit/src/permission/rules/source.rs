//! The rules of one source, by level and kind.

use super::{Question, Written, fold, names};
use crate::config::ConfigOrigins;
use crate::permission::matching::{is_any, matches};
use crate::permission::settings::{
    Decision, PermissionEntry, PermissionRule, PermissionRules, PermissionSettings,
};
use std::collections::BTreeMap;

/// The rules of one source.
#[derive(Debug, Clone)]
pub(super) struct Source {
    everybody: Kinds,
    /// By what names them, which may have `*` in it, as in policies.
    agents: BTreeMap<String, Kinds>,
    channels: BTreeMap<String, Kinds>,
    origins: ConfigOrigins,
}

/// For whom rules are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level<'a> {
    Everybody,
    Agent(&'a str),
    Channel(&'a str),
}

/// The rules of one level. Several may have the same kind, written differently: then the strictest counts.
#[derive(Debug, Clone, Default)]
struct Kinds {
    named: BTreeMap<String, Vec<KindRule>>,
    /// Kinds with `*` in them.
    wildcards: Vec<(String, KindRule)>,
}

#[derive(Debug, Clone)]
struct KindRule {
    pointer: String,
    rule: PermissionRule,
}

/// A rule that says something of a text.
#[derive(Debug, Clone)]
pub(super) struct Found<'a> {
    pub(super) decision: Decision,
    /// Whether it is an entry without `*`.
    pub(super) is_exact: bool,
    rule: &'a KindRule,
    /// Which entry of its list.
    index: Option<usize>,
    pub(super) origins: &'a ConfigOrigins,
}

impl Source {
    pub(super) fn new(settings: PermissionSettings) -> Self {
        let PermissionSettings { everybody, agents, channels, origins } = settings;
        let by_name = |all: BTreeMap<String, PermissionRules>, place: &str| {
            let mut folded: BTreeMap<String, Kinds> = BTreeMap::new();
            for (name, rules) in all {
                let pointer = format!("/{place}/{}/permission", step(&name));
                folded.entry(fold(&name)).or_default().add(rules, &pointer);
            }
            folded
        };
        let mut kinds = Kinds::default();
        kinds.add(everybody, "/permission");
        Self {
            everybody: kinds,
            agents: by_name(agents, "agents"),
            channels: by_name(channels, "channels"),
            origins,
        }
    }

    /// What is for whom, of a name also what a pattern says of it.
    fn kinds<'a>(&'a self, level: Level<'_>) -> impl Iterator<Item = &'a Kinds> {
        let (everybody, (named, name)) = match level {
            Level::Everybody => (Some(&self.everybody), (None, "")),
            Level::Agent(name) => (None, (Some(&self.agents), name)),
            Level::Channel(name) => (None, (Some(&self.channels), name)),
        };
        let named = named.into_iter().flatten().filter(move |(key, _)| names(key, name));
        everybody.into_iter().chain(named.map(|(_, kinds)| kinds))
    }

    /// What is said at a level.
    pub(super) fn says(
        &self,
        level: Level<'_>,
        question: &Question<'_>,
        text: Option<&str>,
    ) -> Option<Found<'_>> {
        let rules = self.kinds(level).filter_map(|kinds| kinds.named.get(question.kind)).flatten();
        let found = rules.filter_map(|rule| rule.says(question, text, &self.origins));
        found.reduce(|one, other| if other.decision > one.decision { other } else { one })
    }

    /// The rule of a level that denies everything of a kind.
    pub(super) fn denies(&self, level: Level<'_>, kind: &str) -> Option<Found<'_>> {
        let of_kind = self.kinds(level).flat_map(|kinds| {
            let named = kinds.named.get(kind).into_iter().flatten();
            let wildcards = kinds.wildcards.iter().filter(|(pattern, _)| matches(pattern, kind));
            named.chain(wildcards.map(|(_, rule)| rule))
        });
        let rule = { of_kind }.find(|rule| matches!(rule.rule, PermissionRule::Always(Decision::Deny)))?;
        Some(Found { decision: Decision::Deny, is_exact: false, rule, index: None, origins: &self.origins })
    }

    /// The kinds of which something is allowed for everybody.
    pub(super) fn allowed_kinds(&self) -> impl Iterator<Item = &str> {
        let named = self.everybody.named.iter();
        named.filter(|(_, rules)| rules.iter().any(|rule| rule.rule.allows())).map(|(kind, _)| &**kind)
    }

    pub(super) fn each_rule(&self, mut see: impl FnMut(Written<'_>)) {
        let everybody = std::iter::once((&self.everybody, true));
        let narrower = self.agents.values().chain(self.channels.values()).map(|kinds| (kinds, false));
        for (kinds, can_allow) in everybody.chain(narrower) {
            let named =
                kinds.named.iter().flat_map(|(kind, rules)| rules.iter().map(move |rule| (kind, rule)));
            let wildcards = kinds.wildcards.iter().map(|(kind, rule)| (kind, rule));
            for (kind, KindRule { pointer, rule }) in named.chain(wildcards) {
                see(Written { kind, pointer, rule, origin: self.origins.find(pointer), can_allow });
            }
        }
    }

    /// What is said at a level by kinds with `*` in them.
    pub(super) fn says_by_wildcard<'a>(
        &'a self,
        level: Level<'_>,
        question: &Question<'_>,
        text: Option<&str>,
        narrow: &mut impl FnMut(Option<Found<'a>>),
    ) {
        let wildcards = self.kinds(level).flat_map(|kinds| &kinds.wildcards);
        for (_, rule) in wildcards.filter(|(pattern, _)| matches(pattern, question.kind)) {
            narrow(rule.says(question, text, &self.origins));
        }
    }
}

impl Kinds {
    fn add(&mut self, rules: PermissionRules, pointer: &str) {
        for (kind, rule) in rules {
            let rule = KindRule { pointer: format!("{pointer}/{}", step(&kind)), rule };
            let kind = fold(&kind);
            if kind.contains('*') {
                self.wildcards.push((kind, rule));
            } else {
                self.named.entry(kind).or_default().push(rule);
            }
        }
    }
}

impl KindRule {
    fn says<'a>(
        &'a self,
        question: &Question<'_>,
        text: Option<&str>,
        origins: &'a ConfigOrigins,
    ) -> Option<Found<'a>> {
        let found = |decision, is_exact, index| Found { decision, is_exact, rule: self, index, origins };
        let entries = match &self.rule {
            // Of single paths none is allowed unnamed.
            PermissionRule::Always(Decision::Allow) if question.is_single_path => {
                return Some(found(Decision::Ask, false, None));
            }
            PermissionRule::Always(decision) => return Some(found(*decision, false, None)),
            PermissionRule::List(entries) => entries,
        };
        let matches_text = |entry: &PermissionEntry| match text {
            None => is_any(&entry.pattern),
            Some(text) => {
                let is_plain =
                    || !entry.pattern.contains(char::is_control) && !text.contains(char::is_control);
                matches(&entry.pattern, text) && (entry.decision != Decision::Allow || is_plain())
            }
        };
        let matches_also = |entry: &PermissionEntry| {
            entry.decision != Decision::Allow
                && question.also.iter().any(|other| matches(&entry.pattern, other))
        };
        let last = |counts: &dyn Fn(&PermissionEntry) -> bool| {
            let (index, entry) = entries.iter().enumerate().rev().find(|(_, entry)| counts(entry))?;
            let is_exact = !entry.pattern.contains('*');
            let lifts = !question.is_raised && (is_exact || !question.is_single_path);
            let decision = if lifts { entry.decision } else { entry.decision.max(Decision::Ask) };
            Some(found(decision, is_exact, Some(index)))
        };
        let by_text = last(&matches_text);
        if question.also.is_empty() {
            return by_text;
        }
        // Another way to write it never makes anything weaker: an entry that asks does not come after one that denies.
        let in_any_way = last(&|entry| matches_text(entry) || matches_also(entry));
        match (by_text, in_any_way) {
            (Some(one), Some(other)) => Some(if other.decision > one.decision { other } else { one }),
            (one, other) => one.or(other),
        }
    }
}

impl Found<'_> {
    /// Where it stands in its configuration.
    pub(super) fn pointer(&self) -> String {
        match self.index {
            None => self.rule.pointer.clone(),
            Some(index) => format!("{}/{index}", self.rule.pointer),
        }
    }

    /// What it says.
    pub(super) fn text(&self) -> String {
        match (&self.rule.rule, self.index) {
            (PermissionRule::List(entries), Some(index)) => {
                let entry = &entries[index];
                format!("`{}`: {}", entry.pattern, entry.decision)
            }
            (PermissionRule::Always(decision), _) => decision.to_string(),
            (PermissionRule::List(_), None) => String::new(),
        }
    }
}

/// A name as a step of a JSON pointer.
fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

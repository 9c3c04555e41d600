//! The rules of one source, by level and kind.

mod prospect;

use super::{Question, Text, Written, fold, names};
use crate::permission::glob::PathMatch;
use crate::permission::keys::{Means, meant};
use crate::permission::matching::{is_any, matches, may_begin, may_match};
use crate::permission::settings::{
    Decision, PermissionEntry, PermissionRule, PermissionRules, PermissionSettings,
};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use toolkit_core::config_origin::ConfigOrigins;
use toolkit_core::pointer::escape;

pub(super) use prospect::Prospect;

/// The rules of one source.
#[derive(Debug, Clone)]
pub(super) struct Source {
    everybody: Kinds,
    /// Rules by agent. The names may contain `*`, as in policies.
    agents: BTreeMap<String, Kinds>,
    channels: BTreeMap<String, Kinds>,
    /// Rules by channel, then by conversation.
    groups: BTreeMap<String, BTreeMap<String, Kinds>>,
    /// Rules by channel, then by sender.
    senders: BTreeMap<String, BTreeMap<String, Kinds>>,
    origins: ConfigOrigins,
}

/// The callers that rules apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level<'a> {
    Everybody,
    Agent(&'a str),
    Channel(&'a str),
    /// A conversation of a channel.
    Group(&'a str, &'a str),
    /// A sender of a channel.
    Sender(&'a str, &'a str),
}

/// The rules of one level. Several may have the same key in different spellings: then the strictest applies.
#[derive(Debug, Clone, Default)]
struct Kinds {
    named: BTreeMap<String, Vec<KindRule>>,
    /// The rules whose key contains `*`.
    wildcards: Vec<(String, KindRule)>,
}

#[derive(Debug, Clone)]
struct KindRule {
    pointer: String,
    rule: PermissionRule,
    /// The path patterns of its entries, parsed when a path is first checked.
    paths: OnceLock<Vec<PathMatch>>,
}

/// A rule that decides about a text.
#[derive(Debug, Clone)]
pub(super) struct Found<'a> {
    pub(super) decision: Decision,
    /// True if it is an entry without `*`.
    pub(super) is_exact: bool,
    rule: &'a KindRule,
    /// The index of the entry in its list.
    index: Option<usize>,
    pub(super) origins: &'a ConfigOrigins,
}

impl Source {
    pub(super) fn new(settings: PermissionSettings) -> Self {
        let PermissionSettings { everybody, agents, channels, groups, senders, origins } = settings;
        let by_name = |all: BTreeMap<String, PermissionRules>, place: &str| {
            let mut folded: BTreeMap<String, Kinds> = BTreeMap::new();
            for (name, rules) in all {
                let pointer = format!("{place}/{}/permission", escape(&name));
                folded.entry(fold(&name)).or_default().add(rules, &pointer);
            }
            folded
        };
        let within = |all: BTreeMap<String, BTreeMap<String, PermissionRules>>, place: &str| {
            let mut folded: BTreeMap<String, BTreeMap<String, Kinds>> = BTreeMap::new();
            for (channel, all) in all {
                let pointer = format!("/channels/{}/{place}", escape(&channel));
                let known = folded.entry(fold(&channel)).or_default();
                for (name, kinds) in by_name(all, &pointer) {
                    known.entry(name).or_default().merge(kinds);
                }
            }
            folded
        };
        let mut kinds = Kinds::default();
        kinds.add(everybody, "/permission");
        Self {
            everybody: kinds,
            agents: by_name(agents, "/agents"),
            channels: by_name(channels, "/channels"),
            groups: within(groups, "groups"),
            senders: within(senders, "senders"),
            origins,
        }
    }

    /// Returns the rules of a level. The names of agents, channels, conversations and senders may be patterns.
    fn kinds<'a>(&'a self, level: Level<'_>) -> Vec<&'a Kinds> {
        let by_name = |all: &'a BTreeMap<String, Kinds>, name: &str| -> Vec<&'a Kinds> {
            all.iter().filter(|(key, _)| names(key, name)).map(|(_, kinds)| kinds).collect()
        };
        let within = |all: &'a BTreeMap<String, BTreeMap<String, Kinds>>, channel: &str, name: &str| {
            let channels = all.iter().filter(|(key, _)| names(key, channel));
            channels.flat_map(|(_, all)| by_name(all, name)).collect()
        };
        match level {
            Level::Everybody => vec![&self.everybody],
            Level::Agent(name) => by_name(&self.agents, name),
            Level::Channel(name) => by_name(&self.channels, name),
            Level::Group(channel, name) => within(&self.groups, channel, name),
            Level::Sender(channel, name) => within(&self.senders, channel, name),
        }
    }

    /// Returns the decision on a level: by a rule of the kind or the tool, or else by a rule whose key contains `*`.
    pub(super) fn says(
        &self,
        level: Level<'_>,
        question: &Question<'_>,
        text: Text<'_>,
    ) -> Option<Found<'_>> {
        let each = self.kinds(level).into_iter().filter_map(|kinds| {
            kinds.says_by_key(question, text, &self.origins).or_else(|| {
                let found = kinds.says_by_wildcard(question, text, &self.origins);
                // An `allow` here would allow actions that its author did not think of.
                found.filter(|found| found.decision > Decision::Allow)
            })
        });
        each.reduce(stricter)
    }

    /// Returns the decision of an untrusted source on a level: exceptions do not apply.
    pub(super) fn says_strictly(
        &self,
        level: Level<'_>,
        question: &Question<'_>,
        text: Text<'_>,
    ) -> Option<Found<'_>> {
        let each = self.kinds(level).into_iter().flat_map(|kinds| {
            let by_key = kinds.says_by_key(question, text, &self.origins);
            [by_key, kinds.says_by_wildcard(question, text, &self.origins)]
        });
        each.flatten().reduce(stricter)
    }

    /// Returns the rule of a level that denies everything of a kind or a tool. In an untrusted source, exceptions do
    /// not apply.
    pub(super) fn denies(
        &self,
        level: Level<'_>,
        question: &Question<'_>,
        is_trusted: bool,
    ) -> Option<Found<'_>> {
        let is_denial = |rule: &&KindRule| matches!(rule.rule, PermissionRule::Always(Decision::Deny));
        let rule = self.kinds(level).into_iter().find_map(|kinds| {
            let mut by_key = kinds.by_key(question).map(|(rule, _)| rule).peekable();
            let has_exception = is_trusted && by_key.peek().is_some();
            let wildcards = kinds.by_wildcard(question).filter(|_| !has_exception);
            by_key.chain(wildcards).find(is_denial)
        })?;
        Some(Found { decision: Decision::Deny, is_exact: false, rule, index: None, origins: &self.origins })
    }

    /// Returns the kinds of which something is allowed for everybody.
    pub(super) fn allowed_kinds(&self) -> impl Iterator<Item = &str> {
        let named = self.everybody.named.iter();
        named.filter(|(_, rules)| rules.iter().any(|rule| rule.rule.allows())).map(|(kind, _)| &**kind)
    }

    pub(super) fn each_rule(&self, mut see: impl FnMut(Written<'_>)) {
        let everybody = std::iter::once((&self.everybody, true));
        let within = self.groups.values().chain(self.senders.values()).flat_map(BTreeMap::values);
        let narrower = self.agents.values().chain(self.channels.values()).chain(within);
        let narrower = narrower.map(|kinds| (kinds, false));
        for (kinds, can_allow) in everybody.chain(narrower) {
            let named =
                kinds.named.iter().flat_map(|(kind, rules)| rules.iter().map(move |rule| (kind, rule)));
            let wildcards = kinds.wildcards.iter().map(|(kind, rule)| (kind, rule));
            for (kind, KindRule { pointer, rule, .. }) in named.chain(wildcards) {
                see(Written { kind, pointer, rule, origin: self.origins.find(pointer), can_allow });
            }
        }
    }
}

/// The part of a rule that applies.
#[derive(Debug, Clone, Copy)]
enum Counts {
    All,
    /// Everything except `allow`: the tool may have chosen the name.
    ButAllow,
    /// Only entries of its list that deny.
    DeniedPaths,
}

/// Returns the stricter of two; if they are equally strict, the first.
fn stricter<'a>(one: Found<'a>, other: Found<'a>) -> Found<'a> {
    if other.decision > one.decision { other } else { one }
}

impl Kinds {
    fn add(&mut self, rules: PermissionRules, pointer: &str) {
        for (key, rule) in rules {
            let rule =
                KindRule { pointer: format!("{pointer}/{}", escape(&key)), rule, paths: OnceLock::new() };
            let key = meant(&key);
            if key.contains('*') {
                self.wildcards.push((key, rule));
            } else {
                self.named.entry(key).or_default().push(rule);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for (key, rules) in other.named {
            self.named.entry(key).or_default().extend(rules);
        }
        self.wildcards.extend(other.wildcards);
    }

    /// Returns the rules whose key is the kind or names the tool, and the part of them that applies.
    fn by_key<'a>(&'a self, question: &Question<'_>) -> impl Iterator<Item = (&'a KindRule, Counts)> {
        let mut found: Vec<(&KindRule, Counts)> = Vec::new();
        let mut add = |key: &str, counts: Counts| {
            found.extend(self.named.get(key).into_iter().flatten().map(|rule| (rule, counts)));
        };
        add(question.kind, Counts::All);
        if !self.named.is_empty()
            && let Some(tool) = question.tool
        {
            let of_kind = question.kind == fold(tool.permission());
            Means::each(tool, |means, key| match (of_kind, means) {
                _ if key == question.kind => {}
                (true, Means::Exactly) => add(key, Counts::All),
                (true, Means::Loosely) => add(key, Counts::ButAllow),
                // A tool that only reads has questions by its name, and opens paths.
                (false, _) if question.is_reading_of_tool => add(key, Counts::DeniedPaths),
                (false, _) => {}
            });
        }
        found.into_iter()
    }

    /// Returns the rules whose key contains `*` and matches the kind or a name of the tool.
    fn by_wildcard<'a>(&'a self, question: &Question<'_>) -> impl Iterator<Item = &'a KindRule> {
        let is_meant = |pattern: &str| {
            let mut is_meant = matches(pattern, question.kind);
            if let Some(tool) = question.tool {
                Means::each(tool, |_, key| is_meant |= matches(pattern, key));
            }
            is_meant
        };
        let found: Vec<&KindRule> =
            self.wildcards.iter().filter(|(pattern, _)| is_meant(pattern)).map(|(_, rule)| rule).collect();
        found.into_iter()
    }

    fn says_by_key<'a>(
        &'a self,
        question: &Question<'_>,
        text: Text<'_>,
        origins: &'a ConfigOrigins,
    ) -> Option<Found<'a>> {
        let found = self.by_key(question).filter_map(|(rule, counts)| {
            let found = rule.says(question, text, origins)?;
            let does_count = match counts {
                Counts::All => true,
                Counts::ButAllow => found.decision > Decision::Allow,
                Counts::DeniedPaths => found.decision == Decision::Deny && found.index.is_some(),
            };
            does_count.then_some(found)
        });
        found.reduce(stricter)
    }

    fn says_by_wildcard<'a>(
        &'a self,
        question: &Question<'_>,
        text: Text<'_>,
        origins: &'a ConfigOrigins,
    ) -> Option<Found<'a>> {
        self.by_wildcard(question).filter_map(|rule| rule.says(question, text, origins)).reduce(stricter)
    }
}

impl KindRule {
    fn says<'a>(
        &'a self,
        question: &Question<'_>,
        text: Text<'_>,
        origins: &'a ConfigOrigins,
    ) -> Option<Found<'a>> {
        let found = |decision, is_exact, index| Found { decision, is_exact, rule: self, index, origins };
        let entries = match &self.rule {
            // A single path is allowed only if it is named.
            PermissionRule::Always(Decision::Allow) if question.is_single_path => {
                return Some(found(Decision::Ask, false, None));
            }
            PermissionRule::Always(decision) => return Some(found(*decision, false, None)),
            PermissionRule::List(entries) => entries,
        };
        // A path is matched as a path, any other text literally.
        let path = text.path.map(|path| (path, self.paths(entries)));
        let is_plain = |entry: &PermissionEntry, text: &str| {
            !entry.pattern.contains(char::is_control) && !text.contains(char::is_control)
        };
        let matches_text = |index: usize, entry: &PermissionEntry| match (text.text, path) {
            (None, _) => is_any(&entry.pattern),
            (Some(text), Some((path, paths))) => match entry.decision {
                Decision::Allow => paths[index].allows(path) && is_plain(entry, text),
                Decision::Ask | Decision::Deny => paths[index].includes(path),
            },
            (Some(text), None) => {
                matches(&entry.pattern, text) && (entry.decision != Decision::Allow || is_plain(entry, text))
            }
        };
        // A program, or a program and its subcommand, stands for every call of it.
        let begins = |entry: &PermissionEntry, text: &str| {
            question.covers_arguments && may_begin(&entry.pattern, text)
        };
        let matches_in_any_way = |index: usize, entry: &PermissionEntry| {
            matches_text(index, entry)
                || entry.decision != Decision::Allow
                    && (path.is_some_and(|(path, paths)| paths[index].includes_in_any_way(path))
                        || text.text.is_some_and(|text| begins(entry, text))
                        || question
                            .also
                            .iter()
                            .any(|other| may_match(&entry.pattern, other) || begins(entry, other)))
        };
        let at = |index: usize| {
            let entry = &entries[index];
            let is_exact = match path {
                Some((path, paths)) => paths[index].is_literal(path),
                None => !entry.pattern.contains('*'),
            };
            let lifts = !question.is_raised && (is_exact || !question.is_single_path);
            let decision = if lifts { entry.decision } else { entry.decision.max(Decision::Ask) };
            found(decision, is_exact, Some(index))
        };
        let last = |counts: &dyn Fn(usize, &PermissionEntry) -> bool| {
            entries
                .iter()
                .enumerate()
                .rev()
                .find(|(index, entry)| counts(*index, entry))
                .map(|(index, _)| index)
        };
        let by_text = last(&matches_text);
        // An alternative spelling never weakens the decision: an entry that asks does not override one that denies.
        let otherwise = if path.is_some() {
            last(&matches_in_any_way).map(at)
        } else {
            let later = by_text.map_or(0, |index| index + 1)..entries.len();
            later.rev().filter(|index| matches_in_any_way(*index, &entries[*index])).map(at).reduce(stricter)
        };
        match (by_text.map(at), otherwise) {
            (Some(one), Some(other)) => Some(stricter(one, other)),
            (one, other) => one.or(other),
        }
    }

    fn paths(&self, entries: &[PermissionEntry]) -> &[PathMatch] {
        self.paths.get_or_init(|| entries.iter().map(|entry| PathMatch::new(&entry.pattern)).collect())
    }
}

impl Found<'_> {
    /// Returns the pointer of the rule in its configuration.
    pub(super) fn pointer(&self) -> String {
        match self.index {
            None => self.rule.pointer.clone(),
            Some(index) => format!("{}/{index}", self.rule.pointer),
        }
    }

    /// Returns the text of the rule.
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

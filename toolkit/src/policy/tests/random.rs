//! Random configurations: the policy agrees with its model, and no narrowing makes a tool appear.

use super::fixture::{Thing, policy, things};
use super::model;
use crate::policy::{PolicySettings, PolicyVerdict, ProfileRules, ToolPolicy, ToolRules};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use toolkit_core::caller::Caller;

const ENTRIES: [&str; 38] = [
    "exec",
    "read",
    "write",
    "bash",
    "sh",
    "run",
    "also",
    "status",
    "extra",
    "odd",
    "acme",
    "beta",
    " Acme ",
    "READ",
    "acme_files",
    "acme_web",
    "beta_a",
    "beta_off",
    "beta_chat",
    "unknown",
    "*",
    "acme*",
    "r*",
    "*a*",
    "s*",
    "group:fs",
    "group: FS",
    "group:runtime",
    "group:mine",
    "group:web",
    "group:plugins",
    "group:*",
    "group:f*",
    "group:p*",
    "",
    "group:",
    "rea\u{e4}d",
    "group*",
];
const PROFILES: [&str; 8] = ["minimal", "coding", "full", "wild", "team", " Team", "codign", "Coding"];
const NAMES: [&str; 8] = ["exec", "bash", "run", "read", "beta_off", "extra", "acme_files", "unknown"];
const PLUGINS: [&str; 4] = ["acme", "beta", " READ", "unknown"];
const AGENTS: [&str; 4] = ["kid", "Kid ", "k*", "other"];
const PROVIDERS: [&str; 8] =
    ["openai", "openai/gpt-5", "OpenAI/*", "azure", "*", "*/gpt-5", "GPT-5", "azure/gpt-*"];
const CHANNELS: [&str; 3] = ["telegram", "Telegram", "slack"];

/// A random number generator; the same seed gives the same numbers.
struct Random(u64);

impl Random {
    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        // A multiplicative step and a mix of it (SplitMix64).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    /// Returns true once in `times` calls on average.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn text(&mut self, of: &[&str]) -> String {
        of[self.below(of.len())].to_owned()
    }

    /// Returns a list of up to `most` items, and mostly an empty one if they are rare.
    fn list<T>(&mut self, most: usize, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(most + 1);
        (0..count).map(|_| item(self)).collect()
    }

    fn rarely<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.once_in(4).then(|| make(self))
    }

    fn entries(&mut self, most: usize) -> Vec<String> {
        self.list(most, |random| random.text(&ENTRIES))
    }

    fn rules(&mut self) -> ToolRules {
        ToolRules {
            profile: self.rarely(|random| random.text(&PROFILES)),
            allow: self.rarely(|random| random.entries(5)),
            also_allow: self.rarely(|random| random.entries(3)).unwrap_or_default(),
            deny: self.rarely(|random| random.entries(3)).unwrap_or_default(),
        }
    }

    fn profile(&mut self) -> ProfileRules {
        let allow = (!self.once_in(3)).then(|| self.entries(5));
        ProfileRules { allow, deny: self.rarely(|random| random.entries(2)).unwrap_or_default() }
    }

    fn map<T>(
        &mut self,
        keys: &[&str],
        most: usize,
        mut value: impl FnMut(&mut Self) -> T,
    ) -> BTreeMap<String, T> {
        if !self.once_in(3) {
            return BTreeMap::new();
        }
        self.list(most, |random| (random.text(keys), value(random))).into_iter().collect()
    }

    fn models(&mut self) -> (Vec<String>, String) {
        (self.list(2, |random| random.text(&["gpt-5", "openai/*", "azure", "*"])), "/x".to_owned())
    }

    fn settings(&mut self) -> PolicySettings {
        let groups = ["fs", "Group:Web", "mine", "runtime"];
        PolicySettings {
            tools: self.rules(),
            profiles: self.map(&["team", "TEAM", "coding", "wild"], 2, Self::profile),
            by_provider: self.map(&PROVIDERS, 2, Self::rules),
            agents: self.map(&AGENTS, 2, Self::rules),
            agents_by_provider: self.map(&AGENTS, 1, |random| random.map(&PROVIDERS, 2, Self::rules)),
            channels: self.map(&CHANNELS, 1, Self::rules),
            sandbox: self.rules(),
            subagents: self.rules(),
            enabled: self.map(&NAMES, 2, |random| random.once_in(2)),
            plugins_enabled: self.map(&PLUGINS, 1, |random| random.once_in(2)),
            models: self.map(&NAMES, 1, Self::models),
            join_groups: self.map(&PLUGINS, 2, |random| {
                random.list(2, |random| random.text(&groups)).into_iter().collect::<BTreeSet<_>>()
            }),
            enable_tool_calls: self.once_in(20).then(|| self.once_in(2)),
            ..PolicySettings::default()
        }
    }

    fn caller(&mut self) -> Caller {
        let mut some = |of: &[&str]| (!self.once_in(3)).then(|| self.text(of));
        let (agent, channel) = (some(&["kid", "KID", "other", "nobody"]), some(&["telegram", "slack"]));
        let (provider, model) = (some(&["openai", "Azure"]), some(&["gpt-5", "openai/gpt-5", "GPT-4"]));
        let (sandboxed, depth) = (self.once_in(2), u32::from(self.once_in(2)));
        let mut caller = Caller::new();
        (caller.agent, caller.channel) = (agent, channel);
        (caller.provider, caller.model) = (provider, model);
        (caller.sandboxed, caller.depth) = (sandboxed, depth);
        caller
    }

    /// Makes a change that narrows the policy, or changes nothing.
    fn narrow(&mut self, user: &mut PolicySettings, others: &mut Vec<PolicySettings>) {
        match self.below(16) {
            // Deny one more entry, in a layer or in a profile.
            0 | 1 => {
                let entry = self.text(&ENTRIES);
                if let Some(rules) = self.of(layers(user)) {
                    rules.deny.insert(self.below(rules.deny.len() + 1), entry);
                }
            }
            2 => {
                let entry = self.text(&ENTRIES);
                if let Some(profile) = self.of(user.profiles.values_mut().collect()) {
                    profile.deny.push(entry);
                }
            }
            // Remove an entry of an allow list, or all of them.
            3..=5 => {
                let list = self.of(allowing(user));
                if let Some(list) = list.filter(|list| !list.is_empty()) {
                    list.remove(self.below(list.len()));
                }
            }
            6 => {
                if let Some(list) = self.of(allowing(user)) {
                    list.clear();
                }
            }
            // Add a layer for a caller without one.
            7 => {
                let rules = self.rules();
                user.by_provider.entry(self.text(&PROVIDERS)).or_insert(rules);
            }
            8 => {
                let rules = self.rules();
                user.agents.entry(self.text(&AGENTS)).or_insert(rules);
            }
            9 => {
                let (rules, agent) = (self.rules(), self.text(&AGENTS));
                user.agents_by_provider
                    .entry(agent)
                    .or_default()
                    .entry(self.text(&PROVIDERS))
                    .or_insert(rules);
            }
            10 => {
                let rules = self.rules();
                user.channels.entry(self.text(&CHANNELS)).or_insert(rules);
            }
            11 => {
                let rules = self.rules();
                let place = if self.once_in(2) { &mut user.sandbox } else { &mut user.subagents };
                if place.is_empty() {
                    *place = rules;
                }
            }
            // Add a workspace's file.
            12 | 13 => others.push(self.settings()),
            14 => match self.below(3) {
                0 => drop(user.enabled.insert(self.text(&NAMES), false)),
                1 => drop(user.plugins_enabled.insert(self.text(&PLUGINS), false)),
                _ => user.enable_tool_calls = Some(false),
            },
            _ => {
                if self.once_in(2) {
                    let models = self.models();
                    user.models.entry(self.text(&NAMES)).or_insert(models);
                } else if let Some(groups) = self.of(user.join_groups.values_mut().collect()) {
                    groups.pop_first();
                }
            }
        }
    }

    /// Returns one of the items.
    fn of<T>(&mut self, mut items: Vec<T>) -> Option<T> {
        (!items.is_empty()).then(|| items.swap_remove(self.below(items.len())))
    }
}

/// Returns every layer of a source.
fn layers(settings: &mut PolicySettings) -> Vec<&mut ToolRules> {
    let mut layers = vec![&mut settings.tools, &mut settings.sandbox, &mut settings.subagents];
    layers.extend(settings.by_provider.values_mut());
    layers.extend(settings.agents.values_mut());
    layers.extend(settings.agents_by_provider.values_mut().flat_map(BTreeMap::values_mut));
    layers.extend(settings.channels.values_mut());
    layers
}

/// Returns every allow list.
fn allowing(settings: &mut PolicySettings) -> Vec<&mut Vec<String>> {
    let mut lists: Vec<&mut Vec<String>> = Vec::new();
    for rules in [&mut settings.tools, &mut settings.sandbox, &mut settings.subagents]
        .into_iter()
        .chain(settings.by_provider.values_mut())
        .chain(settings.agents.values_mut())
        .chain(settings.agents_by_provider.values_mut().flat_map(BTreeMap::values_mut))
        .chain(settings.channels.values_mut())
    {
        lists.extend(rules.allow.as_mut());
        lists.push(&mut rules.also_allow);
    }
    lists.extend(settings.profiles.values_mut().filter_map(|profile| profile.allow.as_mut()));
    lists.extend(settings.models.values_mut().map(|(models, _)| models));
    lists
}

/// Runs a test with `usual` seeds, or with the number in `POLICY_CASES`.
fn run(usual: u64, test: impl Fn(&mut Random)) {
    let cases = env::var("POLICY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    (0..cases).for_each(|seed| test(&mut Random(seed)));
}

fn build(user: &PolicySettings, others: &[PolicySettings]) -> ToolPolicy {
    others
        .iter()
        .fold(policy(user.clone()), |policy, other| policy.narrowed_by("./toolkit.json5", other.clone()))
}

#[test]
fn it_agrees_with_the_rules_said_plainly() {
    let things = things();
    run(2_000, |random| {
        let (user, others, caller) = (random.settings(), random.list(1, Random::settings), random.caller());
        let policy = build(&user, &others);
        let admitted = policy.admitted_of(&caller, &things);
        for (place, thing) in things.iter().enumerate() {
            let is_there = admitted.contains(&place);
            let expected = model::exists(&user, &others, &caller, thing);
            assert_eq!(is_there, expected, "{thing:?}\n{caller:?}\n{user:?}\n{others:?}");
            // The refusal agrees with the verdicts.
            let refusal = policy.refusal(&caller, thing);
            assert_eq!(refusal.is_none(), is_there, "{thing:?}\n{caller:?}\n{user:?}\n{others:?}");
            let mut verdicts = policy.verdicts(&caller, thing).into_iter();
            assert_eq!(
                verdicts.find(|verdict| verdict.verdict == PolicyVerdict::Denies),
                refusal,
                "{thing:?}\n{user:?}"
            );
        }
    });
}

/// 10⁶ cases of it: `POLICY_CASES=1000000 cargo nextest run --release -p agent-toolkit nothing_that_narrows`.
#[test]
fn nothing_that_narrows_makes_a_tool_appear() {
    let things: Vec<Thing> = things();
    let (appearing, vanishing) = (Cell::new(0_u64), Cell::new(0_u64));
    run(10_000, |random| {
        let (mut user, mut others) = (random.settings(), random.list(1, Random::settings));
        let caller = random.caller();
        let before = build(&user, &others).admitted_of(&caller, &things);
        appearing.set(appearing.get() + before.len() as u64);
        for _ in 0..=random.below(3) {
            random.narrow(&mut user, &mut others);
        }
        let after = build(&user, &others).admitted_of(&caller, &things);
        vanishing.set(vanishing.get() + (before.len() - after.len()) as u64);
        for place in after {
            let thing = &things[place];
            assert!(
                before.contains(&place),
                "{thing:?} appeared for {caller:?} with {user:?} and {others:?}"
            );
        }
    });
    // A test in which no tool appears or disappears tests nothing.
    assert!(appearing.get() > 0 && vanishing.get() > appearing.get() / 20, "{appearing:?} {vanishing:?}");
}

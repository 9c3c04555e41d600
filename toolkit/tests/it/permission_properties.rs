//! Rules of permissions against a model that is written as plainly as can be, and what never makes them weaker.
//!
//! `PERMISSION_CASES=1000000 cargo test -p agent-toolkit --test permission_properties` for many cases.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use toolkit::{
    Caller,
    permission::{
        Decision, PermissionEntry, PermissionRequest, PermissionRule, PermissionRules, PermissionSettings,
        Permissions,
    },
};

fn cases() -> ProptestConfig {
    let cases = std::env::var("PERMISSION_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(4_000);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

const KINDS: [&str; 5] = ["exec", "Exec ", "release", "e*", "*"];
const PATTERNS: [&str; 7] = ["*", "a*", "ab", "*b", "a", "b\n*", "**a"];
const TEXTS: [&str; 9] = ["a", "ab", "b", "ba", "b\na", "", "ab a", "a b", "b\na b"];

fn decision() -> impl Strategy<Value = Decision> {
    select(vec![Decision::Allow, Decision::Allow, Decision::Ask, Decision::Deny])
}

fn entry() -> impl Strategy<Value = PermissionEntry> {
    (select(&PATTERNS[..]), decision())
        .prop_map(|(pattern, decision)| PermissionEntry { pattern: pattern.to_owned(), decision })
}

fn rule() -> impl Strategy<Value = PermissionRule> {
    prop_oneof![
        decision().prop_map(PermissionRule::Always),
        prop::collection::vec(entry(), 0..4).prop_map(PermissionRule::List),
    ]
}

fn rules() -> impl Strategy<Value = PermissionRules> {
    prop::collection::btree_map(select(&KINDS[..]).prop_map(str::to_owned), rule(), 0..3)
}

fn settings() -> impl Strategy<Value = PermissionSettings> {
    let agents =
        prop::collection::btree_map(select(vec!["ada", "bob"]).prop_map(str::to_owned), rules(), 0..2);
    let channels = prop::collection::btree_map(Just("irc".to_owned()), rules(), 0..2);
    (rules(), agents, channels).prop_map(|(everybody, agents, channels)| {
        let mut settings = PermissionSettings::default();
        (settings.everybody, settings.agents, settings.channels) = (everybody, agents, channels);
        settings
    })
}

#[derive(Debug, Clone)]
struct Sources {
    trusted: Vec<PermissionSettings>,
    narrowing: Vec<PermissionSettings>,
}

fn sources() -> impl Strategy<Value = Sources> {
    (prop::collection::vec(settings(), 0..4), prop::collection::vec(settings(), 0..2))
        .prop_map(|(trusted, narrowing)| Sources { trusted, narrowing })
}

impl Sources {
    fn permissions(&self) -> Permissions {
        let permissions = Permissions::new(self.trusted.iter().cloned());
        self.narrowing.iter().cloned().fold(permissions, Permissions::narrowed_by)
    }
}

#[derive(Debug, Clone)]
struct Request {
    agent: Option<&'static str>,
    channel: Option<&'static str>,
    kind: &'static str,
    texts: Vec<String>,
    raised: bool,
}

fn request() -> impl Strategy<Value = Request> {
    let texts = prop::collection::vec(select(&TEXTS[..]).prop_map(str::to_owned), 0..3);
    let agent = select(vec![None, Some("ada"), Some(" ADA"), Some("bob")]);
    let channel = select(vec![None, Some("irc")]);
    (agent, channel, select(vec!["exec", "release"]), texts, any::<bool>())
        .prop_map(|(agent, channel, kind, texts, raised)| Request { agent, channel, kind, texts, raised })
}

impl Request {
    fn decide(&self, permissions: &Permissions) -> Decision {
        let mut caller = Caller::new();
        caller.agent = self.agent.map(str::to_owned);
        caller.channel = self.channel.map(str::to_owned);
        let request = PermissionRequest::new(self.kind, &self.texts).raised(self.raised);
        permissions.decide(&caller, &request).decision
    }
}

/// The model: everything by trying.
mod model {
    use super::*;

    pub(super) fn decide(sources: &Sources, request: &Request) -> Decision {
        let texts: Vec<Option<&str>> = match &request.texts[..] {
            [] => vec![None],
            texts => texts.iter().map(|text| Some(&**text)).collect(),
        };
        texts.into_iter().map(|text| one(sources, request, text)).max().expect("at least one")
    }

    fn one(sources: &Sources, request: &Request, text: Option<&str>) -> Decision {
        let levels = |settings: &PermissionSettings| {
            let mut levels = vec![settings.everybody.clone()];
            let agent = request.agent.map(|agent| agent.trim().to_lowercase());
            levels.extend(agent.and_then(|agent| settings.agents.get(&agent).cloned()));
            levels.extend(request.channel.and_then(|channel| settings.channels.get(channel).cloned()));
            levels
        };
        // The rules for everybody: one after the other, and a deny stays.
        let mut everybody = None;
        for settings in &sources.trusted {
            let said = says(&settings.everybody, request, text);
            everybody = if everybody == Some(Decision::Deny) { everybody } else { said.or(everybody) };
        }
        let mut decisions = vec![everybody.unwrap_or(Decision::Ask)];
        // The others only say what is stricter.
        for name in ["agent", "channel"] {
            let mut level = None;
            for settings in &sources.trusted {
                let rules = match name {
                    "agent" => {
                        request.agent.and_then(|name| settings.agents.get(&name.trim().to_lowercase()))
                    }
                    _ => request.channel.and_then(|name| settings.channels.get(name)),
                };
                let said = rules.and_then(|rules| says(rules, request, text));
                level = if level == Some(Decision::Deny) { level } else { said.or(level) };
            }
            decisions.extend(level);
        }
        for settings in &sources.narrowing {
            decisions.extend(levels(settings).iter().filter_map(|rules| says(rules, request, text)));
        }
        // In what is not trusted there are no exceptions.
        for settings in &sources.narrowing {
            decisions.extend(levels(settings).iter().filter_map(|rules| by_star(rules, request, text)));
        }
        decisions.into_iter().max().expect("at least one")
    }

    /// The strictest rule of the kinds of exactly this name; else the question or denial of a key with a star.
    fn says(rules: &PermissionRules, request: &Request, text: Option<&str>) -> Option<Decision> {
        let named = rules.iter().filter(|(kind, _)| kind.trim().to_lowercase() == request.kind);
        let named = named.filter_map(|(_, rule)| by_rule(rule, request, text)).max();
        named.or_else(|| by_star(rules, request, text).filter(|decision| *decision > Decision::Allow))
    }

    fn by_star(rules: &PermissionRules, request: &Request, text: Option<&str>) -> Option<Decision> {
        let starred = rules.iter().filter(|(kind, _)| kind.contains('*') && fits(kind, request.kind));
        starred.filter_map(|(_, rule)| by_rule(rule, request, text)).max()
    }

    fn by_rule(rule: &PermissionRule, request: &Request, text: Option<&str>) -> Option<Decision> {
        match rule {
            PermissionRule::Always(decision) => Some(*decision),
            PermissionRule::List(entries) => {
                let (mut last, mut last_in_any_way) = (None, None);
                for entry in entries {
                    let applies = match text {
                        None => entry.pattern.chars().all(|c| c == '*'),
                        Some(text) => {
                            let has_control = format!("{text}{}", entry.pattern).contains(char::is_control);
                            fits(&entry.pattern, text) && !(has_control && entry.decision == Decision::Allow)
                        }
                    };
                    // A program stands for its calls, unless it is allowed.
                    let begins = request.kind == "exec"
                        && entry.decision > Decision::Allow
                        && text.is_some_and(|text| fits(&format!("{} *", entry.pattern), text));
                    let decision = Some(match entry.decision {
                        Decision::Allow if request.raised => Decision::Ask,
                        decision => decision,
                    });
                    // A later entry for the very text lifts what entries before it say; one about a program only adds to it.
                    if applies {
                        (last, last_in_any_way) = (decision, None);
                    } else if begins {
                        last_in_any_way = last_in_any_way.max(decision);
                    }
                }
                last.max(last_in_any_way)
            }
        }
    }

    fn fits(pattern: &str, text: &str) -> bool {
        match pattern.chars().next() {
            None => text.is_empty(),
            Some('*') => (0..=text.len()).any(|skipped| fits(&pattern[1..], &text[skipped..])),
            Some(c) => text.strip_prefix(c).is_some_and(|rest| fits(&pattern[c.len_utf8()..], rest)),
        }
    }
}

/// Rules that must never make anything weaker.
#[derive(Debug, Clone)]
enum Change {
    /// A deny put into a list, or in place of a rule, or where nothing was said: which source, level, kind, place, pattern.
    Deny { source: Index, level: Index, kind: &'static str, at: Index, pattern: Option<&'static str> },
    /// A file that is not trusted.
    Narrowing(PermissionSettings),
    /// Rules for an agent or a channel of which nothing was said yet.
    Level { source: Index, agent: bool, rules: PermissionRules },
}

fn change() -> impl Strategy<Value = Change> {
    let pattern = prop::option::of(select(&PATTERNS[..]));
    prop_oneof![
        (any::<Index>(), any::<Index>(), select(&KINDS[..]), any::<Index>(), pattern)
            .prop_map(|(source, level, kind, at, pattern)| Change::Deny { source, level, kind, at, pattern }),
        settings().prop_map(Change::Narrowing),
        (any::<Index>(), any::<bool>(), rules()).prop_map(|(source, agent, rules)| Change::Level {
            source,
            agent,
            rules
        }),
    ]
}

impl Change {
    fn apply(&self, sources: &mut Sources) {
        match self {
            Self::Deny { source, level, kind, at, pattern } => {
                let mut all: Vec<_> = sources.trusted.iter_mut().chain(&mut sources.narrowing).collect();
                if all.is_empty() {
                    return;
                }
                let place = source.index(all.len());
                let settings = &mut *all[place];
                let rules = match level.index(3) {
                    0 => &mut settings.everybody,
                    1 => settings.agents.entry("ada".to_owned()).or_default(),
                    _ => settings.channels.entry("irc".to_owned()).or_default(),
                };
                let rule = rules.entry((*kind).to_owned()).or_insert(PermissionRule::List(Vec::new()));
                match (rule, pattern) {
                    (PermissionRule::List(entries), Some(pattern)) => {
                        let entry =
                            PermissionEntry { pattern: (*pattern).to_owned(), decision: Decision::Deny };
                        entries.insert(at.index(entries.len() + 1), entry);
                    }
                    (rule, _) => *rule = PermissionRule::Always(Decision::Deny),
                }
            }
            Self::Narrowing(settings) => sources.narrowing.push(settings.clone()),
            Self::Level { source, agent, rules } => {
                let is_new = |settings: &PermissionSettings| {
                    if *agent { !settings.agents.contains_key("ada") } else { settings.channels.is_empty() }
                };
                if sources.trusted.is_empty() || !sources.trusted.iter().all(is_new) {
                    return;
                }
                let count = sources.trusted.len();
                let settings = &mut sources.trusted[source.index(count)];
                let (levels, name) =
                    if *agent { (&mut settings.agents, "ada") } else { (&mut settings.channels, "irc") };
                levels.insert(name.to_owned(), rules.clone());
            }
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn rules_do_as_the_model_does(sources in sources(), request in request()) {
        prop_assert_eq!(request.decide(&sources.permissions()), model::decide(&sources, &request));
    }

    #[test]
    fn a_deny_a_level_or_an_untrusted_file_never_makes_anything_weaker(
        sources in sources(),
        changes in prop::collection::vec(change(), 1..4),
        request in request(),
    ) {
        let mut changed = sources.clone();
        for change in &changes {
            change.apply(&mut changed);
        }
        let (before, after) = (request.decide(&sources.permissions()), request.decide(&changed.permissions()));
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn no_order_of_sources_loses_a_deny(sources in sources(), request in request(), by in any::<Index>()) {
        let everybody = |settings: &PermissionSettings| {
            let alone = Sources { trusted: vec![settings.clone()], narrowing: Vec::new() };
            request.decide(&alone.permissions())
        };
        let is_denied = sources.trusted.iter().any(|settings| everybody(settings) == Decision::Deny);
        let mut turned = sources.clone();
        if !turned.trusted.is_empty() {
            let count = turned.trusted.len();
            turned.trusted.rotate_left(by.index(count));
        }
        if is_denied {
            prop_assert_eq!(request.decide(&turned.permissions()), Decision::Deny);
        }
    }
}

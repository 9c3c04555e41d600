//! Combines the permission rules of all sources.

mod source;

use super::decided::{DecidedRule, PermissionRequest, RuleDecision};
use super::glob::PathText;
use super::keys::meant;
use super::settings::{Decision, PermissionRule, PermissionSettings};
use crate::policy::{folded as fold, matches as names};
use crate::tool::Tool;
use source::{Found, Level, Prospect, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toolkit_core::ask::SINGLE_PATHS;
use toolkit_core::caller::Caller;
use toolkit_core::config_origin::ConfigOrigin;

/// The permission rules of every source of configuration: which actions are allowed, need approval, or are denied.
///
/// The key of a rule is a kind of permission, a name or alias of a tool, or a server as `mcp:docs`. Keys, agents and
/// channels are compared in lower case and without surrounding spaces. A rule is one decision for the whole kind, or a
/// list, of which the last matching entry applies.
///
/// * A rule for a tool applies to what the tool does under its own kind. If there is a rule for the kind and one for
///   the tool, the stricter applies; if one of them does not decide, the other does. An alias that a plugin gave its
///   tool allows nothing.
/// * A path pattern has the syntax of gitignore, with braces, and `~/` or `$HOME/` for the home directory. An entry
///   that allows is anchored at the workspace root unless it begins with `*`, and includes the contents of a directory
///   only if it ends with `*` or `/`.
/// * Any other pattern matches a whole text, exactly as a permission prompt shows it; `*` matches any text, including
///   `/`.
/// * An entry about a path that asks or denies matches any spelling: relative to the workspace, as `./…`, absolute, or
///   from the home directory as `~/…`. An entry that allows must be spelled as a permission prompt shows the path, or
///   from the home directory.
/// * An entry about a command (`exec`) that asks or denies names the program and its subcommand: `cat` applies to every
///   call of `cat`, `git push` and `git push *` to `git push origin main`, `/usr/bin/git push` and `git -C . push`. An
///   entry that allows matches the command as it is written: `make` allows nothing but `make`.
/// * A list with a path pattern that cannot be parsed asks or denies for every path; the configuration rejects such a
///   pattern.
/// * Agents, channels, conversations and senders may be named by a pattern, as in a [policy](crate::policy::ToolPolicy).
/// * Of several sources the later overrides the earlier, but no source overrides a deny of an earlier one.
/// * Of the rules for everybody, the agent, the channel, the conversation and the sender, the strictest applies. Only a
///   rule for everybody can allow; an `allow` on another level changes nothing.
/// * For a caller that others [delegated](Caller::delegated) to, the rules of each of them apply as well.
/// * A key with `*` in it (`*`, `docs__*`) asks or denies if no rule with a full key of the same source and level
///   decides; it never allows. So `"*": "deny"` beside `read: "allow"` denies everything but reading. In an untrusted
///   source there are no such exceptions.
/// * An action with several patterns is as strict as its strictest pattern. An action without patterns is matched by
///   `*` alone.
/// * Without a rule, an action needs approval.
/// * An entry of a list does not allow an action if flags or paths of a command raised the question; a rule for the
///   whole kind does.
/// * An `allow` in a list never matches a text with control characters, so that `git *` cannot match a second line.
/// * Two kinds are about single paths, `sensitive` and `protected`: they are allowed only by an entry without
///   wildcards.
///
/// Cloning is cheap.
///
/// ```
/// use toolkit::{Caller, permission::{Decision, PermissionRequest, PermissionSettings, Permissions}};
///
/// let mut settings = PermissionSettings::default();
/// settings.everybody = serde_json::from_value(serde_json::json!({
///     "exec": [{ "match": "git *", "do": "allow" }, { "match": "git push*", "do": "ask" }],
///     "web_fetch": "deny",
/// })).unwrap();
/// let permissions = Permissions::new([settings]);
/// let decide = |kind: &str, pattern: &str| {
///     permissions.decide(&Caller::new(), &PermissionRequest::new(kind, &[pattern.to_owned()])).decision
/// };
/// assert_eq!(decide("exec", "git status"), Decision::Allow);
/// assert_eq!(decide("exec", "git push"), Decision::Ask);
/// assert_eq!(decide("exec", "ls"), Decision::Ask);
/// assert_eq!(decide("web_fetch", "https://example.com"), Decision::Deny);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Permissions(Arc<Inner>);

#[derive(Debug, Clone, Default)]
struct Inner {
    /// The sources, in order.
    sources: Vec<Source>,
    /// Untrusted sources, which can only make decisions stricter.
    narrowing: Vec<Source>,
    /// The configured `autoExecute` of tools, by name.
    auto_execute: BTreeMap<String, bool>,
}

/// A rule with its place in a source.
pub(super) struct Written<'a> {
    pub(super) kind: &'a str,
    pub(super) pointer: &'a str,
    pub(super) rule: &'a PermissionRule,
    pub(super) origin: Option<&'a ConfigOrigin>,
    /// True if its `allow` can have an effect: the rule is for everybody, or a rule for everybody allows something of
    /// its kind.
    pub(super) can_allow: bool,
}

/// The kind whose patterns are commands.
pub(super) const COMMANDS: &str = "exec";

/// Kinds whose patterns are path patterns.
pub(crate) const PATH_KINDS: [&str; 5] = ["read", "edit", "external_directory", "sensitive", "protected"];

impl Permissions {
    /// Creates permissions from these sources; later ones override earlier ones, except for denials.
    pub fn new(sources: impl IntoIterator<Item = PermissionSettings>) -> Self {
        let sources = sources.into_iter().map(Source::new).collect();
        Self(Arc::new(Inner { sources, ..Inner::default() }))
    }

    /// Sets if a tool runs without approval, overriding the author's attribute: `autoExecute` in its settings.
    ///
    /// A `true` applies only to tools that the host linked or registered, not to those of a server or a client. The
    /// last setting for a tool applies, so an untrusted source may only add `false`, at the end.
    #[must_use]
    pub fn auto_execute(mut self, tool: impl AsRef<str>, runs: bool) -> Self {
        Arc::make_mut(&mut self.0).auto_execute.insert(fold(tool.as_ref()), runs);
        self
    }

    /// Adds sources that override these, except for denials.
    #[must_use]
    pub(crate) fn followed_by(mut self, sources: impl IntoIterator<Item = PermissionSettings>) -> Self {
        Arc::make_mut(&mut self.0).sources.extend(sources.into_iter().map(Source::new));
        self
    }

    /// Returns the configured `autoExecute` of a tool.
    pub(super) fn auto_executes(&self, tool: &str) -> Option<bool> {
        let configured = &self.0.auto_execute;
        if configured.is_empty() { None } else { configured.get(&fold(tool)).copied() }
    }

    /// Returns true if both are clones of the same permissions.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns true if there are no rules.
    pub(crate) fn is_silent(&self) -> bool {
        // Only a fast path: without rules, the walk over them also comes to the default. No test can tell.
        self.0.sources.is_empty() && self.0.narrowing.is_empty()
    }

    /// Adds an untrusted source: its asks and denials apply, but it allows nothing.
    #[must_use]
    pub fn narrowed_by(mut self, settings: PermissionSettings) -> Self {
        Arc::make_mut(&mut self.0).narrowing.push(Source::new(settings));
        self
    }

    /// Returns true if nothing at all is configured.
    pub(crate) fn says_nothing(&self) -> bool {
        // Only a fast path: the checks before a call come to the same result. No test can tell.
        self.is_silent() && self.0.auto_execute.is_empty()
    }

    /// Returns the decision about an action that needs approval unless a rule says otherwise.
    pub fn decide(&self, caller: &Caller, request: &PermissionRequest<'_>) -> RuleDecision {
        self.decide_or(caller, request, Decision::Ask)
    }

    /// Returns the decision about an action for which `default` applies unless a rule says otherwise.
    pub(crate) fn decide_or(
        &self,
        caller: &Caller,
        request: &PermissionRequest<'_>,
        default: Decision,
    ) -> RuleDecision {
        self.weigh(caller, request, default).0
    }

    /// Returns the decision, and true if each of its patterns was decided by an entry without wildcards.
    pub(super) fn weigh(
        &self,
        caller: &Caller,
        request: &PermissionRequest<'_>,
        default: Decision,
    ) -> (RuleDecision, bool) {
        if self.is_silent() {
            return (RuleDecision::default_of(default), false);
        }
        let kind = meant(request.kind);
        let question = Question::new(&kind, request, caller);
        // Only the text in the permission prompt is known of a path here.
        let shown: Vec<PathText> = if request.paths.is_empty() && PATH_KINDS.contains(&&*kind) {
            let workspace = caller.workspace_dir();
            request.patterns.iter().map(|text| PathText::shown(text, workspace)).collect()
        } else {
            Vec::new()
        };
        let paths = if request.paths.is_empty() { &shown } else { request.paths };
        let mut texts: Vec<Text<'_>> = Vec::new();
        for (place, text) in request.patterns.iter().enumerate() {
            texts.push(Text { text: Some(text), path: paths.get(place) });
        }
        if texts.is_empty() {
            texts.push(Text::default());
        }
        let mut strictest: Option<(Decision, Option<Found<'_>>)> = None;
        let mut is_exact = true;
        for text in texts {
            let (decision, found) = self.one(&question, text, default);
            is_exact &= found.as_ref().is_some_and(|found| found.is_exact);
            let is_stricter = strictest.as_ref().is_none_or(|(other, of_other)| {
                decision > *other || decision == *other && of_other.is_none() && found.is_some()
            });
            if is_stricter {
                strictest = Some((decision, found));
            }
        }
        match strictest {
            Some((decision, Some(found))) => {
                (RuleDecision { decision, rule: Some(found.into()), said: true }, is_exact)
            }
            _ => (RuleDecision::default_of(default), false),
        }
    }

    /// Returns a denial of everything that a tool does for a caller, if there is one. Entries of lists are ignored,
    /// because another entry may follow.
    pub(crate) fn denies_tool(&self, tool: &Tool, caller: &Caller) -> Option<RuleDecision> {
        let Inner { sources, narrowing, .. } = &*self.0;
        if self.is_silent() {
            return None;
        }
        let kind = meant(tool.permission());
        let request = PermissionRequest::new(&kind, &[]).for_tool(tool);
        let question = Question::new(&kind, &request, caller);
        let levels = question.levels();
        let trusted = sources.iter().map(|source| (source, true));
        let mut all = trusted.chain(narrowing.iter().map(|source| (source, false)));
        let found = all.find_map(|(source, is_trusted)| {
            levels.iter().find_map(|level| source.denies(*level, &question, is_trusted))
        })?;
        Some(RuleDecision { decision: Decision::Deny, rule: Some(found.into()), said: true })
    }

    /// Checks if the rules may allow anything that a tool does under its own kind, which needs approval unless a rule
    /// or its `autoExecute` says otherwise.
    ///
    /// # Errors
    ///
    /// Returns the decision that applies to all of it.
    pub(crate) fn may_allow(&self, tool: &Tool, caller: &Caller) -> Result<(), RuleDecision> {
        let Inner { sources, narrowing, .. } = &*self.0;
        let kind = meant(tool.permission());
        let request = PermissionRequest::new(&kind, &[]).for_tool(tool);
        let question = Question::new(&kind, &request, caller);
        let mut may = self.runs_unasked(tool);
        let mut bar: Option<Found<'_>> = None;
        for level in question.levels() {
            let mut of_level: Option<Found<'_>> = None;
            for source in sources {
                match source.prospect(level, &question) {
                    Prospect::Open => {}
                    // No source overrides a deny of an earlier one.
                    Prospect::Bars(found) if found.decision == Decision::Deny => return Err(decided(found)),
                    Prospect::Bars(found) => {
                        may &= level != Level::Everybody;
                        of_level = Some(found);
                    }
                    Prospect::MayAllow => {
                        may |= level == Level::Everybody;
                        of_level = None;
                    }
                }
            }
            bar = bar.or(of_level);
            for source in narrowing {
                if let Prospect::Bars(found) = source.strict_prospect(level, &question) {
                    if found.decision == Decision::Deny {
                        return Err(decided(found));
                    }
                    bar = bar.or(Some(found));
                }
            }
        }
        match bar {
            Some(found) => Err(decided(found)),
            None if may => Ok(()),
            None => Err(RuleDecision::default_of(Decision::Ask)),
        }
    }

    /// Calls `see` with each rule, in order. Rules of untrusted sources count as able to allow, so that no diagnostic
    /// reports their intended lack of effect.
    pub(super) fn each_rule(&self, mut see: impl FnMut(Written<'_>)) {
        let Inner { sources, narrowing, .. } = &*self.0;
        let allowed: BTreeSet<&str> = sources.iter().flat_map(Source::allowed_kinds).collect();
        for source in sources {
            source.each_rule(|rule| {
                see(Written { can_allow: rule.can_allow || allowed.contains(rule.kind), ..rule });
            });
        }
        for source in narrowing {
            source.each_rule(|rule| see(Written { can_allow: true, ..rule }));
        }
    }

    /// Returns the decision about one text.
    fn one<'a>(
        &'a self,
        question: &Question<'_>,
        text: Text<'_>,
        default: Decision,
    ) -> (Decision, Option<Found<'a>>) {
        let Inner { sources, narrowing, .. } = &*self.0;
        let everybody = fold_sources(sources, Level::Everybody, question, text);
        let mut strictest = (everybody.as_ref().map_or(default, |found| found.decision), everybody);
        let mut narrow = |found: Option<Found<'a>>| {
            let Some(found) = found.filter(|found| found.decision > Decision::Allow) else { return };
            if found.decision > strictest.0 || found.decision == strictest.0 && strictest.1.is_none() {
                strictest = (found.decision, Some(found));
            }
        };
        for level in question.levels() {
            if level != Level::Everybody {
                narrow(fold_sources(sources, level, question, text));
            }
            for source in narrowing {
                narrow(source.says_strictly(level, question, text));
            }
        }
        strictest
    }
}

/// Combines the decisions of all sources on one level.
fn fold_sources<'a>(
    sources: &'a [Source],
    level: Level<'_>,
    question: &Question<'_>,
    text: Text<'_>,
) -> Option<Found<'a>> {
    sources
        .iter()
        .filter_map(|source| source.says(level, question, text))
        .reduce(|earlier, later| if earlier.decision == Decision::Deny { earlier } else { later })
}

/// The subject of one rule check. `None` if the action has no pattern.
#[derive(Debug, Clone, Copy, Default)]
struct Text<'a> {
    text: Option<&'a str>,
    /// The path, if the text is one.
    path: Option<&'a PathText>,
}

/// A question to the rules.
#[expect(clippy::struct_excessive_bools, reason = "each is an independent property of the question")]
struct Question<'a> {
    kind: &'a str,
    tool: Option<&'a Tool>,
    /// Alternative spellings of the action, which never allow it.
    also: &'a [String],
    /// True if a tool that only reads, and has a kind of its own, opens a path.
    is_reading_of_tool: bool,
    is_raised: bool,
    is_single_path: bool,
    /// True if an entry that asks or denies also matches a command with further arguments.
    covers_arguments: bool,
    /// The caller, and each caller above it with other names.
    callers: Vec<CallerNames>,
}

/// The names by which rules refer to a caller, in the form used for comparison.
#[derive(Debug, PartialEq, Eq)]
struct CallerNames {
    agent: Option<String>,
    channel: Option<String>,
    conversation: Option<String>,
    sender: Option<String>,
}

impl CallerNames {
    /// Returns the names of the callers of a chain, each once.
    fn of_chain(caller: &Caller) -> Vec<Self> {
        let known = |name: &Option<String>| name.as_deref().map(fold);
        let mut callers = Vec::with_capacity(1);
        for link in caller.chain() {
            let names = Self {
                agent: known(&link.agent),
                channel: known(&link.channel),
                conversation: known(&link.conversation_id),
                sender: known(&link.sender_id),
            };
            if !callers.contains(&names) {
                callers.push(names);
            }
        }
        callers
    }
}

impl<'a> Question<'a> {
    fn new(kind: &'a str, request: &PermissionRequest<'a>, caller: &Caller) -> Self {
        let reads = |tool: &Tool| tool.annotations().read_only_hint && tool.permission() == tool.name();
        Self {
            kind,
            tool: request.tool,
            also: request.also,
            is_reading_of_tool: kind == "read" && request.tool.is_some_and(reads),
            is_raised: request.raised,
            is_single_path: SINGLE_PATHS.contains(&kind),
            covers_arguments: kind == COMMANDS && !request.as_written,
            callers: CallerNames::of_chain(caller),
        }
    }

    /// Returns the levels whose rules apply: for everybody, and those of the caller and of each caller above it.
    fn levels(&self) -> Vec<Level<'_>> {
        let mut levels = vec![Level::Everybody];
        for CallerNames { agent, channel, conversation, sender } in &self.callers {
            let channel = channel.as_deref();
            let agent = agent.as_deref().map(Level::Agent);
            let group = channel.zip(conversation.as_deref()).map(|(channel, id)| Level::Group(channel, id));
            let sender = channel.zip(sender.as_deref()).map(|(channel, id)| Level::Sender(channel, id));
            let own = [agent, channel.map(Level::Channel), group, sender];
            // Several of a chain usually have the same channel.
            levels.extend(
                own.into_iter().flatten().filter(|level| !levels.contains(level)).collect::<Vec<_>>(),
            );
        }
        levels
    }
}

fn decided(found: Found<'_>) -> RuleDecision {
    RuleDecision { decision: found.decision, rule: Some(found.into()), said: true }
}

impl From<Found<'_>> for DecidedRule {
    fn from(found: Found<'_>) -> Self {
        let pointer = found.pointer();
        Self { text: found.text(), origin: found.origins.find(&pointer).cloned(), pointer }
    }
}

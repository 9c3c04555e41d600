//! What the rules of all sources say together.

mod source;

use super::decided::{Decided, DecidedRule, PermissionRequest};
use super::glob::PathText;
use super::keys::meant;
use super::settings::{Decision, PermissionRule, PermissionSettings};
use crate::ask::SINGLE_PATHS;
use crate::caller::Caller;
use crate::config_origin::ConfigOrigin;
use crate::policy::{folded as fold, matches as names};
use crate::tool::Tool;
use source::{Found, Level, Prospect, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Who may do what without being asked, and what must not be done: the rules of every source of configuration.
///
/// The key of a rule is a kind of permission, the name or another name of a tool, or a server as `mcp:docs`. Keys are compared
/// without spaces around them and in lower case, agents and channels likewise. A rule is one word for all of it or a list, of
/// which the last entry that matches counts.
///
/// * A rule for a tool is about what the tool does under its own kind. Of a rule for the kind and one for the tool the stricter
///   counts; where one of them says nothing, the other does. An alias that a plugin gave its tool allows nothing.
/// * A pattern for paths has the syntax of gitignore, with braces, and `~/` or `$HOME/` for the home directory. An entry that
///   allows is anchored at the workspace root unless it begins with `*`, and includes what is below a directory only if it ends
///   with `*` or `/`.
/// * Any other pattern describes a whole text, exactly as a question shows it; `*` stands for any text, also with `/` in it.
/// * An entry about a path that asks or denies counts however it writes the path: relative to the workspace, as `./…`, whole,
///   or from the home directory as `~/…`. One that allows writes it as a question shows it, or from the home directory.
/// * An entry about a command that asks or denies names the program and its subcommand: `git push *` also counts for `git push`,
///   `/usr/bin/git push` and `git -C . push`. One that allows describes the command as it is written.
/// * A list with a pattern for paths that cannot be parsed asks or denies about every path; the configuration refuses one.
/// * Agents, channels, conversations and senders may be named by a pattern, as in a [policy](crate::ToolPolicy).
/// * Of several sources the later overrides the earlier, but no source lifts what an earlier one denies.
/// * Of what is said for everybody, the agent, the channel, the conversation and the sender the strictest counts. Only what is
///   said for everybody allows anything; an `allow` for one of the others leaves it at that.
/// * A key with `*` in it (`*`, `docs__*`) asks or denies what no rule of the same source and level with a full key decides; it
///   never allows. So `"*": "deny"` beside `read: "allow"` denies everything but reading. In a source that is not trusted
///   there are no such exceptions.
/// * An action with several patterns is as strict as the strictest of them. One without any is matched by `*` alone.
/// * Where nothing is said, it is asked.
/// * An entry of a list does not lift a question that a command's flags or paths raised; a rule for the whole kind does.
/// * An `allow` in a list never matches a text with control characters: `git *` must not stand for a second line.
/// * Two kinds are about single paths, `sensitive` and `protected`: only an entry without wildcards allows there.
///
/// Cloning is cheap.
///
/// ```
/// use toolkit::{Caller, Decision, PermissionRequest, PermissionSettings, Permissions};
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
    /// In order.
    sources: Vec<Source>,
    /// Of these, only what is stricter counts.
    narrowing: Vec<Source>,
    /// What is configured of the `autoExecute` of tools, by name.
    auto_execute: BTreeMap<String, bool>,
}

/// A rule as it stands in a source.
pub(super) struct Written<'a> {
    pub(super) kind: &'a str,
    pub(super) pointer: &'a str,
    pub(super) rule: &'a PermissionRule,
    pub(super) origin: Option<&'a ConfigOrigin>,
    /// Whether what it allows can count: it is for everybody, or something for everybody allows of its kind.
    pub(super) can_allow: bool,
}

/// Kinds whose patterns are those of paths.
pub(crate) const PATH_KINDS: [&str; 5] = ["read", "edit", "external_directory", "sensitive", "protected"];

impl Permissions {
    /// The rules of these sources; later ones override, except what an earlier one denies.
    pub fn new(sources: impl IntoIterator<Item = PermissionSettings>) -> Self {
        let sources = sources.into_iter().map(Source::new).collect();
        Self(Arc::new(Inner { sources, ..Inner::default() }))
    }

    /// Says whether a tool runs without being asked for, in place of what its author says: `autoExecute` of its settings.
    ///
    /// A `true` counts for tools only that the host linked or registered, not for those of a server or a client. What is
    /// said last of a tool counts, so what is not trusted may only add `false`, at the end.
    #[must_use]
    pub fn auto_execute(mut self, tool: impl AsRef<str>, runs: bool) -> Self {
        Arc::make_mut(&mut self.0).auto_execute.insert(fold(tool.as_ref()), runs);
        self
    }

    /// Adds sources that override these, except what these deny.
    #[must_use]
    pub(crate) fn followed_by(mut self, sources: impl IntoIterator<Item = PermissionSettings>) -> Self {
        Arc::make_mut(&mut self.0).sources.extend(sources.into_iter().map(Source::new));
        self
    }

    /// What is configured of a tool's `autoExecute`.
    pub(super) fn auto_executes(&self, tool: &str) -> Option<bool> {
        let configured = &self.0.auto_execute;
        if configured.is_empty() { None } else { configured.get(&fold(tool)).copied() }
    }

    /// Whether no rule says anything of anything.
    pub(super) fn is_silent(&self) -> bool {
        self.0.sources.is_empty() && self.0.narrowing.is_empty()
    }

    /// Adds a source that is not trusted: what it asks or denies counts, what it allows does not.
    #[must_use]
    pub fn narrowed_by(mut self, settings: PermissionSettings) -> Self {
        Arc::make_mut(&mut self.0).narrowing.push(Source::new(settings));
        self
    }

    /// Whether nothing at all is configured.
    pub(crate) fn says_nothing(&self) -> bool {
        self.is_silent() && self.0.auto_execute.is_empty()
    }

    /// What the rules say of an action that is asked for unless a rule says otherwise.
    pub fn decide(&self, caller: &Caller, request: &PermissionRequest<'_>) -> Decided {
        self.decide_or(caller, request, Decision::Ask)
    }

    /// The same, of an action for which `default` holds unless a rule says otherwise.
    pub(crate) fn decide_or(
        &self,
        caller: &Caller,
        request: &PermissionRequest<'_>,
        default: Decision,
    ) -> Decided {
        self.weigh(caller, request, default).0
    }

    /// The same, and whether each of its patterns was decided by an entry without wildcards.
    pub(super) fn weigh(
        &self,
        caller: &Caller,
        request: &PermissionRequest<'_>,
        default: Decision,
    ) -> (Decided, bool) {
        if self.is_silent() {
            return (Decided::default_of(default), false);
        }
        let kind = meant(request.kind);
        let question = Question::new(&kind, request, caller);
        // What a question shows is all that is known of a path here.
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
                (Decided { decision, rule: Some(found.into()), said: true }, is_exact)
            }
            _ => (Decided::default_of(default), false),
        }
    }

    /// What denies everything that a tool does to a caller, if anything does: not an entry of a list, which another may follow.
    pub(crate) fn denies_tool(&self, tool: &Tool, caller: &Caller) -> Option<Decided> {
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
        Some(Decided { decision: Decision::Deny, rule: Some(found.into()), said: true })
    }

    /// Whether the rules allow anything that a tool does under its own kind, which is asked about unless a rule or its `autoExecute`
    /// says otherwise.
    ///
    /// # Errors
    ///
    /// What is decided of all of it.
    pub(crate) fn may_allow(&self, tool: &Tool, caller: &Caller) -> Result<(), Decided> {
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
                    // No source lifts what an earlier one denies.
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
            None => Err(Decided::default_of(Decision::Ask)),
        }
    }

    /// Each rule, in order. Those of sources that are not trusted never allow, which is meant.
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

    /// What is said of one text.
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

/// What the sources say together at one level.
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

/// What one rule is asked about. Without a text, the action is matched by nothing.
#[derive(Debug, Clone, Copy, Default)]
struct Text<'a> {
    text: Option<&'a str>,
    /// The path, where it is one.
    path: Option<&'a PathText>,
}

/// What the rules are asked.
struct Question<'a> {
    kind: &'a str,
    tool: Option<&'a Tool>,
    /// Other ways to write the action, which nothing allows.
    also: &'a [String],
    /// Whether a tool that only reads, and has a kind of its own, opens a path.
    is_reading_of_tool: bool,
    is_raised: bool,
    is_single_path: bool,
    agent: Option<String>,
    channel: Option<String>,
    conversation: Option<String>,
    sender: Option<String>,
}

impl<'a> Question<'a> {
    fn new(kind: &'a str, request: &PermissionRequest<'a>, caller: &Caller) -> Self {
        let known = |name: &Option<String>| name.as_deref().map(fold);
        let reads = |tool: &Tool| tool.annotations().read_only_hint && tool.permission() == tool.name();
        Self {
            kind,
            tool: request.tool,
            also: request.also,
            is_reading_of_tool: kind == "read" && request.tool.is_some_and(reads),
            is_raised: request.raised,
            is_single_path: SINGLE_PATHS.contains(&kind),
            agent: known(&caller.agent),
            channel: known(&caller.channel),
            conversation: known(&caller.conversation_id),
            sender: known(&caller.sender_id),
        }
    }

    /// For whom rules count.
    fn levels(&self) -> Vec<Level<'_>> {
        let channel = self.channel.as_deref();
        let agent = self.agent.as_deref().map(Level::Agent);
        let group = channel.zip(self.conversation.as_deref()).map(|(channel, id)| Level::Group(channel, id));
        let sender = channel.zip(self.sender.as_deref()).map(|(channel, id)| Level::Sender(channel, id));
        let all = [Some(Level::Everybody), agent, channel.map(Level::Channel), group, sender];
        all.into_iter().flatten().collect()
    }
}

fn decided(found: Found<'_>) -> Decided {
    Decided { decision: found.decision, rule: Some(found.into()), said: true }
}

impl From<Found<'_>> for DecidedRule {
    fn from(found: Found<'_>) -> Self {
        let pointer = found.pointer();
        Self { text: found.text(), origin: found.origins.find(&pointer).cloned(), pointer }
    }
}

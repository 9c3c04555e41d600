//! The permission prompt before a command runs.

use super::digest::short_digest;
use super::judged::{AskedPath, Command, Judged, KIND, words};
use shell_verdict::{Class, Decision, Ground, Part, Reason};
use std::collections::BTreeSet;
use toolkit::{
    Ask,
    approval::{Access, AllowScope},
};

/// Maximum number of listed parts, paths and reasons.
pub(super) const MAX_TOLD: usize = 20;

/// Parts of a question in addition to the verdict.
#[derive(Debug, Default)]
pub(super) struct Around<'a> {
    /// Variables that are set for the command and are not known to be harmless.
    pub(super) variables: Vec<(&'a str, &'a str)>,
    pub(super) stdin: Option<&'a str>,
    /// The purpose of the command according to the model.
    pub(super) claim: Option<&'a str>,
    /// Description of the sandbox that the command will run in.
    pub(super) sandbox: String,
    /// The escalation that the model requests.
    pub(super) escalation: Option<String>,
    /// The facts that a lasting answer relies on.
    pub(super) conditions: Vec<String>,
    /// True if every command needs approval.
    pub(super) is_always: bool,
}

/// The one question about a command.
pub(super) fn question(command: &Command, judged: &Judged, around: &Around<'_>) -> Ask {
    let mut ask = Ask::new(KIND, &*command.text).with_command(&*command.text, &command.cwd).before_acting();
    let asked: Vec<&Part> = judged.verdict.each_part().filter(|part| of(part).next().is_some()).collect();
    for reason in judged.verdict.reasons.iter().filter(|reason| reason.decision > Decision::Allow) {
        ask = ask.with_text("why", &*reason.text);
    }
    for part in asked.iter().take(MAX_TOLD) {
        // A path that the question names below is left out, unless it is the only reason.
        let is_named = |reason: &&Reason| reason.ground != Ground::Program && is_named(reason, judged);
        let mut reasons: Vec<&Reason> = of(part).filter(|reason| !is_named(reason)).collect();
        if reasons.is_empty() {
            reasons = of(part).collect();
        }
        let reasons: Vec<&str> = reasons.iter().map(|reason| &*reason.text).take(MAX_TOLD).collect();
        ask = ask.with_text("why", format!("{}: {}", part.text, reasons.join("; ")));
    }
    if asked.len() > MAX_TOLD {
        ask = ask.with_text("why", format!("and {} more parts of it", asked.len() - MAX_TOLD));
    }
    if judged.verdict.class >= Class::Dangerous {
        ask = ask.with_text("warning", format!("it {}", judged.verdict.class.words()));
    }
    for rule in judged.asked_by.iter().take(MAX_TOLD) {
        ask = ask.with_text("rule", &**rule);
    }
    for AskedPath { path, writes, reason, kind } in shown_paths(judged) {
        ask = ask.with_path(path, if *writes { Access::Write } else { Access::Read });
        if !reason.is_empty() {
            ask = ask.with_text("path", format!("{} (permission.{kind}), {reason}", path.display()));
        }
    }
    let more = (judged.paths.len() + judged.named.len()).saturating_sub(MAX_TOLD);
    if more > 0 {
        ask = ask.with_text("path", format!("and {more} more paths"));
    }
    for (name, value) in &around.variables {
        ask = ask.with_text("variable", format!("{name}={value}"));
    }
    if let Some(stdin) = around.stdin {
        ask = ask.with_text("its input", stdin);
    }
    ask = ask.with_text("runs in", &*around.sandbox);
    if let Some(escalation) = &around.escalation {
        ask = ask.with_text("asks for more", &**escalation);
    }
    if let Some(claim) = around.claim {
        ask = ask.with_claim(claim);
    }
    if around.is_always {
        ask = ask.once_only();
    }
    if judged.paths.iter().any(|path| is_guarded(&path.kind)) {
        ask = ask.guarded();
    }
    let prefixes = prefixes(judged, &asked, around);
    ask = ask.with_hint(hint(judged, &asked, around, prefixes.as_ref()));
    // A pattern with a wildcard would cover other arguments, and so other addresses, programs and files.
    ask = exactly(command, around).into_iter().fold(ask, Ask::with_pattern);
    ask = around.conditions.iter().fold(ask, Ask::with_condition);
    // Whoever answers has seen all of it: reasons, paths, variables and input.
    let shown = serde_json::to_vec(&ask.details).unwrap_or_default();
    ask = ask.with_condition(format!("the question says the same (SHA-256 {}…)", short_digest(&shown)));
    if prefixes.is_some() { ask } else { ask.raised().at_most(AllowScope::Session) }
}

/// Returns the paths that the question lists: the guarded ones first, and last those that need no approval by themselves.
fn shown_paths(judged: &Judged) -> impl Iterator<Item = &AskedPath> {
    let (guarded, other): (Vec<_>, Vec<_>) = judged.paths.iter().partition(|path| is_guarded(&path.kind));
    guarded.into_iter().chain(other).chain(&judged.named).take(MAX_TOLD)
}

/// Returns true if the question has a line for the path of a reason.
fn is_named(reason: &Reason, judged: &Judged) -> bool {
    shown_paths(judged).any(|asked| {
        reason.text.strip_suffix(&*asked.path.to_string_lossy()).is_some_and(|verb| verb.ends_with(' '))
    })
}

/// Returns true if paths of this kind hold secrets, run commands or lift limits.
fn is_guarded(kind: &str) -> bool {
    Ask::new(kind, "").is_guarded()
}

/// Returns the configuration that would allow the command if no user can be asked; empty if there is none.
fn hint(
    judged: &Judged,
    asked: &[&Part],
    around: &Around<'_>,
    prefixes: Option<&BTreeSet<String>>,
) -> String {
    let sandbox = "`tools.exec.security: \"auto\"` where a sandbox holds what it does";
    if around.is_always || !judged.asked_by.is_empty() || around.escalation.is_some() {
        return String::new();
    }
    if let Some(prefixes) = prefixes {
        let texts: BTreeSet<String> = asked.iter().filter_map(|part| words(part)).collect();
        // A pattern that ends in ` *` does not match the command without arguments.
        let matching = prefixes.iter().flat_map(|prefix| {
            let bare = prefix.trim_end_matches(" *");
            let has_more = texts.iter().any(|text| text.starts_with(&format!("{bare} ")));
            let is_bare = texts.contains(bare).then(|| bare.to_owned());
            is_bare.into_iter().chain(has_more.then(|| prefix.clone()))
        });
        let entry = |pattern: String| format!("{{ match: {pattern:?}, do: \"allow\" }}");
        let entries: Vec<String> = matching.take(MAX_TOLD).map(entry).collect();
        let contained = asked.iter().flat_map(|part| of(part)).all(|reason| is_contained(reason.class));
        let or = if contained { format!(", or with {sandbox}") } else { String::new() };
        return format!("an entry such as `permission: {{ exec: [{}] }}`{or}", entries.join(", "));
    }
    let is_elsewhere = judged.paths.iter().any(|path| path.kind != "edit" || !path.reason.is_empty());
    let reasons = || asked.iter().flat_map(|part| of(part)).chain(&judged.verdict.reasons);
    let holds = |reason: &Reason| {
        reason.decision == Decision::Allow || reason.ground == Ground::Path || is_contained(reason.class)
    };
    let is_plain = around.variables.is_empty() && !is_elsewhere;
    if is_plain && reasons().all(holds) { sandbox.to_owned() } else { String::new() }
}

/// Returns true if a working sandbox contains the effects of this class.
fn is_contained(class: Class) -> bool {
    matches!(class, Class::Unknown | Class::Write | Class::GitWrite | Class::Code)
}

fn of(part: &Part) -> impl Iterator<Item = &Reason> {
    part.reasons.iter().filter(|reason| reason.decision > Decision::Allow)
}

/// Returns the prefixes, such as `cargo test *`, with which a rule can allow the command; `None` if anything but the programs
/// needs approval.
fn prefixes(judged: &Judged, asked: &[&Part], around: &Around<'_>) -> Option<BTreeSet<String>> {
    let is_plain = around.variables.is_empty()
        && around.stdin.is_none()
        && around.escalation.is_none()
        && judged.asked_by.is_empty()
        && judged.paths.is_empty()
        && judged.verdict.reasons.iter().all(|reason| reason.decision == Decision::Allow)
        && !asked.is_empty();
    if !is_plain {
        return None;
    }
    asked.iter().map(|part| prefix(part)).collect()
}

fn prefix(part: &Part) -> Option<String> {
    let is_program = |reason: &Reason| reason.ground == Ground::Program && reason.class < Class::Dangerous;
    if !of(part).all(is_program) {
        return None;
    }
    let words: Option<Vec<&str>> = part.words.iter().take(part.says?).map(Option::as_deref).collect();
    let words = words.filter(|words| !words.is_empty())?;
    // A permission by name covers the installed program of that name, not an arbitrary file.
    let is_plain = |word: &&str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+:@=-".contains(&byte))
    };
    (words.iter().all(is_plain) && part.executable.is_some()).then(|| format!("{} *", words.join(" ")))
}

/// Returns the patterns that allow exactly this command.
fn exactly(command: &Command, around: &Around<'_>) -> Vec<String> {
    let mut patterns = vec![format!("exactly `{}` in {}", command.text, command.cwd.display())];
    patterns.extend(around.variables.iter().map(|(name, value)| format!("with `{name}={value}`")));
    patterns.extend(around.stdin.map(|stdin| format!("with the input `{stdin}`")));
    patterns.extend(around.escalation.as_ref().map(|more| format!("with `{more}`")));
    patterns
}

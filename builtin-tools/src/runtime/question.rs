//! What a person is asked before a command runs.

use super::judged::{AskedPath, Command, Judged, KIND};
use shell_verdict::{Class, Decision, Ground, Part, Reason};
use std::collections::BTreeSet;
use toolkit::{Access, AllowScope, Ask};

/// How many parts, paths and reasons are told of.
const MOST_TOLD: usize = 20;

/// What is asked beside what the verdict says.
#[derive(Debug, Default)]
pub(super) struct Around<'a> {
    /// Variables that are set for the command and are not known to be harmless.
    pub(super) variables: Vec<(&'a str, &'a str)>,
    pub(super) stdin: Option<&'a str>,
    /// What the model says that the command is for.
    pub(super) claim: Option<&'a str>,
    /// What it will run in, in words.
    pub(super) sandbox: String,
    /// More than usual, that the model wants.
    pub(super) escalation: Option<String>,
    /// Whether a person is asked about each command.
    pub(super) is_always: bool,
}

/// The one question about a command.
pub(super) fn question(command: &Command, judged: &Judged, around: &Around<'_>) -> Ask {
    let mut ask = Ask::new(KIND, &*command.text).with_command(&*command.text, &command.cwd);
    let asked: Vec<&Part> = judged.verdict.each_part().filter(|part| of(part).next().is_some()).collect();
    for reason in judged.verdict.reasons.iter().filter(|reason| reason.decision > Decision::Allow) {
        ask = ask.with_text("why", &*reason.text);
    }
    for part in asked.iter().take(MOST_TOLD) {
        let reasons: Vec<&str> = of(part).map(|reason| &*reason.text).take(MOST_TOLD).collect();
        ask = ask.with_text("why", format!("{}: {}", part.text, reasons.join("; ")));
    }
    if asked.len() > MOST_TOLD {
        ask = ask.with_text("why", format!("and {} more parts of it", asked.len() - MOST_TOLD));
    }
    if judged.verdict.class >= Class::Dangerous {
        ask = ask.with_text("warning", format!("it {}", judged.verdict.class.words()));
    }
    for rule in judged.asked_by.iter().take(MOST_TOLD) {
        ask = ask.with_text("rule", &**rule);
    }
    for AskedPath { path, writes, reason, kind } in judged.paths.iter().take(MOST_TOLD) {
        ask = ask.with_path(path, if *writes { Access::Write } else { Access::Read });
        if !reason.is_empty() {
            ask = ask.with_text("path", format!("{} (permission.{kind}), {reason}", path.display()));
        }
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
    match prefixes(judged, &asked, around) {
        Some(prefixes) => prefixes.into_iter().fold(ask, Ask::with_pattern),
        None => exactly(command, around)
            .into_iter()
            .fold(ask.raised(), Ask::with_pattern)
            .at_most(AllowScope::Session),
    }
}

fn of(part: &Part) -> impl Iterator<Item = &Reason> {
    part.reasons.iter().filter(|reason| reason.decision > Decision::Allow)
}

/// What is allowed for later by its beginning, as `cargo test *`: where nothing but the programs as such is asked about.
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
    // What is allowed by its name is the program of that name, not a file somewhere.
    let is_plain = |word: &&str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+:@=-".contains(&byte))
    };
    (words.iter().all(is_plain) && part.executable.is_some()).then(|| format!("{} *", words.join(" ")))
}

/// What stands for this very command and no other. No beginning of one has a backtick.
fn exactly(command: &Command, around: &Around<'_>) -> Vec<String> {
    let mut patterns = vec![format!("exactly `{}` in {}", command.text, command.cwd.display())];
    patterns.extend(around.variables.iter().map(|(name, value)| format!("with `{name}={value}`")));
    patterns.extend(around.stdin.map(|stdin| format!("with the input `{stdin}`")));
    patterns.extend(around.escalation.as_ref().map(|more| format!("with `{more}`")));
    patterns
}

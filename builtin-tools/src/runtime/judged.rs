//! The verdict on a command, combined with the configuration.

use super::masks::Masking;
use crate::config::{ExecAsk, ExecSecurity, ExecSettings};
use shell_verdict::{Decision, Part, Shell, Verdict};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The kind of permission to run a command.
pub(super) const KIND: &str = "exec";
/// Maximum length in bytes of one argument or variable on Linux, without the terminating NUL: `MAX_ARG_STRLEN`, with pages of 4 KiB.
pub(super) const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// A command, with the data for its verdict.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) text: String,
    pub(super) cwd: PathBuf,
    /// The real path of the workspace.
    pub(super) workspace: PathBuf,
    /// Directories within the workspace and its additions to which the boundary is restricted, if it is.
    pub(super) within: Option<Vec<PathBuf>>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) shell: PathBuf,
    pub(super) kind: Shell,
}

/// A path that needs approval.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AskedPath {
    pub(super) path: PathBuf,
    pub(super) writes: bool,
    pub(super) kind: String,
    pub(super) reason: String,
}

/// The combined verdict on a command.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    /// True if the command was proved read-only, before any permission was taken into account.
    pub(super) is_proved: bool,
    pub(super) paths: BTreeSet<AskedPath>,
    /// Paths outside of the workspace that the command may use, which a prompt names, but which need no approval by themselves.
    pub(super) named: BTreeSet<AskedPath>,
    /// Operands and values of options among those paths, of which it is not known if the command reads or writes them.
    pub(super) possible: BTreeSet<PathBuf>,
    /// Description of a rule that denies the command.
    pub(super) denied_by: Option<String>,
    /// Descriptions of rules that require approval for parts of the command.
    pub(super) asked_by: BTreeSet<String>,
    /// True if a part needs no approval only because the sandbox contains it.
    pub(super) relies_on_sandbox: bool,
    /// The decisions about paths that a sandbox holds the command to.
    pub(super) masking: Arc<Masking>,
}

/// The outcome for a command by its verdict, the rules and the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Runs,
    /// The command needs approval.
    Asked,
    Denied,
    /// The command is denied without a prompt, by this setting.
    Refused(&'static str),
}

impl Judged {
    /// Returns the decision of the verdict and the rules.
    pub(super) fn decision(&self) -> Decision {
        let of_rules = match (&self.denied_by, self.asked_by.is_empty()) {
            (Some(_), _) => Decision::Deny,
            (None, false) => Decision::Ask,
            (None, true) => Decision::Allow,
        };
        of_rules.max(self.verdict.decision)
    }

    /// Returns the text that the shell runs: the command, with the arguments that keep its programs to reading if it is known to be read-only.
    pub(super) fn text<'c>(&self, command: &'c Command) -> Cow<'c, str> {
        if !self.is_proved || self.verdict.arguments.is_empty() {
            return Cow::Borrowed(&command.text);
        }
        let guarded = self.verdict.guarded(&command.text);
        if guarded.len() <= LONGEST_ARGUMENT { Cow::Owned(guarded) } else { Cow::Borrowed(&command.text) }
    }

    /// Returns the outcome. `asks_more` is true if something else than the command itself needs approval.
    pub(super) fn outcome(&self, settings: &ExecSettings, asks_more: bool) -> Outcome {
        let is_always = settings.asked() == ExecAsk::Always;
        match self.decision() {
            Decision::Deny => return Outcome::Denied,
            Decision::Allow if !asks_more && !is_always => return Outcome::Runs,
            _ => {}
        }
        if settings.security == ExecSecurity::Deny && !(self.is_proved && is_always) {
            return Outcome::Refused(
                "`tools.exec.security` is `deny`: only commands known to be read-only run",
            );
        }
        if settings.asked() == ExecAsk::Off {
            return Outcome::Refused("`tools.exec.ask` is `off`: approval cannot be requested");
        }
        Outcome::Asked
    }

    /// Returns everything that needs approval, to check whether an earlier answer still covers it.
    pub(super) fn asks(&self) -> BTreeSet<String> {
        let mut asks: BTreeSet<String> = self.asked_by.clone();
        asks.extend(self.paths.iter().map(|path| format!("{path:?}")));
        asks.extend(self.verdict.reasons.iter().map(|reason| format!("{reason:?}")));
        for part in self.verdict.each_part() {
            let asked = part.reasons.iter().filter(|reason| reason.decision > Decision::Allow);
            asks.extend(asked.map(|reason| format!("{} {:?} {reason:?}", part.text, part.executable)));
        }
        asks
    }
}

/// Each part within one, itself first.
pub(super) fn for_each(part: &mut Part, change: &mut dyn FnMut(&mut Part)) {
    change(part);
    for within in &mut part.parts {
        for_each(within, change);
    }
}

/// Returns true if a rule is an entry of a list, rather than a rule for the whole kind.
pub(super) fn is_entry(pointer: &str) -> bool {
    pointer
        .rsplit('/')
        .next()
        .is_some_and(|last| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the words of a part, if all of them are known.
pub(super) fn words(part: &Part) -> Option<String> {
    let words: Option<Vec<&str>> = part.words.iter().map(Option::as_deref).collect();
    words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
}

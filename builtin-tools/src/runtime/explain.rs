//! Explanation of a command's verdict, for people and for programs that check before they call.

use super::containing::containing;
use super::judged::{Command, Judged, Outcome};
use super::prepare::prepare;
use super::question::{Around, question};
use super::safe_bins;
use crate::config::ExecSettings;
use serde::Serialize;
use shell_verdict::{Access, Decision, Ground, Part, Reason};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use toolkit::prelude::*;

/// Explanation of a command: whether it runs, the effect of each part, and the sandbox it runs in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExplainedCommand {
    /// `allow`: it runs without approval. `ask`: it needs approval. `deny`: it does not run.
    pub verdict: &'static str,
    /// The most severe effect: `read-only`, `git-read`, `unknown`, `write`, `git-write`, `network`, `code`, `dangerous`,
    /// `forbidden`.
    pub class: &'static str,
    /// Reasons that do not belong to a single part: rules, settings, earlier answers, syntax that cannot be parsed.
    pub why: Vec<String>,
    /// Text of the command.
    pub command: String,
    /// Directory that the command would run in.
    pub directory: PathBuf,
    /// The shell that would run it.
    pub shell: PathBuf,
    /// Description of the sandbox that the command would run in, and its restrictions; or that there is none.
    pub runs_in: String,
    /// Variables that it gets so that it does no more than was judged.
    pub environment: BTreeMap<String, String>,
    /// The text that the shell runs, if it has additional arguments that guard the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guarded: Option<String>,
    /// The simple commands, in the order of the text.
    pub parts: Vec<ExplainedPart>,
}

/// A simple command, with the commands that it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExplainedPart {
    /// The verdict, as for the whole; the strictest of the part and of those within it.
    pub verdict: &'static str,
    /// The most severe effect.
    pub class: &'static str,
    /// Text of the part.
    pub text: String,
    /// Position of the text, in bytes from the beginning of the text around it.
    pub span: [usize; 2],
    /// The program's file, if it is installed.
    pub executable: Option<PathBuf>,
    /// Words after expansion, `null` for each that is unknown until the command runs.
    pub words: Vec<Option<String>>,
    /// The reasons.
    pub reasons: Vec<ExplainedReason>,
    /// The paths that it uses, as far as they are known.
    pub paths: Vec<ExplainedPath>,
    /// The commands that this one runs.
    pub parts: Vec<ExplainedPart>,
}

/// A reason of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExplainedReason {
    /// The decision; `allow` if a rule, a setting or the sandbox has answered it.
    pub verdict: &'static str,
    /// The effect of the command.
    pub class: &'static str,
    /// Text of the reason.
    pub text: String,
}

/// A path that a part uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExplainedPath {
    /// The path.
    pub path: PathBuf,
    /// `read`, `read-names`, `read-tree`, `search`, `read-repository` or `write`.
    pub access: &'static str,
    /// The reason for which the path needs approval, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
}

/// Returns the verdict on a command as if the caller of `ctx` called `exec` with it in the workspace: by the verdict, the rules,
/// the settings and earlier approvals. Nothing runs and nobody is asked. `ctx` is [`Toolbox::context`](toolkit::Toolbox::context)
/// of `exec`.
///
/// # Errors
///
/// As `exec` has them before it runs anything: for a text that can be no command, for a working directory that cannot be used.
pub async fn explain(ctx: &ToolContext, command: &str) -> Result<ExplainedCommand, ToolError> {
    let settings: Arc<ExecSettings> = Arc::new(ctx.config()?);
    let (command, _) = prepare(ctx, &settings, command, None, false, &BTreeMap::new(), None).await?;
    let own = ctx.clone();
    let explaining = move |_: &_| {
        let judged = command.judge(&own, &own.workspace(), &settings, false, false);
        let containing = containing(&settings, &command, &judged, None, &own.own_paths(), None);
        Ok(explained(&own, &settings, &command, &judged, containing.words))
    };
    ctx.blocking(explaining).await
}

fn explained(
    ctx: &ToolContext,
    settings: &ExecSettings,
    command: &Command,
    judged: &Judged,
    runs_in: String,
) -> ExplainedCommand {
    let mut why: Vec<String> = judged.verdict.reasons.iter().map(|reason| reason.text.clone()).collect();
    why.extend(judged.asked_by.iter().map(|rule| format!("approval required: {rule}")));
    why.extend(judged.denied_by.iter().map(|rule| format!("denied by the rule {rule}")));
    let verdict = match judged.outcome(settings, false) {
        Outcome::Runs => Decision::Allow,
        Outcome::Denied => Decision::Deny,
        Outcome::Refused(setting) => {
            why.push(setting.to_owned());
            Decision::Deny
        }
        Outcome::Asked => {
            let around = Around { sandbox: runs_in.clone(), ..Around::default() };
            let is_always = settings.asked() == crate::config::ExecAsk::Always;
            let ask = question(command, judged, &Around { is_always, ..around });
            if is_always {
                why.push("`tools.exec.ask` is `always`: each command needs approval".to_owned());
            }
            if ctx.recalls(&ask) {
                why.push("a person has allowed it before".to_owned());
                Decision::Allow
            } else {
                Decision::Ask
            }
        }
    };
    why.extend(judged.verdict.each_part().filter_map(|part| of_safe_bins(part, settings, command)));
    if judged.relies_on_sandbox {
        why.push("the sandbox contains it, and `tools.exec.security` is `auto`".to_owned());
    }
    ExplainedCommand {
        verdict: verdict.as_str(),
        class: judged.verdict.class.as_str(),
        why,
        command: command.text.clone(),
        directory: command.cwd.clone(),
        shell: command.shell.clone(),
        runs_in,
        environment: judged.verdict.env.iter().cloned().collect(),
        guarded: match judged.text(command) {
            Cow::Owned(text) => Some(text),
            Cow::Borrowed(_) => None,
        },
        parts: judged.verdict.parts.iter().map(|one| part(one, judged)).collect(),
    }
}

/// Returns the effect of `safeBins` on a part that it lists.
fn of_safe_bins(part: &Part, settings: &ExecSettings, command: &Command) -> Option<String> {
    let is_of_program = |reason: &&Reason| reason.ground == Ground::Program;
    let reason =
        part.reasons.iter().find(is_of_program).filter(|_| safe_bins::is_named(part, &settings.safe_bins))?;
    let program = part.program.as_deref()?;
    match safe_bins::obstacle(part, &command.workspace) {
        None if reason.decision == Decision::Allow => {
            Some(format!("`tools.exec.safeBins` names {program}, and `{}` only filters its input", part.text))
        }
        Some(obstacle) if part.decision > Decision::Allow => Some(format!(
            "`tools.exec.safeBins` names {program}, and does not count for `{}`: {obstacle}",
            part.text
        )),
        _ => None,
    }
}

fn part(of: &Part, judged: &Judged) -> ExplainedPart {
    let paths = of.paths.iter().map(|(path, access)| {
        let writes = *access == Access::Write;
        let asked = judged.paths.iter().find(|asked| asked.path == *path && asked.writes == writes);
        let asked = asked.map(|asked| match asked.reason.as_str() {
            "" => format!("permission.{}", asked.kind),
            reason => format!("permission.{}: {reason}", asked.kind),
        });
        ExplainedPath { path: path.clone(), access: access_words(*access), asked }
    });
    ExplainedPart {
        verdict: of.decision.as_str(),
        class: of.class.as_str(),
        text: of.text.clone(),
        span: [of.span.start, of.span.end],
        executable: of.executable.clone(),
        words: of.words.clone(),
        reasons: of.reasons.iter().map(reason).collect(),
        paths: paths.collect(),
        parts: of.parts.iter().map(|one| part(one, judged)).collect(),
    }
}

fn reason(of: &Reason) -> ExplainedReason {
    ExplainedReason { verdict: of.decision.as_str(), class: of.class.as_str(), text: of.text.clone() }
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::ReadNames => "read-names",
        Access::ReadTree { .. } => "read-tree",
        Access::Search => "search",
        Access::Repository => "read-repository",
        Access::Write => "write",
    }
}

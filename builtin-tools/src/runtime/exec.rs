//! `exec`: a command, judged before it runs, and never lost.

use super::containing::More;
use super::run::{Call, Input, run};
use crate::config::{ExecAsk, ExecSettings};
use crate::titles;
use std::collections::BTreeMap;
use std::time::Duration;
use toolkit::descriptor::Preparation;
use toolkit::prelude::*;

/// Access beyond the default sandbox.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecEscalation {
    /// Network access.
    Network,
    /// No sandbox.
    NoSandbox,
}

/// Leaves the tool out for a caller for whom nobody can be asked, if the settings demand an answer for each command.
async fn permitted(caller: &Caller, tool: &mut Preparation) {
    let Some(unattended) = &caller.unattended else { return };
    // A section that cannot be read is reported by a call.
    let Ok(settings) = tool.config::<ExecSettings>() else { return };
    if settings.asked() == ExecAsk::Always {
        tool.hide(format!(
            "each command needs an approval (`tools.exec.ask` is `always`), and nobody can be asked: {unattended}. The setting \
             `tools.exec.ask: \"on-miss\"` lets commands run that only read"
        ));
    }
}

/// Runs a command in a shell: bash if installed, else sh, without loading a profile.
///
/// Commands known to be read-only run at once; others need the person's approval, and some are always denied. Returns stdout and
/// stderr in the order written, then how the command ended. An exit code other than 0 is an error, with the output. Standard input
/// is empty unless `stdin` is given.
///
/// Run a command that does not end by itself, such as a server, in the background without a `timeout`: it runs until `process`
/// stops it or the session ends.
///
/// # Errors
///
/// If the command is denied, exits with a code other than 0, or exceeds its timeout.
#[tool(
    name = "exec",
    alias = ["bash", "shell"],
    group = ["runtime", "coding"],
    title = "Run a command",
    permission = "exec",
    destructive,
    asks,
    truncate = "off",
    timeout = "90000s",
    prepare = permitted
)]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the tool")]
pub async fn exec(
    ctx: &ToolContext,
    /// The command, as typed in a shell.
    #[arg(alias = "cmd", length(1..=65_536), example = "cargo test")]
    command: &str,
    /// The purpose, in a few words, for the approval prompt.
    #[arg(length(..=1_000), example = "Runs the tests")]
    description: Option<&str>,
    /// Working directory, absolute or relative to the workspace.
    #[arg(alias = "cwd", length(1..))]
    workdir: Option<&Path>,
    /// Additional environment variables. Most need approval.
    env: Option<BTreeMap<String, String>>,
    /// Timeout in milliseconds, also in the background. Without it, a command started in the background has none.
    #[arg(range(1..=86_400_000))]
    timeout: Option<u64>,
    /// Run in the background from the start; returns the job's id, for `process`.
    #[arg(default)]
    run_in_background: bool,
    /// Move to the background if still running after this time, in milliseconds.
    #[arg(range(1..=3_600_000))]
    yield_ms: Option<u64>,
    /// Run in a terminal; type into it with `process`.
    #[arg(default)]
    pty: bool,
    /// Text for its standard input.
    #[arg(length(..=1_048_576))]
    stdin: Option<&str>,
    /// Keep standard input open, after `stdin` if given, for `process` to write to. Always true for a terminal unless `stdin` is
    /// given.
    #[arg(default)]
    keep_stdin: bool,
    /// Access beyond the default sandbox, if the command needs it. Needs approval.
    escalate: Option<ExecEscalation>,
) -> Result<ToolOutput, ToolError> {
    ctx.set_title(titles::short(command));
    let env = env.unwrap_or_default();
    // A carriage return at the end of a line would be a part of its last word.
    let command = command.replace("\r\n", "\n");
    let call = Call {
        command: &command,
        claim: description,
        workdir,
        env: &env,
        timeout: timeout.map(Duration::from_millis),
        background: run_in_background,
        yields_after: yield_ms.map(Duration::from_millis),
        on_terminal: pty,
        input: Input { text: stdin, stays_open: keep_stdin || pty && stdin.is_none() },
        more: escalate.map(|more| match more {
            ExecEscalation::Network => More::Network,
            ExecEscalation::NoSandbox => More::Everything,
        }),
    };
    run(ctx, call).await
}

use std::path::Path;

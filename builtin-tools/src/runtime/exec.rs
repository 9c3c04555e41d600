//! `exec`: a command, judged before it runs, and never lost.

use super::containing::More;
use super::run::{Call, Input, run};
use crate::config::{ExecAsk, ExecSettings};
use crate::titles;
use std::collections::BTreeMap;
use std::time::Duration;
use toolkit::Preparation;
use toolkit::prelude::*;

/// More than its usual sandbox.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum ExecEscalation {
    /// The network.
    Network,
    /// No sandbox at all.
    NoSandbox,
}

/// Leaves the tool out for a caller for whom nobody can be asked, if the settings demand an answer for each command.
#[expect(clippy::unused_async, reason = "a preparation is a future")]
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

/// Runs a command in a shell: bash, where it is installed, else sh, without any profile.
///
/// What is proved to only read runs at once; about everything else the person is asked, and some commands never run. The result is
/// what the command wrote, both streams as they came, then how it ended. A command that ends with another exit code than 0 is an
/// error, with its output. It reads nothing unless it is given `stdin`.
///
/// A command that does not end by itself, such as a server, belongs in the background, without a `timeout`: it runs until it is
/// stopped with `process`, or the session ends.
///
/// # Errors
///
/// When it may not run, ended with another exit code than 0, or took too long.
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
    /// The command, as it would be typed.
    #[arg(alias = "cmd", length(1..=65_536), example = "cargo test")]
    command: &str,
    /// What it is for, in a few words, for the person who may be asked.
    #[arg(length(..=1_000), example = "Runs the tests")]
    description: Option<&str>,
    /// The directory that it runs in, absolute or relative to the workspace.
    #[arg(alias = "cwd", length(1..))]
    workdir: Option<&Path>,
    /// Variables of its environment, beside the usual ones. The person is asked about most.
    env: Option<BTreeMap<String, String>>,
    /// How long it may run, in milliseconds, in the background too. Without it, what runs in the background from its start has no
    /// such bound.
    #[arg(range(1..=86_400_000))]
    timeout: Option<u64>,
    /// Whether it runs in the background at once: its id is returned, and `process` looks after it.
    #[arg(default)]
    run_in_background: bool,
    /// After how long it goes to the background if it still runs, in milliseconds.
    #[arg(range(1..=3_600_000))]
    yield_ms: Option<u64>,
    /// Whether it gets a terminal. What is typed there is written by `process`.
    #[arg(default)]
    pty: bool,
    /// What it reads from its standard input.
    #[arg(length(..=1_048_576))]
    stdin: Option<&str>,
    /// Whether its standard input stays open, after `stdin` if that is given, for `process` to write to. A terminal's always does
    /// unless `stdin` is given.
    #[arg(default)]
    keep_stdin: bool,
    /// More than the usual sandbox, if the command needs it. The person is asked.
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

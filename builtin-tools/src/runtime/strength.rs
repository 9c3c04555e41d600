//! Features of this system that contain commands, and their consequences for the configuration.

use super::containing::{QUARANTINE, changes, could_contain};
use super::reading;
use crate::config::{ExecNetwork, ExecSandbox, ExecSandboxMode, ExecSecurity, ExecSettings};
use serde::Serialize;
use toolkit::prelude::*;
use toolkit_sandbox::{Feature, ReadingGuarantee, probe};

/// Features of this system that contain commands, found by trying them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CommandStrength {
    /// `whole`: a sandbox enforces every restriction. `partial`: it lacks some. `none`: there is no sandbox.
    pub sandbox: &'static str,
    /// Version of Landlock's interface; 0 without Landlock.
    pub landlock_abi: u32,
    /// All features, available or not.
    pub features: Vec<CommandFeature>,
    /// The guarantees about commands that run on their verdict alone.
    pub reading: Vec<CommandGuarantee>,
    /// Consequences with the present configuration, in sentences.
    pub means: Vec<String>,
}

/// A guarantee about a command that runs because its verdict says that it only reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CommandGuarantee {
    /// The guarantee, as a sentence about the command.
    pub guarantee: &'static str,
    /// The means that gives it on this system.
    pub by: &'static str,
    /// The first version of Linux with this means.
    pub since: &'static str,
    /// True if it holds on this system.
    pub holds: bool,
}

/// A feature that a system has or lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CommandFeature {
    /// Name of the feature.
    pub name: &'static str,
    /// The reason for which the feature is missing; `null` if it is available.
    pub missing: Option<String>,
}

/// Returns the features of this system, and their consequences for the commands of the caller of `ctx`, which is
/// [`Toolbox::context`](toolkit::Toolbox::context) of `exec`. The first call in a process tests the features, which blocks for
/// some milliseconds.
///
/// # Errors
///
/// If `tools.exec` has an invalid configuration.
pub fn strength(ctx: &ToolContext) -> Result<CommandStrength, ToolError> {
    let settings: ExecSettings = ctx.config()?;
    let found = probe();
    let features = found.features().map(|(feature, missing)| CommandFeature {
        name: feature.name(),
        missing: missing.map(str::to_owned),
    });
    let is_partial = found.has(Feature::Supervisor)
        && [Feature::UserNamespace, Feature::Landlock, Feature::Seccomp].iter().any(|part| found.has(*part));
    let sandbox = if found.is_whole() {
        "whole"
    } else if is_partial {
        "partial"
    } else {
        "none"
    };
    Ok(CommandStrength {
        sandbox,
        landlock_abi: found.landlock_abi(),
        features: features.collect(),
        reading: found.reading_guarantees().into_iter().map(CommandGuarantee::from).collect(),
        means: means(&settings, sandbox, found.has(Feature::Supervisor))
            .into_iter()
            .chain([reads(&settings)])
            .chain(holds(&settings, ctx))
            .chain(limits(&settings, ctx))
            .collect(),
    })
}

impl From<ReadingGuarantee> for CommandGuarantee {
    fn from(guarantee: ReadingGuarantee) -> Self {
        let ReadingGuarantee { text, by, since, holds, .. } = guarantee;
        Self { guarantee: text, by, since, holds }
    }
}

/// Describes the containment of commands that run on their verdict alone.
fn reads(settings: &ExecSettings) -> String {
    let is_off = !settings.enable_sandbox || settings.sandbox == ExecSandbox::Off;
    if reading::is_available(settings) {
        "A command that is known to be read-only is contained by all of the guarantees above.".to_owned()
    } else if is_off {
        "A command that is known to be read-only is not contained, since `tools.exec.sandbox` is `off`: commands of git run unasked only \
         in repositories whose configuration and index are known to be harmless."
            .to_owned()
    } else {
        "A command that is known to be read-only is not contained, since this system lacks Landlock, seccomp or a supervisor: commands of \
         git run unasked only in repositories whose configuration and index are known to be harmless."
            .to_owned()
    }
}

/// Describes the sandbox's restrictions of sockets and of names that must not be left behind.
fn holds(settings: &ExecSettings, ctx: &ToolContext) -> Vec<String> {
    let found = probe();
    let is_off = !settings.enable_sandbox || settings.sandbox == ExecSandbox::Off;
    if is_off || !found.has(Feature::Seccomp) {
        return Vec::new();
    }
    let is_brokered =
        [Feature::UserNamespace, Feature::Mounts, Feature::ProcessIds].iter().all(|part| found.has(*part));
    let mut holds = vec![
        if is_brokered {
            "In the sandbox, a local socket with a path can be connected to only if the same command has made it; with \
             network access, only in the sandbox's own /tmp. Local datagram sockets cannot be made."
        } else {
            "In the sandbox, local sockets cannot be made, except for connected pairs."
        }
        .to_owned(),
    ];
    if settings.sandbox_mode == ExecSandboxMode::WorkspaceWrite {
        let data = ctx.own_paths().data.first().map(|data| data.join(QUARANTINE));
        let to =
            data.map_or_else(|| "a closed directory beside".to_owned(), |data| data.display().to_string());
        holds.push(format!(
            "What a command in the sandbox makes under a protected or sensitive name, at whatever depth of the workspace, is moved to {to} when the \
             command ends, unless the approval prompt named it. It exists while the command runs. A git repository \
             stays if git runs nothing because of it."
        ));
    }
    holds
}

/// Describes the resource limits of commands, and the means that enforces them.
fn limits(settings: &ExecSettings, ctx: &ToolContext) -> Vec<String> {
    let (limits, outputs) = (super::limits::of(settings), ctx.output_store());
    let found = probe();
    let mut lines = vec![format!(
        "Of the output of a command, at most {} bytes are kept, and of all outputs together {}; a command that writes more is ended.",
        outputs.max_bytes(),
        outputs.max_total_bytes()
    )];
    if !found.has(Feature::Supervisor) {
        lines.push("Processes and memory of commands are not limited: there is no supervisor.".to_owned());
        return lines;
    }
    let processes = limits.processes().map(|count| format!("{count} processes and threads"));
    let memory = limits.memory().map(|bytes| format!("{} MiB of memory", bytes >> 20));
    let both: Vec<String> = processes.into_iter().chain(memory).collect();
    let by = match found.cgroup() {
        Some(directory) => format!("limited by a control group in {}", directory.display()),
        None => "checked four times a second, since no control group (cgroup v2) can be made here".to_owned(),
    };
    lines.push(format!(
        "A command may have {} at once, {by}; one that uses more is ended.",
        both.join(" and ")
    ));
    lines
}

fn means(settings: &ExecSettings, sandbox: &str, is_supervised: bool) -> Vec<String> {
    let mut means = vec![if is_supervised {
        "All that a command starts ends with this program, also when it is killed.".to_owned()
    } else {
        "A command that detaches itself can outlive this program: there is no supervisor.".to_owned()
    }];
    let is_off = !settings.enable_sandbox || settings.sandbox == ExecSandbox::Off;
    let network =
        if settings.network == ExecNetwork::On { "with the network" } else { "without the network" };
    let held = format!("{}, {network}", changes(settings.sandbox_mode));
    means.push(match (is_off, settings.sandbox, sandbox) {
        (true, ..) => "Commands are not sandboxed: `tools.exec.sandbox` is `off`.".to_owned(),
        (_, ExecSandbox::Required, "whole") => {
            format!("All commands run in a sandbox, which `tools.exec.sandbox` requires: each {held}.")
        }
        (_, ExecSandbox::Required, _) => {
            "No command runs: `tools.exec.sandbox` is `required`, and this system lacks the parts marked as missing.".to_owned()
        }
        (.., "whole") => format!("A command that is not known to be read-only runs in a sandbox: it {held}."),
        (.., "partial") => {
            format!("A command that is not known to be read-only runs in the available parts of a sandbox: it {held}, as far as they allow.")
        }
        _ => "Commands are not sandboxed: no sandbox is available.".to_owned(),
    });
    means.push(match settings.security {
        ExecSecurity::Deny => {
            "Only commands known to be read-only run: `tools.exec.security` is `deny`.".to_owned()
        }
        ExecSecurity::Auto if could_contain(settings) => {
            "Commands that the sandbox contains run without approval: `tools.exec.security` is `auto`.".to_owned()
        }
        ExecSecurity::Auto => "Commands not known to be read-only need approval: `tools.exec.security` is `auto`, but the sandbox \
                               would have to be whole, on, without the network, and not `full`."
            .to_owned(),
        ExecSecurity::Ask => "Commands not known to be read-only need approval.".to_owned(),
    });
    means
}

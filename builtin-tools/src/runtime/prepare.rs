//! Preparation of a command: directory, shell and environment.

use super::environment::{environment, from_home};
use super::judged::{AskedPath, Command, LONGEST_ARGUMENT};
use super::tmp::{self, Tmp};
use crate::config::{ExecSandbox, ExecSettings};
use shell_verdict::Shell;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, approval::Access, permission::PathDecision, text::escape_line};

/// Paths at which shells are searched for first.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];

/// The parts of a question in addition to the command itself.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Variables that are set for it.
    pub(super) variables: Vec<String>,
    /// The directory that it runs in.
    pub(super) directory: Option<AskedPath>,
}

impl Beside {
    pub(super) fn is_nothing(&self) -> bool {
        self.variables.is_empty() && self.directory.is_none()
    }
}

/// Prepares a command, with the parts of the question in addition to it.
///
/// # Errors
///
/// For an invalid command, an invalid directory, and variables that are never set.
pub(super) async fn prepare(
    ctx: &ToolContext,
    settings: &ExecSettings,
    text: &str,
    workdir: Option<&Path>,
    on_terminal: bool,
    wanted: &BTreeMap<String, String>,
    session_tmp: Option<&Arc<Tmp>>,
) -> Result<(Command, Beside), ToolError> {
    if text.contains('\0') {
        let problem = "the command contains a NUL character; remove it";
        return Err(ToolError::new(ToolErrorKind::InvalidArguments, problem));
    }
    fits(text, wanted)?;
    let (cwd, asked) = directory(ctx, settings, workdir).await?;
    let files = ctx.workspace();
    let workspace = ctx.blocking(move |_| files.root()).await?;
    let made = environment(host_variables(), settings, &workspace, on_terminal, wanted)?;
    let (shell, kind) = shell(made.variables.get("PATH").map_or("", String::as_str), &workspace);
    let mut variables = made.variables;
    // As in a sandbox; paths below it are judged by its real location.
    if settings.enable_sandbox && settings.sandbox != ExecSandbox::Off && !wanted.contains_key("TMPDIR") {
        let session_tmp = session_tmp.map(Arc::clone);
        let own = ctx.blocking(move |_| Ok(own_tmp(session_tmp.as_deref()))).await?;
        variables.insert("TMPDIR".to_owned(), own);
    }
    let within = ctx.caller().within.clone();
    let command = Command { text: text.to_owned(), cwd, workspace, within, variables, shell, kind };
    Ok((command, Beside { variables: made.asked, directory: asked }))
}

/// Checks that the system can pass the command and each variable to a shell: it counts bytes, while a schema counts characters.
fn fits(text: &str, variables: &BTreeMap<String, String>) -> Result<(), ToolError> {
    let too_long = |what: String, bytes: usize, way_out: &str| {
        let problem = format!(
            "{what} {bytes} bytes long, and the system passes at most {LONGEST_ARGUMENT} to a program in one piece; {way_out}"
        );
        Err(ToolError::new(ToolErrorKind::InvalidArguments, problem))
    };
    if text.len() > LONGEST_ARGUMENT {
        return too_long("the command is".to_owned(), text.len(), "write it to a script, and run that");
    }
    let length = |(name, value): (&String, &String)| name.len() + 1 + value.len();
    match variables.iter().find(|variable| length(*variable) > LONGEST_ARGUMENT) {
        Some((name, value)) => too_long(
            format!("the variable {} with its value is", escape_line(name)),
            length((name, value)),
            "write the value to a file, and let the command read that",
        ),
        None => Ok(()),
    }
}

/// Returns the path of the directory for temporary files in a sandbox. If it cannot replace `/tmp`, it has its own path.
fn own_tmp(session_tmp: Option<&Tmp>) -> String {
    let own = session_tmp.filter(|_| !tmp::is_put_in_place()).and_then(Tmp::directory);
    own.and_then(|own| own.into_os_string().into_string().ok()).unwrap_or_else(|| "/tmp".to_owned())
}

/// Returns the host's environment variables that are valid text.
fn host_variables() -> impl Iterator<Item = (String, String)> {
    env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Returns the directory of the command, and the path that needs approval for it, which is part of the one question.
async fn directory(
    ctx: &ToolContext,
    settings: &ExecSettings,
    wanted: Option<&Path>,
) -> Result<(PathBuf, Option<AskedPath>), ToolError> {
    let real = match (wanted, &settings.default_working_directory) {
        (Some(wanted), _) => {
            let (deciding, given) = (ctx.clone(), wanted.to_owned());
            let asked = ctx.blocking(move |_| asked_directory(&deciding, &given)).await?;
            if let Some(asked) = asked {
                return Ok((asked.path.clone(), Some(asked)));
            }
            ctx.check_file_access(wanted, Access::Read).await?
        }
        (None, Some(configured)) => {
            let home = env::var_os("HOME").map(PathBuf::from);
            let configured = ctx.workspace_dir().join(from_home(configured, home.as_deref()));
            configured.canonicalize().map_err(|error| {
                ToolError::unavailable(format!(
                    "the configured `tools.exec.defaultWorkingDirectory` ({}) cannot be used: {error}",
                    configured.display()
                ))
            })?
        }
        (None, None) => return Ok((ctx.workspace().root()?, None)),
    };
    if real.is_dir() {
        return Ok((real, None));
    }
    let shown = ctx.workspace().shown(&real);
    Err(ToolError::new(ToolErrorKind::InvalidArguments, format!("`workdir` {shown} is not a directory")))
}

/// Returns the resolved directory, if it needs approval. Before approval, the caller does not learn whether it exists.
fn asked_directory(ctx: &ToolContext, wanted: &Path) -> Result<Option<AskedPath>, ToolError> {
    let named = ctx.decide_path(wanted, Access::Read)?;
    let PathDecision::Ask { .. } = named.decision else { return Ok(None) };
    let real = named.path.canonicalize().unwrap_or(named.path);
    match ctx.decide_path(&real, Access::Read)?.decision {
        PathDecision::Ask { kind, reason, .. } => {
            Ok(Some(AskedPath { path: real, writes: false, kind, reason }))
        }
        // A link to an allowed or denied path.
        _ => Ok(None),
    }
}

/// Returns bash, if it is installed; directories of `PATH` in the workspace do not count.
fn shell(path: &str, workspace: &Path) -> (PathBuf, Shell) {
    let of_path = env::split_paths(path)
        .filter(|directory| directory.is_absolute() && !directory.starts_with(workspace))
        .map(|directory| directory.join("bash"));
    let bash = SHELLS.iter().map(PathBuf::from).chain(of_path).find(|bash| bash.is_file());
    bash.map_or_else(|| (PathBuf::from("/bin/sh"), Shell::Sh), |bash| (bash, Shell::Bash))
}

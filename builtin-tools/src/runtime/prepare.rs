//! What a command is run with: where, by which shell, in which environment.

use super::environment::{environment, from_home};
use super::judged::Command;
use crate::config::ExecSettings;
use shell_verdict::Shell;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use toolkit::prelude::*;
use toolkit::{Access, ToolErrorKind};

/// Where shells are looked for first.
const SHELLS: &[&str] = &["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];

/// A command as it would be run, and those of the variables set for it that a person has to be asked about.
///
/// # Errors
///
/// For what can be no command, for a directory that is none, and for variables that are never set.
pub(super) async fn prepare(
    ctx: &ToolContext,
    settings: &ExecSettings,
    text: &str,
    workdir: Option<&Path>,
    on_terminal: bool,
    wanted: &BTreeMap<String, String>,
) -> Result<(Command, Vec<String>), ToolError> {
    if text.contains('\0') {
        let problem = "the command holds a NUL character, which no command can; leave it out";
        return Err(ToolError::new(ToolErrorKind::InvalidArguments, problem));
    }
    let cwd = directory(ctx, settings, workdir).await?;
    let made = environment(host_variables(), &settings.path_prepend, on_terminal, wanted)?;
    let files = ctx.workspace();
    let workspace = ctx.blocking(move |_| files.root()).await?;
    let (shell, kind) = shell(made.variables.get("PATH").map_or("", String::as_str), &workspace);
    let command = Command { text: text.to_owned(), cwd, workspace, variables: made.variables, shell, kind };
    Ok((command, made.asked))
}

/// The host's environment, as far as it is text.
fn host_variables() -> impl Iterator<Item = (String, String)> {
    env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The directory that it runs in.
async fn directory(
    ctx: &ToolContext,
    settings: &ExecSettings,
    wanted: Option<&Path>,
) -> Result<PathBuf, ToolError> {
    let real = match (wanted, &settings.default_working_directory) {
        (Some(wanted), _) => ctx.check_file_access(wanted, Access::Read).await?,
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
        (None, None) => return ctx.workspace().root(),
    };
    if real.is_dir() {
        return Ok(real);
    }
    let shown = ctx.workspace().shown(&real);
    Err(ToolError::new(ToolErrorKind::InvalidArguments, format!("`workdir` {shown} is not a directory")))
}

/// bash, if it is installed; of the directories of `PATH` those of the workspace do not count.
fn shell(path: &str, workspace: &Path) -> (PathBuf, Shell) {
    let of_path = env::split_paths(path)
        .filter(|directory| directory.is_absolute() && !directory.starts_with(workspace))
        .map(|directory| directory.join("bash"));
    let bash = SHELLS.iter().map(PathBuf::from).chain(of_path).find(|bash| bash.is_file());
    bash.map_or_else(|| (PathBuf::from("/bin/sh"), Shell::Sh), |bash| (bash, Shell::Bash))
}

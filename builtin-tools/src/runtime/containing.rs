//! The containment of a command.

use super::guarded_tree::OF_TOOLS;
use super::judged::{Command, Judged};
use super::masked::Masked;
use super::masks::{Masking, Masks};
use super::needs::{Needs, TEMPORARY};
use super::tmp::Tmp;
use super::{guards, reading};
use crate::config::{ExecNetwork, ExecSandbox, ExecSandboxMode, ExecSettings};
use shell_verdict::Class;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit::permission::{OwnPaths, harmless_paths, protected_paths, sensitive_paths};
use toolkit_sandbox::{Mode, Quarantine, Repositories, Sandbox};

/// Directory in the toolkit's data to which files are moved that a command must not leave behind.
pub(super) const QUARANTINE: &str = "quarantine";

/// Description of the sandbox of a command that only reads.
const READS: &str = "a sandbox: it can only read, and neither change files nor connect";

/// An escalation beyond the usual sandbox, which needs approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Network,
    Everything,
}

/// The sandbox of a command.
#[derive(Debug, Default)]
pub(super) struct Containing {
    pub(super) sandbox: Option<Sandbox>,
    /// Description for the user.
    pub(super) words: String,
    /// True if the sandbox is that of a command which only reads: see [`reading`].
    pub(super) reads: bool,
    /// True if the command runs without approval by a person or a rule, on its verdict or because of the sandbox.
    pub(super) is_unasked: bool,
    /// The paths that the sandbox masks.
    pub(super) masked: Option<Masked>,
}

/// Returns true if the sandbox, as configured, contains the effects of this command, and the system supports all of it.
pub(super) fn contains(settings: &ExecSettings, command: &Command) -> bool {
    could_contain(settings)
        && command.workspace != Path::new("/")
        && roots(settings, command).iter().all(|root| guards::can_be_kept(root))
}

/// Returns true if the sandbox would contain the effects of a command in a workspace that causes no conflict.
pub(super) fn could_contain(settings: &ExecSettings) -> bool {
    settings.enable_sandbox
        && settings.sandbox != ExecSandbox::Off
        && settings.sandbox_mode != ExecSandboxMode::Full
        && settings.network == ExecNetwork::Off
        && toolkit_sandbox::probe().is_whole()
}

/// Returns the directories that commands may write to: the workspace, and the configured ones, or the directories that the boundary is
/// restricted to.
pub(super) fn roots(settings: &ExecSettings, command: &Command) -> Vec<PathBuf> {
    let home = command.variables.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    if let Some(within) = &command.within {
        return within.clone();
    }
    let further = settings.allowed_directories.iter().map(|directory| {
        let directory = PathBuf::from(super::environment::from_home(directory, home.as_deref()));
        directory.canonicalize().unwrap_or(directory)
    });
    std::iter::once(command.workspace.clone()).chain(further.filter(|path| path.is_absolute())).collect()
}

/// Returns the paths that a sandbox of this command masks. Blocks.
pub(super) fn masks<'m>(masking: &'m Masking, settings: &ExecSettings, command: &Command) -> &'m Masks {
    let home = command.variables.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    masking.masks(&roots(settings, command), home.as_deref())
}

/// Returns the sandbox for this command.
pub(super) fn containing(
    settings: &ExecSettings,
    command: &Command,
    judged: &Judged,
    more: Option<More>,
    own: &OwnPaths,
    session_tmp: Option<&Tmp>,
) -> Containing {
    let reads = judged.is_proved && more.is_none();
    let is_unasked = more.is_none() && (judged.relies_on_sandbox || reads);
    let without = |words: String| Containing { words, is_unasked, ..Containing::default() };
    let is_required = settings.sandbox == ExecSandbox::Required;
    if !settings.enable_sandbox || settings.sandbox == ExecSandbox::Off {
        return without("no sandbox".to_owned());
    }
    let roots = roots(settings, command);
    let needs = Needs::of(command, judged, &roots, session_tmp.and_then(Tmp::made).as_deref());
    // Files in the session's own /tmp are seen only where that is mounted.
    if reads && !needs.is_private && reading::is_available(settings) {
        let (sandbox, hidden) = reading::sandbox(command, judged, &needs, &roots, own);
        let masked = Some(Masked::new(hidden, BTreeSet::new(), Arc::clone(&judged.masking)));
        return Containing { sandbox: Some(sandbox), words: READS.to_owned(), reads, is_unasked, masked };
    }
    if !is_required && reads && !needs.is_private {
        return without(
            "not sandboxed: the command is read-only, and this system cannot contain it".to_owned(),
        );
    }
    if more == Some(More::Everything) {
        return without("no sandbox".to_owned());
    }
    let speaks = judged.verdict.each_part().any(|part| {
        part.class == Class::Network || part.reasons.iter().any(|reason| reason.class == Class::Network)
    });
    let network = settings.network == ExecNetwork::On || more == Some(More::Network) || speaks && !is_unasked;
    // A command that needed no approval because of a sandbox stays in one, whatever else a rule allows.
    if let Some(wide) = needs.too_wide.first().filter(|_| !is_required && !is_unasked) {
        return without(format!(
            "not sandboxed: it may change {}, so nothing else could be protected",
            wide.display()
        ));
    }
    let changes_all = command.workspace == Path::new("/");
    let within = match settings.sandbox_mode {
        _ if reads => Mode::ReadOnly,
        ExecSandboxMode::ReadOnly => Mode::ReadOnly,
        ExecSandboxMode::WorkspaceWrite if !changes_all => Mode::WorkspaceWrite,
        _ => Mode::Full,
    };
    let mut sandbox = Sandbox::new(within, &command.workspace)
        .with_network(network)
        .with_visible(&command.cwd)
        .required(is_unasked || is_required);
    for root in roots.iter().skip(1).chain(&needs.writable) {
        sandbox = sandbox.with_writable(root);
    }
    for path in &needs.visible {
        sandbox = sandbox.with_visible(path);
    }
    let masks = masks(&judged.masking, settings, command);
    let mut protected = guards::protected(&roots, own);
    protected.extend(masks.protected.iter().cloned());
    let mut hidden = guards::hidden(&command.variables, own);
    hidden.retain(|path| !judged.masking.shows(path));
    hidden.extend(masks.hidden.iter().cloned());
    if is_unasked {
        protected.extend(roots.iter().flat_map(|root| guards::never_made(root)));
        // The content of a hidden file that is tracked counts as the file. Commands of git ask in such a repository.
        if guards::tracks_secret(&command.workspace, &judged.masking) {
            hidden.extend(guards::objects(&command.workspace));
        }
    } else {
        let is_named = |path: &Path| needs.is_about(path) || needs.is_of_git(path);
        protected.retain(|path| masks.unwritable.contains(path) || !is_named(path));
        hidden.retain(|path| masks.unreadable.contains(path) || !needs.is_read(path));
    }
    // No sandbox can be made in a hidden directory.
    let used = || roots.iter().chain([&command.cwd]).chain(&needs.writable).chain(&needs.visible);
    hidden.retain(|path| !used().any(|used| used.starts_with(path)));
    let is_hidden = |path: &Path| path.ancestors().any(|above| hidden.contains(above));
    for path in masks.writable.iter().filter(|path| !is_hidden(path)) {
        sandbox = sandbox.with_writable(path);
    }
    for path in protected.iter().filter(|path| roots.iter().any(|root| path.starts_with(root))) {
        sandbox = sandbox.with_protected(path);
    }
    for path in &hidden {
        sandbox = sandbox.with_hidden(path);
    }
    if within == Mode::WorkspaceWrite {
        let (unwritable, writable) = judged.masking.unwritable();
        let of_paths = |patterns: Vec<String>| patterns.into_iter().map(|pattern| format!("{pattern}/"));
        let quarantine = quarantine(&roots, &needs, own, is_unasked);
        sandbox = sandbox.with_quarantine(quarantine.with_ruled(of_paths(unwritable), of_paths(writable)));
    }
    // It also contains files of other programs, which the approval did not cover. Their sockets cannot be connected to.
    if needs.is_temporary && !is_unasked {
        sandbox = sandbox.with_tmp(TEMPORARY[0]);
        if let Some(own) = &needs.named_tmp {
            sandbox = sandbox.with_writable(own);
        }
    } else if let Some(tmp) = session_tmp.and_then(Tmp::directory) {
        sandbox = sandbox.with_tmp(tmp);
    }
    let masked = Some(Masked::new(hidden, protected, Arc::clone(&judged.masking)));
    Containing {
        sandbox: Some(sandbox),
        words: words(settings, &needs, &roots, network),
        reads: false,
        is_unasked,
        masked,
    }
}

/// Returns the quarantine of the directories that the command may write to: new files with a protected or secret name that the question
/// did not mention.
fn quarantine(roots: &[PathBuf], needs: &Needs, own: &OwnPaths, is_unasked: bool) -> Quarantine {
    // Repositories are checked by what they make git run; files of other roots do not belong to a workspace.
    let is_wanted = |pattern: &&str| {
        !pattern.starts_with('/') && !["head", "commondir", "gitdir", ".git/"].contains(pattern)
    };
    let guarded = protected_paths().iter().chain(sensitive_paths());
    let names = guarded.flat_map(|guarded| guarded.patterns.iter().copied()).filter(is_wanted);
    let repositories = match (needs.writes_git, is_unasked) {
        (true, _) => Repositories::Open,
        (false, true) => Repositories::Protected,
        (false, false) => Repositories::Watched,
    };
    let mut quarantine = Quarantine::new(roots)
        .with_names(names)
        .with_exceptions(harmless_paths().iter().copied())
        .with_tool_directories(OF_TOOLS.iter().copied())
        .with_repositories(repositories);
    for named in needs.named() {
        quarantine = quarantine.with_named(named);
    }
    match own.data.first() {
        Some(data) => quarantine.with_store(data.join(QUARANTINE)),
        None => quarantine,
    }
}

fn words(settings: &ExecSettings, needs: &Needs, roots: &[PathBuf], network: bool) -> String {
    let mut writes = changes(settings.sandbox_mode).to_owned();
    let further = || roots.iter().skip(1).chain(&needs.writable);
    if settings.sandbox_mode == ExecSandboxMode::WorkspaceWrite && further().next().is_some() {
        let further: Vec<String> = further().map(|path| path.display().to_string()).collect();
        writes = format!("can change files of the workspace and of {} alone", further.join(", "));
    }
    let network = if network { "with network" } else { "no network" };
    let is_whole = toolkit_sandbox::probe().is_whole();
    let lacks = if is_whole { "" } else { "; this system cannot hold all of it" };
    format!("a sandbox: {writes}, {network}{lacks}")
}

/// Describes the files that a command can change in this mode.
pub(super) fn changes(mode: ExecSandboxMode) -> &'static str {
    match mode {
        ExecSandboxMode::ReadOnly => "can change no file",
        ExecSandboxMode::WorkspaceWrite => "can change files of the workspace alone",
        ExecSandboxMode::Full => "can change files",
    }
}

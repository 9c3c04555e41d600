//! The containment of a command.

use super::guarded_tree::OF_TOOLS;
use super::judged::{Command, Judged};
use super::masked::Masked;
use super::masks::{Masking, Masks};
use super::tmp::{self, Tmp};
use super::{guards, reading};
use crate::config::{ExecNetwork, ExecSandbox, ExecSandboxMode, ExecSettings};
use shell_verdict::{Access, Class};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit::permission::{
    OwnPaths, harmless_paths, protected_path, protected_paths, sensitive_path, sensitive_paths,
};
use toolkit_sandbox::{Mode, Quarantine, Repositories, Sandbox};

/// Directories of which a contained command has its own.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Programs that remove or move a directory with all that it contains. A mask in it would prevent that.
const MOVERS: &[&str] = &["rm", "mv"];

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
fn roots(settings: &ExecSettings, command: &Command) -> Vec<PathBuf> {
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
    let without = |words: String| Containing { words, ..Containing::default() };
    let is_required = settings.sandbox == ExecSandbox::Required;
    if !settings.enable_sandbox || settings.sandbox == ExecSandbox::Off {
        return without("no sandbox".to_owned());
    }
    let roots = roots(settings, command);
    let needs = Needs::of(command, judged, &roots, session_tmp.and_then(Tmp::made).as_deref());
    let reads = judged.is_proved && more.is_none();
    // Files in the session's own /tmp are seen only where that is mounted.
    if reads && !needs.is_private && reading::is_available(settings) {
        let sandbox = Some(reading::sandbox(command, judged, &needs, &roots, own));
        return Containing { sandbox, words: READS.to_owned(), reads: true };
    }
    if !is_required && reads && !needs.is_private {
        return without(
            "not sandboxed: the command is read-only, and this system cannot contain it".to_owned(),
        );
    }
    if more == Some(More::Everything) {
        return without("no sandbox".to_owned());
    }
    let is_unasked = more.is_none() && (judged.relies_on_sandbox || reads);
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
        sandbox = sandbox.with_quarantine(quarantine(&roots, &needs, own, is_unasked));
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
    Containing { sandbox: Some(sandbox), words: words(settings, &needs, network), reads: false, masked }
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

fn words(settings: &ExecSettings, needs: &Needs, network: bool) -> String {
    let mut writes = changes(settings.sandbox_mode).to_owned();
    if settings.sandbox_mode == ExecSandboxMode::WorkspaceWrite && !needs.writable.is_empty() {
        let further: Vec<String> = needs.writable.iter().map(|path| path.display().to_string()).collect();
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

/// Paths that a command uses in addition to those that every command may use: each was allowed by a rule or the user.
#[derive(Debug, Default)]
pub(super) struct Needs {
    writable: BTreeSet<PathBuf>,
    visible: BTreeSet<PathBuf>,
    /// Directories with too much other content for a sandbox to let a command write there and still restrict the rest.
    too_wide: Vec<PathBuf>,
    /// True if the command uses files in the shared `/tmp`.
    is_temporary: bool,
    /// True if the command uses files that another command of the session left in the session's `/tmp`.
    is_private: bool,
    /// The session's private directory for temporary files, if the command refers to it by its real path.
    named_tmp: Option<PathBuf>,
    /// Every path of the command, with its access.
    paths: Vec<(PathBuf, Access)>,
    /// Paths that the command removes or moves with all that they contain.
    moved: Vec<PathBuf>,
    /// Directories of the repository's own data, if git writes to them.
    git: Vec<PathBuf>,
    /// True if git writes.
    writes_git: bool,
}

impl Needs {
    pub(super) fn of(
        command: &Command,
        judged: &Judged,
        roots: &[PathBuf],
        own_tmp: Option<&Path>,
    ) -> Self {
        let mut needs = Self::default();
        let (own_tmp, named_tmp) = if tmp::is_put_in_place() { (own_tmp, None) } else { (None, own_tmp) };
        needs.named_tmp = named_tmp.map(real);
        let home = command.variables.get("HOME").map(PathBuf::from);
        let is_wide = |directory: &Path| {
            directory.parent().is_none()
                || home.as_ref().is_some_and(|home| home.starts_with(directory))
                || command.workspace.starts_with(directory)
        };
        for part in judged.verdict.each_part() {
            for (path, access) in &part.paths {
                let real = real(path);
                // A search opens nothing that is hidden, unless a person allowed it to.
                let is_asked = || judged.paths.iter().any(|asked| asked.path == *path);
                let access = match access {
                    Access::Search if is_asked() => &Access::ReadTree { follows_links: false },
                    access => access,
                };
                needs.paths.push((real.clone(), *access));
                if *access == Access::Write
                    && part.program.as_deref().is_some_and(|name| MOVERS.contains(&name))
                {
                    needs.moved.push(real.clone());
                }
                let is_known = ["/dev", "/proc", "/sys"].iter().any(|known| real.starts_with(known))
                    || roots.iter().chain(&needs.named_tmp).any(|root| real.starts_with(root));
                if is_known {
                    continue;
                }
                let rest = TEMPORARY.iter().find_map(|all| real.strip_prefix(all).ok());
                if let Some(rest) = rest {
                    let is_own = own_tmp.is_some_and(|own| own.join(rest).exists()) && !real.exists();
                    needs.is_private |= is_own;
                    needs.is_temporary |= !is_own;
                    if is_own {
                        continue;
                    }
                }
                if *access != Access::Write {
                    needs.visible.insert(real);
                    continue;
                }
                let directory = if real.is_dir() { Some(real.as_path()) } else { real.parent() };
                let directory = directory.map_or_else(|| PathBuf::from("/"), first_there);
                if TEMPORARY.iter().any(|all| directory == Path::new(all)) {
                    continue;
                }
                if is_wide(&directory) {
                    needs.too_wide.push(directory);
                } else {
                    needs.writable.insert(directory);
                }
            }
        }
        // An approval covers either access.
        if !judged.relies_on_sandbox {
            needs.paths.extend(judged.possible.iter().map(|path| (real(path), Access::Write)));
        }
        let is_git = |class: Class| class == Class::GitWrite;
        needs.writes_git = judged
            .verdict
            .each_part()
            .any(|part| is_git(part.class) || part.reasons.iter().any(|reason| is_git(reason.class)));
        if needs.writes_git
            && let Some(repository) = guards::repository(&command.cwd)
        {
            for directory in repository.own.iter().chain([&repository.top]) {
                // The files of a repository are about it, of which the workspace is a part.
                let is_wide = home.as_ref().is_some_and(|home| home.starts_with(directory))
                    || directory.parent().is_none();
                if !is_wide && !roots.iter().any(|root| directory.starts_with(root)) {
                    needs.writable.insert(directory.clone());
                }
            }
            needs.git = repository.own;
        }
        needs
    }

    /// Returns the paths that the command is to create: those it names to write to, and, in the directories that it writes to, the
    /// guarded names that it reads.
    fn named(&self) -> Vec<PathBuf> {
        let is_guarded = |path: &Path| protected_path(path).is_some() || sensitive_path(path).is_some();
        let is_guarded = |path: &Path| is_guarded(path) || is_guarded(&path.join("x"));
        let (writes, reads): (Vec<_>, Vec<_>) =
            self.paths.iter().partition(|(_, access)| *access == Access::Write);
        let moved = reads.iter().chain(&writes).filter(|(path, _)| is_guarded(path));
        let moved: Vec<_> = moved.filter_map(|(path, _)| path.file_name()).collect();
        let directories = writes.iter().filter(|(path, _)| path.is_dir());
        let below = directories.flat_map(|(path, _)| moved.iter().map(move |name| path.join(name)));
        let written = writes.iter().map(|(path, _)| path.clone()).filter(|path| is_guarded(path));
        written.chain(below).collect()
    }

    /// Returns true if the command was asked to change this path or something below it, or to remove or move a directory above it.
    fn is_about(&self, protected: &Path) -> bool {
        let mut writes = self.paths.iter().filter(|(_, access)| *access == Access::Write);
        writes.any(|(path, _)| path.starts_with(protected)) || self.is_moved(protected)
    }

    /// Returns true if the command was asked to remove or move this path, or a directory above it.
    fn is_moved(&self, path: &Path) -> bool {
        self.moved.iter().any(|moved| path.starts_with(moved))
    }

    /// Returns true if git changes this path in the course of its work. Git never changes the hooks that it runs.
    fn is_of_git(&self, protected: &Path) -> bool {
        !self.git.is_empty() && !self.git.iter().any(|git| protected == git.join("hooks"))
    }

    /// Returns true if the command was asked to read this path, something below it, or the tree of a directory above it, or to remove or
    /// move that.
    pub(super) fn is_read(&self, hidden: &Path) -> bool {
        self.is_moved(hidden)
            || self.paths.iter().any(|(path, access)| {
                path.starts_with(hidden)
                    || matches!(access, Access::ReadTree { .. }) && hidden.starts_with(path)
            })
    }
}

/// Resolves the existing part of a path.
fn real(path: &Path) -> PathBuf {
    let there = first_there(path);
    match (there.canonicalize(), path.strip_prefix(&there)) {
        (Ok(real), Ok(rest)) if rest.as_os_str().is_empty() => real,
        (Ok(real), Ok(rest)) => real.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns the path itself, or the first existing directory above it.
fn first_there(path: &Path) -> PathBuf {
    path.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/")).to_owned()
}

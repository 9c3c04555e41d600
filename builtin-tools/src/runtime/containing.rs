//! What a command is kept within.

use super::judged::{Command, Judged};
use crate::config::{ExecNetwork, ExecSandbox, ExecSandboxMode, ExecSettings};
use shell_verdict::Class;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_sandbox::{Mode, Sandbox};

/// Of the workspace, what stays as it is where it is there: it decides what runs, or what is allowed.
const PROTECTED: &[&str] = &[
    "toolkit.json5",
    ".git/hooks",
    ".git/config",
    ".githooks",
    ".husky",
    ".mcp.json",
    ".claude",
    ".codex",
    ".gemini",
    ".opencode",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".envrc",
    ".cargo/config.toml",
    ".cargo/config",
];
/// Of the home directory, what cannot be read.
const HIDDEN: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".git-credentials",
    ".config/gh",
    ".config/git/credentials",
    ".password-store",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".vault-token",
    ".pgpass",
    ".bash_history",
    ".zsh_history",
    ".config/toolkit",
    ".local/share/toolkit",
];

/// More than its usual sandbox, which a person has to be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Network,
    Everything,
}

/// What a command runs in.
#[derive(Debug, Default)]
pub(super) struct Containing {
    pub(super) sandbox: Option<Sandbox>,
    /// In words, for a person.
    pub(super) words: String,
}

/// Whether the sandbox as it is configured contains what commands do, and works whole.
pub(super) fn contains(settings: &ExecSettings) -> bool {
    settings.enable_sandbox
        && settings.sandbox != ExecSandbox::Off
        && settings.sandbox_mode != ExecSandboxMode::Full
        && settings.network == ExecNetwork::Off
        && toolkit_sandbox::probe().is_whole()
}

/// What this command runs in. `is_relied_on` says that nobody was asked about it, since it is contained.
pub(super) fn containing(
    settings: &ExecSettings,
    command: &Command,
    judged: &Judged,
    more: Option<More>,
    is_relied_on: bool,
    session_tmp: Option<&Tmp>,
) -> Containing {
    let without = |words: &str| Containing { sandbox: None, words: words.to_owned() };
    let is_off = !settings.enable_sandbox || settings.sandbox == ExecSandbox::Off;
    if is_off {
        return without("no sandbox");
    }
    if settings.sandbox == ExecSandbox::Auto && judged.is_proved && more.is_none() {
        return without("no sandbox: it was proved to only read");
    }
    if more == Some(More::Everything) {
        return without("no sandbox");
    }
    let speaks = judged.verdict.each_part().any(|part| {
        part.class == Class::Network || part.reasons.iter().any(|reason| reason.class == Class::Network)
    });
    let network =
        settings.network == ExecNetwork::On || more == Some(More::Network) || speaks && !is_relied_on;
    let within = match settings.sandbox_mode {
        ExecSandboxMode::ReadOnly => Mode::ReadOnly,
        ExecSandboxMode::WorkspaceWrite => Mode::WorkspaceWrite,
        ExecSandboxMode::Full => Mode::Full,
    };
    let home = command.variables.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let mut sandbox = Sandbox::new(within, &command.workspace)
        .with_network(network)
        .with_visible(&command.cwd)
        .required(is_relied_on || settings.sandbox == ExecSandbox::Required);
    for directory in &settings.allowed_directories {
        let directory = PathBuf::from(super::environment::from_home(directory, home.as_deref()));
        if directory.is_absolute() {
            sandbox = sandbox.with_writable(directory);
        }
    }
    for name in PROTECTED {
        let path = command.workspace.join(name);
        if path.symlink_metadata().is_ok() {
            sandbox = sandbox.with_protected(path);
        }
    }
    for path in home.iter().flat_map(|home| HIDDEN.iter().map(move |path| home.join(path))) {
        if path.symlink_metadata().is_ok() && !command.workspace.starts_with(&path) {
            sandbox = sandbox.with_hidden(path);
        }
    }
    if let Some(tmp) = session_tmp.and_then(Tmp::directory) {
        sandbox = sandbox.with_tmp(tmp);
    }
    let writes = changes(settings.sandbox_mode);
    let network = if network { "with network" } else { "no network" };
    let is_whole = toolkit_sandbox::probe().is_whole();
    let lacks = if is_whole { "" } else { "; this system cannot hold all of it" };
    Containing { sandbox: Some(sandbox), words: format!("a sandbox: {writes}, {network}{lacks}") }
}

/// What a command can change in this mode, in words.
pub(super) fn changes(mode: ExecSandboxMode) -> &'static str {
    match mode {
        ExecSandboxMode::ReadOnly => "can change no file",
        ExecSandboxMode::WorkspaceWrite => "can change files of the workspace alone",
        ExecSandboxMode::Full => "can change files",
    }
}

/// The directory that the commands of a session see as `/tmp`. It goes with the session.
#[derive(Debug, Default)]
pub(super) struct Tmp(Mutex<Option<PathBuf>>);

impl Tmp {
    fn directory(&self) -> Option<PathBuf> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut directory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if directory.is_none() {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("toolkit-tmp-{since:x}-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            *directory = make(&path).is_ok().then_some(path);
        }
        directory.clone()
    }
}

impl Drop for Tmp {
    fn drop(&mut self) {
        if let Some(directory) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = fs::remove_dir_all(directory);
        }
    }
}

/// Fails where something is there already.
fn make(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

//! Paths of the file system that a contained command can neither write nor read.

use super::masks::Masking;
use shell_verdict::tracked_files;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toolkit::permission::{OwnPaths, may_be_guarded, sensitive_path};

/// The directory of outputs in the toolkit's data directory.
const OUTPUTS: &str = "tool-output";
/// The maximum number of directories with outputs of others that are hidden one by one.
const MAX_OUTPUTS: usize = 100;
/// Existing paths of a workspace that stay protected: they determine what programs run, or what is allowed.
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
/// Paths that are also kept from being created in a command without approval, since they determine what other programs run as soon as they
/// exist. While the command runs, an empty directory is in their place. `toolkit.json5` is not among them, since until it is trusted it
/// can only restrict.
const NEVER_MADE: &[&str] = &[
    ".git",
    ".githooks",
    ".husky",
    ".mcp.json",
    ".claude",
    ".codex",
    ".gemini",
    ".opencode",
    ".vscode",
    ".idea",
    ".zed",
    ".cursor",
    ".windsurf",
    ".devcontainer",
    ".devcontainer.json",
    ".github/workflows",
    ".gitlab-ci.yml",
    ".circleci",
    ".envrc",
    ".mise.toml",
    ".vimrc",
    ".exrc",
    ".nvim.lua",
    ".gdbinit",
    ".cargo/config.toml",
    ".cargo/config",
];
/// Paths of the home directory that cannot be read. The directories of some can be moved by a variable.
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
    ".config/hub",
    ".config/glab-cli",
    ".config/rclone",
    ".config/op",
    ".config/git/credentials",
    ".password-store",
    ".terraform.d",
    ".local/share/keyrings",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".bash_history",
    ".zsh_history",
    // Texts that were copied or typed. If its file can be read but not replaced, vim reports this on exit and waits for a key.
    ".viminfo",
    ".config/toolkit",
];
/// Variables that move a part of the home directory.
const MOVED: &[(&str, &str)] = &[
    (".config", "XDG_CONFIG_HOME"),
    (".local/share", "XDG_DATA_HOME"),
    (".cargo", "CARGO_HOME"),
    (".gnupg", "GNUPGHOME"),
    (".docker", "DOCKER_CONFIG"),
    (".azure", "AZURE_CONFIG_DIR"),
    (".config/gcloud", "CLOUDSDK_CONFIG"),
    (".password-store", "PASSWORD_STORE_DIR"),
    (".codex", "CODEX_HOME"),
    (".claude", "CLAUDE_CONFIG_DIR"),
];
/// Variables that name a file of this kind.
const MOVED_FILES: &[&str] = &[
    "KUBECONFIG",
    "AWS_SHARED_CREDENTIALS_FILE",
    "NPM_CONFIG_USERCONFIG",
    "NETRC",
    "GOOGLE_APPLICATION_CREDENTIALS",
];
/// System files that a contained command cannot read.
const HIDDEN_OF_SYSTEM: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/security/opasswd",
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
    "/etc/NetworkManager/system-connections",
];
/// Returns the paths of writable directories, and of the toolkit, that no contained command can change, beside those whose names or rules
/// say so.
pub(super) fn protected(roots: &[PathBuf], own: &OwnPaths) -> BTreeSet<PathBuf> {
    let named = roots.iter().flat_map(|root| PROTECTED.iter().map(|name| root.join(name)));
    let there = named.filter(|path| path.symlink_metadata().is_ok_and(|found| !found.is_symlink()));
    // A symlink cannot be masked; its target is among the programs, too.
    let programs = own.programs.iter().filter(|path| !path.is_symlink());
    there.chain(own.config.iter().chain(&own.data).chain(programs).cloned()).collect()
}

/// Returns the paths of a writable directory that a command without approval cannot create.
pub(super) fn never_made(root: &Path) -> impl Iterator<Item = PathBuf> {
    NEVER_MADE.iter().map(|name| root.join(name))
}

/// Returns true if none of the paths to protect is a symlink, which could be replaced.
pub(super) fn can_be_kept(root: &Path) -> bool {
    let named = PROTECTED.iter().chain(NEVER_MADE);
    let mut with_parents =
        named.flat_map(|name| Path::new(name).ancestors()).filter(|name| *name != Path::new(""));
    with_parents.all(|name| !root.join(name).is_symlink())
}

/// Returns the paths of a home directory, of the toolkit and of the system that no contained command can read.
pub(super) fn hidden(variables: &BTreeMap<String, String>, own: &OwnPaths) -> BTreeSet<PathBuf> {
    let variable = |name: &str| {
        variables.get(name).map(PathBuf::from).or_else(|| std::env::var_os(name).map(PathBuf::from))
    };
    let absolute = |path: &PathBuf| path.is_absolute();
    let home = variable("HOME").filter(absolute);
    let mut hidden: Vec<PathBuf> = Vec::new();
    for name in HIDDEN {
        hidden.extend(home.iter().map(|home| home.join(name)));
        for (part, moved) in MOVED {
            let Ok(rest) = Path::new(name).strip_prefix(part) else { continue };
            hidden.extend(variable(moved).filter(absolute).map(|to| to.join(rest)));
        }
    }
    hidden.extend(MOVED_FILES.iter().filter_map(|name| variable(name)).filter(absolute));
    hidden.extend(own.config.iter().chain(&own.secrets).cloned());
    for data in &own.data {
        let entries = fs::read_dir(data).into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            // Outputs that were too long are there to be read, by those that they are for.
            match own.outputs.as_ref().filter(|_| entry.file_name() == OUTPUTS) {
                Some(outputs) => hidden.extend(outputs_of_others(&entry.path(), outputs)),
                None => hidden.push(entry.path()),
            }
        }
    }
    hidden.extend(HIDDEN_OF_SYSTEM.iter().map(PathBuf::from));
    let of_home =
        home.iter().flat_map(|home| fs::read_dir(home).into_iter().flatten().filter_map(Result::ok));
    hidden.extend(of_home.map(|entry| entry.path()).filter(|path| sensitive_path(path).is_some()));
    hidden.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// Returns the directories of outputs beside `own`, or the directory of all outputs if there are too many to hide each.
fn outputs_of_others(all: &Path, own: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(all).into_iter().flatten().filter_map(Result::ok);
    // The data directory may be named by another path.
    let is_other = |path: &PathBuf| path.file_name() != own.file_name();
    let others: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(is_other).take(MAX_OUTPUTS + 1).collect();
    if others.len() > MAX_OUTPUTS { vec![all.to_owned()] } else { others }
}

/// Returns true if the repository of a workspace tracks a file with the name of a secret that no rule shows, so that its content is in the
/// repository.
pub(super) fn tracks_secret(workspace: &Path, masking: &Masking) -> bool {
    let tracked = repository(workspace).and_then(|repository| tracked_files(&repository.top));
    let is_secret = |path: &PathBuf| {
        may_be_guarded(path.file_name().unwrap_or_default())
            && sensitive_path(path).is_some()
            && !masking.shows(path)
    };
    tracked.is_some_and(|tracked| tracked.iter().any(is_secret))
}

/// Returns the directories of a workspace's repository with the content of its files.
pub(super) fn objects(workspace: &Path) -> impl Iterator<Item = PathBuf> {
    let own = repository(workspace).map(|repository| repository.own).unwrap_or_default();
    own.into_iter().map(|own| own.join("objects")).filter(|objects| objects.is_dir())
}

/// A git repository: the directories that git writes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// Root of the work tree.
    pub(super) top: PathBuf,
    /// Directories of the repository's own data.
    pub(super) own: Vec<PathBuf>,
}

/// Returns the directories of the data of the repository that contains the workspace, if they are certain: the workspace is its work tree,
/// a linked work tree, a submodule, or a directory in one of these. Empty if they are uncertain, or if the repository also contains the
/// home directory.
pub(super) fn repository_of_workspace(workspace: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Some(top) = workspace.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()) else {
        return Vec::new();
    };
    let holds_home = home.is_some_and(|home| {
        home.starts_with(top) || home.canonicalize().is_ok_and(|home| home.starts_with(top))
    });
    if top.parent().is_none() || holds_home && top != workspace {
        return Vec::new();
    }
    let git = top.join(".git");
    if git.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return vec![git];
    }
    // A file can name any repository, which has to name this work tree in turn.
    match repository(workspace) {
        Some(repository) if names_work_tree(&repository.own, top) => repository.own,
        _ => Vec::new(),
    }
}

/// Returns true if the first directory of a repository's data names the work tree at `top`.
fn names_work_tree(own: &[PathBuf], top: &Path) -> bool {
    let Some(git_dir) = own.first() else { return false };
    let leads_to = |path: PathBuf, to: &Path| {
        path.canonicalize().is_ok_and(|path| to.canonicalize().is_ok_and(|to| path == to))
    };
    // A linked work tree is named by its file, a submodule by its directory.
    let linked = fs::read_to_string(git_dir.join("gitdir")).ok();
    if linked.is_some_and(|named| leads_to(git_dir.join(named.trim_end()), &top.join(".git"))) {
        return true;
    }
    let configuration = fs::read_to_string(git_dir.join("config")).unwrap_or_default();
    configuration.lines().any(|line| {
        let value = line.trim().strip_prefix("worktree").map(str::trim_start);
        let value = value.and_then(|value| value.strip_prefix('=')).map(str::trim);
        value.is_some_and(|value| leads_to(git_dir.join(value), top))
    })
}

/// The repository that a directory is in.
pub(super) fn repository(directory: &Path) -> Option<Repository> {
    let top = directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let git = top.join(".git");
    if git.is_dir() {
        return Some(Repository { top: top.to_owned(), own: vec![git.canonicalize().ok()?] });
    }
    let text = fs::read_to_string(&git).ok()?;
    let own = top.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = fs::read_to_string(own.join("commondir")).ok();
    let common = common.and_then(|common| own.join(common.trim()).canonicalize().ok());
    Some(Repository { top: top.to_owned(), own: std::iter::once(own).chain(common).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_of_others_are_hidden() {
        let data = tempfile::tempdir().unwrap();
        let path = |name: &str| data.path().join(name);
        for name in ["history", "tool-output/own", "tool-output/other"] {
            fs::create_dir_all(path(name)).unwrap();
        }
        let mut own = OwnPaths::default();
        own.data = vec![data.path().to_owned()];
        let hidden = |own: &OwnPaths| {
            let all = hidden(&BTreeMap::new(), own).into_iter();
            all.filter(|path| path.starts_with(data.path())).collect::<BTreeSet<_>>()
        };
        assert_eq!(hidden(&own), BTreeSet::from([path("history"), path("tool-output")]));
        own.outputs = Some(path("tool-output/own"));
        assert_eq!(hidden(&own), BTreeSet::from([path("history"), path("tool-output/other")]));
        for number in 0..MAX_OUTPUTS {
            fs::create_dir(path("tool-output").join(number.to_string())).unwrap();
        }
        assert_eq!(hidden(&own), BTreeSet::from([path("history"), path("tool-output")]));
    }
}

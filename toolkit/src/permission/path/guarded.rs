//! Paths that need approval regardless of other permissions.

mod index;
mod suspects;

use crate::permission::matching::matches;
use index::Index;
use std::ffi::OsStr;
use std::path::{Component, Path};
use std::sync::LazyLock;
use suspects::Suspects;

/// Paths that need approval regardless of other permissions, with a reason.
///
/// A pattern matches the last components of a path, or with a `/` at its end a directory with all its contents,
/// anywhere; a `/` at its beginning anchors it at the root. `*` matches any text within one component. Case is ignored,
/// because some file systems ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardedPaths {
    /// Their content or function, as the end of "it may hold …" or "it is …".
    pub what: &'static str,
    /// Their patterns.
    pub patterns: &'static [&'static str],
}

/// Returns paths whose reading and writing needs approval anywhere, because they hold secrets.
pub fn sensitive_paths() -> &'static [GuardedPaths] {
    SENSITIVE
}

/// Returns paths whose writing needs approval even if edits are allowed: their content is executed, or decides what is
/// executed.
///
/// Files that a build runs anyway, such as a `Makefile`, a `build.rs`, or the scripts of a `package.json`, are not
/// included: they are source code like everything that they build, and an edit of them needs the same approval as any
/// other edit.
pub fn protected_paths() -> &'static [GuardedPaths] {
    PROTECTED
}

/// Returns what the path holds, as the end of "it may hold …", if its name is that of a [sensitive](sensitive_paths)
/// path.
pub fn sensitive_path(path: impl AsRef<Path>) -> Option<&'static str> {
    sensitive(path.as_ref())
}

/// Returns what the path is, as the end of "it is …", if its name is that of a [protected](protected_paths) path.
pub fn protected_path(path: impl AsRef<Path>) -> Option<&'static str> {
    protected(path.as_ref())
}

/// Returns names of files that are meant to be read, although they look like files with secrets of an environment or an
/// application: `.env.example`. The syntax is that of [`GuardedPaths::patterns`].
pub fn harmless_paths() -> &'static [&'static str] {
    HARMLESS
}

macro_rules! guarded {
    ($($what:literal: [$($pattern:literal),* $(,)?],)*) => {
        &[$(GuardedPaths { what: $what, patterns: &[$($pattern),*] }),*]
    };
}

const SENSITIVE: &[GuardedPaths] = guarded! {
    "private keys": [
        ".ssh/", ".gnupg/", "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss",
        "ssh_host_*_key", "*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.jks", "*.keystore",
        "*.keytab", "/etc/ssl/private/", "/etc/wireguard/", ".config/sops/age/",
    ],
    "secrets of an environment": [
        ".env", ".env.*", "*.env", ".env~", "*.env~", ".envrc", ".envrc~", ".dev.vars", ".dev.vars.*", ".renviron",
        "renviron.site",
    ],
    "credentials of a cloud": [
        ".aws/", ".azure/", ".config/gcloud/", ".gcloud/", "gcloud/credentials.db", "gcloud/access_tokens.db", ".oci/", ".config/doctl/", ".bluemix/", ".aliyun/",
        ".config/hcloud/", ".config/linode-cli", ".s3cfg", ".boto", ".config/rclone/", "rclone.conf", ".vault-token",
        ".terraform.d/", ".terraformrc", "*.tfstate", "*.tfstate.backup", "*.tfvars", "client_secret*.json",
        ".streamlit/secrets.toml", ".config/heroku/", ".fly/", ".netlify/",
        ".kube/", "kubeconfig", "*.kubeconfig", "service-account*.json", "service_account*.json",
        "serviceaccountkey*.json", "*firebase-adminsdk*.json", "application_default_credentials.json",
        ".databrickscfg", ".snowsql/", ".config/ngrok/", ".ngrok2/", ".cloudflared/", ".config/.wrangler/",
        ".config/stripe/", ".railway/config.json", ".kaggle/", "kaggle.json", ".cache/huggingface/token",
        ".huggingface/token",
    ],
    "credentials of a registry or a server": [
        ".docker/config.json", ".docker/contexts/", ".dockercfg", ".config/containers/auth.json", ".netrc", "_netrc",
        ".npmrc", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".composer/auth.json",
        ".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".nuget/nuget.config",
        ".git-credentials", ".config/git/credentials", ".config/gh/", ".config/hub", ".config/glab-cli/", ".pgpass",
        "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".htpasswd", ".smbcredentials",
    ],
    "credentials of an agent or an editor": [
        ".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json",
        ".local/share/opencode/auth.json", ".config/github-copilot/",
    ],
    "stored passwords": [
        ".password-store/", ".local/share/keyrings/", ".gnome2/keyrings/", ".local/share/kwalletd/", "*.kdbx", "*.kdb",
        "*.keychain", "*.keychain-db", "library/keychains/", ".config/bitwarden/", ".config/bitwarden cli/",
        ".config/1password/", ".config/op/", ".config/keepassxc/", "appdata/roaming/microsoft/credentials/",
        "appdata/local/microsoft/credentials/", "/etc/networkmanager/system-connections/", "/etc/wpa_supplicant/",
    ],
    "a browser's or mail program's profile": [
        ".mozilla/", ".thunderbird/", ".config/google-chrome/", ".config/google-chrome-*/", ".config/chromium/",
        ".config/bravesoftware/", ".config/microsoft-edge/", ".config/microsoft-edge-*/", ".config/vivaldi/",
        ".config/opera/", ".librewolf/", ".waterfox/", "snap/firefox/", "snap/chromium/",
        ".var/app/org.mozilla.firefox/", ".var/app/com.google.chrome/", ".var/app/org.chromium.chromium/",
        "library/application support/google/chrome/", "library/application support/firefox/",
        "library/application support/chromium/", "library/application support/bravesoftware/",
        "library/application support/microsoft edge/", "library/safari/", "library/cookies/", "library/mail/",
        "library/messages/", "appdata/local/google/chrome/", "appdata/local/microsoft/edge/",
        "appdata/local/chromium/", "appdata/local/bravesoftware/", "appdata/roaming/mozilla/",
    ],
    "a history of what was typed": [
        ".*_history", ".zhistory", ".histfile", ".history", "fish_history", ".lesshst", ".viminfo",
        "consolehost_history.txt",
    ],
    "secrets of the system": [
        "/run/secrets/", "/var/run/secrets/",
        "/etc/shadow*", "/etc/gshadow*", "/etc/security/opasswd", "/etc/sudoers", "/etc/sudoers.d/", "/etc/krb5.conf.d/",
        "/proc/*/environ", "/proc/*/mem", "/proc/*/maps", "/proc/*/cmdline", "/proc/*/auxv", "/proc/*/stack",
        "/proc/*/root/", "/proc/*/cwd/", "/proc/*/fd/", "/proc/*/fdinfo/", "/proc/*/task/", "/proc/*/map_files/",
        "/proc/kcore", "/proc/keys", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/fd/",
    ],
    "secrets of an application": [
        "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml", ".secrets/", ".secrets.json", ".secrets.yml",
        ".secrets.yaml", ".secrets.toml", "credentials.json", "credentials.yml", "credentials.yaml",
        ".credentials", ".erlang.cookie", ".credentials.json", "auth.json", "local.settings.json", ".vault_pass", ".vault_pass.txt",
        ".vault-pass", ".vault_password", ".ansible_vault_pass", "vault_pass.txt", "wp-config.php", "wp-config.php~",
        "wp-config.php.bak", "wp-config.php.old", "wp-config.php.save", ".wp-config.php.swp",
        "wp-config-local.php", "sites/*/settings.php", "sites/*/settings.local.php", "app/etc/env.php",
        "config/app_local.php",
    ],
};

/// The families of which some names are [harmless](HARMLESS).
const WITH_HARMLESS: [&str; 2] = ["secrets of an environment", "secrets of an application"];

/// Names that look like files with secrets of an environment or an application, but are meant to be read: examples, and translations of a
/// page to sign in.
const HARMLESS: &[&str] = &[
    "*.env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    ".env.schema",
    ".dev.vars.example",
    ".dev.vars.sample",
    ".dev.vars.template",
    "i18n/auth.json",
    "i18n/*/auth.json",
    "lang/*/auth.json",
    "locale/*/auth.json",
    "locales/*/auth.json",
    "messages/*/auth.json",
    "translations/*/auth.json",
];

const PRIVATE_KEYS: &str = "private keys";

/// Files named like private keys that hold certificates of public authorities, which programs need for encrypted connections.
const PUBLIC_KEYS: &[&str] = &["certifi/cacert.pem"];

const PROTECTED: &[GuardedPaths] = guarded! {
    // A directory with a `HEAD` is probably a bare repository, and git obeys its configuration.
    "part of a version control system's own files": [
        ".git/", "head", "commondir", "gitdir", ".gitconfig", ".config/git/", ".gitmodules", ".githooks/", ".hg/",
        ".hgrc", ".svn/", ".jj/", ".bzr/", "_darcs/", ".fossil-settings/", ".husky/", ".pre-commit-config.yaml",
        ".pre-commit-config.yml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook/", ".lefthook-local/",
        ".overcommit.yml", "/etc/gitconfig",
    ],
    "configuration of this toolkit": ["toolkit.json5", ".config/toolkit/"],
    "configuration of an agent": [
        ".mcp.json", ".claude.json", ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks/",
        ".claude/commands/", ".claude/agents/", ".codex/", ".gemini/", ".opencode/", "opencode.json", "opencode.jsonc",
        ".roo/mcp.json", ".roomodes", ".kilocode/mcp.json", ".kilocodemodes", ".continue/config.yaml",
        ".continue/config.yml", ".continue/config.json", ".continue/config.ts", ".continue/mcpservers/",
        "cline_mcp_settings.json", "mcp_settings.json", "mcp_config.json", "claude_desktop_config.json",
        ".amazonq/mcp.json", ".amazonq/cli-agents/", ".kiro/settings/", ".kiro/hooks/", ".qwen/", ".factory/mcp.json",
        ".junie/mcp/", ".trae/mcp.json", ".copilot/mcp-config.json", ".lmstudio/mcp.json", ".aider.conf.yml",
        ".config/goose/", ".crush.json", "crush.json", ".openhands/setup.sh", ".openhands/pre-commit.sh",
    ],
    "run when a shell, a terminal or a session starts": [
        ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
        ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
        ".config/fish/", ".config/nushell/", ".config/powershell/", "microsoft.powershell_profile.ps1", "profile.ps1",
        ".tmux.conf", ".config/tmux/", ".screenrc", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc",
        ".pam_environment", ".config/environment.d/", ".config/autostart/", ".config/systemd/", "library/launchagents/",
        "/etc/profile", "/etc/profile.d/", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zsh/", "/etc/zshrc",
        "/etc/environment", "/etc/crontab", "/etc/cron.*/", "/var/spool/cron/", "/etc/systemd/", "/etc/init.d/",
        "/etc/ld.so.preload", "/etc/ld.so.conf.d/", ".direnvrc", ".config/direnv/",
    ],
    "run when an interpreter or its prompt starts": [
        ".rprofile", "rprofile.site", ".irbrc", ".config/irb/", ".pryrc", ".config/pry/", ".pythonrc", ".pythonrc.py",
        ".pythonstartup", "sitecustomize.py", "usercustomize.py", ".pdbrc", ".pdbrc.py", ".ipython/", ".jupyter/",
        ".ghci", ".ocamlinit", ".iex.exs", ".erlang", ".sbclrc", ".octaverc", ".julia/config/", ".guile", ".perldb",
        ".psqlrc", ".sqliterc", ".xonshrc", ".config/xonsh/",
    ],
    "configuration with which an editor runs commands": [
        ".vscode/", ".vscode-server/", ".idea/", ".fleet/", ".zed/", ".cursor/", ".windsurf/", ".devcontainer/",
        ".devcontainer.json", "*.code-workspace", "*.sublime-project", ".vim/", ".vimrc", ".gvimrc", ".exrc", ".nvimrc",
        ".nvim.lua", ".config/nvim/", ".config/vim/", ".emacs", ".emacs.d/", ".config/emacs/", ".dir-locals.el",
        ".config/helix/", ".helix/", ".gdbinit", ".config/gdb/", ".lldbinit",
    ],
    "configuration with which a continuous integration runs commands": [
        ".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab/ci/", ".circleci/",
        ".travis.yml", "azure-pipelines.yml", "azure-pipelines.yaml", ".azure-pipelines/", "jenkinsfile",
        ".drone.yml", ".drone.star", ".woodpecker.yml", ".woodpecker.yaml", ".woodpecker/", ".buildkite/",
        "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml", ".cirrus.yml", ".cirrus.star",
        ".forgejo/workflows/", ".gitea/workflows/", ".teamcity/", ".tekton/", ".builds/", ".build.yml",
        "cloudbuild.yaml", "cloudbuild.yml",
    ],
    "configuration with which a package manager runs commands": [
        ".cargo/config", ".cargo/config.toml", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "pip.conf", ".mise.toml",
        "mise.toml", ".config/mise/",
    ],
};

/// Returns what sensitive paths of this name hold, if it is one.
pub(super) fn sensitive(path: &Path) -> Option<&'static str> {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(SENSITIVE));
    let parts = parts(path);
    let mut found = INDEX.first(&parts, |_| true)?;
    if WITH_HARMLESS.contains(&found.what) && HARMLESS.iter().any(|pattern| describes(pattern, &parts)) {
        found = INDEX.first(&parts, |guarded| !WITH_HARMLESS.contains(&guarded.what))?;
    }
    // A directory of keys is one whatever a file in it is called.
    let is_in_directory = || INDEX.first(&parts[..parts.len() - 1], |_| true).is_some();
    if found.what == PRIVATE_KEYS
        && PUBLIC_KEYS.iter().any(|pattern| describes(pattern, &parts))
        && !is_in_directory()
    {
        return None;
    }
    Some(found.what)
}

/// Returns true if a component of a path can be the last one of a sensitive path. A path without such a component is
/// not sensitive; a path with one need not be.
pub(crate) fn is_suspect(part: &OsStr) -> bool {
    static SUSPECTS: LazyLock<Suspects> = LazyLock::new(|| Suspects::new(SENSITIVE.iter()));
    SUSPECTS.hold(part)
}

/// Returns true if a [sensitive](sensitive_paths) or [protected](protected_paths) path can end with this name: a quick
/// check for walks through many files, before [`sensitive_path`] and [`protected_path`] decide about the whole path.
pub fn may_be_guarded(name: impl AsRef<OsStr>) -> bool {
    static SUSPECTS: LazyLock<Suspects> = LazyLock::new(|| Suspects::new(SENSITIVE.iter().chain(PROTECTED)));
    SUSPECTS.hold(name.as_ref())
}

/// Returns what protected paths of this name are, if it is one.
pub(super) fn protected(path: &Path) -> Option<&'static str> {
    static INDEX: LazyLock<Index> = LazyLock::new(|| Index::new(PROTECTED));
    INDEX.first(&parts(path), |_| true).map(|guarded| guarded.what)
}

/// Returns the components of a path in the form used for comparison.
fn parts(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    });
    // Windows treats `.git.`, `.git ` and `.git::$INDEX_ALLOCATION` like `.git`.
    if cfg!(windows) {
        let bare =
            |name: String| name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_owned();
        return names.map(bare).collect();
    }
    names.collect()
}

fn describes(pattern: &str, parts: &[String]) -> bool {
    let wanted = pattern.trim_matches('/');
    let count = wanted.split('/').count();
    let fits = |at: &[String]| wanted.split('/').zip(at).all(|(wanted, part)| matches(wanted, part));
    match (pattern.starts_with('/'), pattern.ends_with('/')) {
        (true, true) => parts.len() >= count && fits(parts),
        (true, false) => parts.len() == count && fits(parts),
        (false, true) => parts.windows(count).any(fits),
        (false, false) => parts.len().checked_sub(count).is_some_and(|start| fits(&parts[start..])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_written_as_they_are_compared() {
        let patterns = SENSITIVE.iter().chain(PROTECTED).flat_map(|guarded| guarded.patterns).chain(HARMLESS);
        for pattern in patterns {
            assert_eq!(*pattern, pattern.to_lowercase());
            assert!(!pattern.trim_matches('/').is_empty() && !pattern.contains("//"), "{pattern}");
        }
    }

    #[test]
    fn each_pattern_describes_its_own_example() {
        for (all, find) in [(SENSITIVE, sensitive as fn(&Path) -> _), (PROTECTED, protected)] {
            for guarded in all {
                for pattern in guarded.patterns {
                    let example = pattern.replace('*', "x");
                    let example = example.trim_end_matches('/');
                    let beyond = if pattern.starts_with('/') { "" } else { "/w/" };
                    let path = format!("{beyond}{example}");
                    assert!(find(Path::new(&path)).is_some(), "{path}");
                    let upper = path.to_uppercase();
                    assert!(find(Path::new(&upper)).is_some(), "{upper}");
                    let below = format!("{path}/below");
                    assert_eq!(
                        find(Path::new(&below)).is_some_and(|what| what == guarded.what),
                        pattern.ends_with('/'),
                        "{below}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_index_finds_what_a_look_at_each_pattern_finds() {
        let slow = |all: &'static [GuardedPaths], path: &str| {
            let parts = parts(Path::new(path));
            let is_harmless = HARMLESS.iter().any(|pattern| describes(pattern, &parts));
            let fits =
                |guarded: &&GuardedPaths| guarded.patterns.iter().any(|pattern| describes(pattern, &parts));
            let mut found = all.iter().filter(fits);
            found
                .find(|guarded| !WITH_HARMLESS.contains(&guarded.what) || !is_harmless)
                .map(|guarded| guarded.what)
        };
        let patterns = SENSITIVE.iter().chain(PROTECTED).flat_map(|guarded| guarded.patterns).chain(HARMLESS);
        let names: Vec<String> =
            patterns.map(|pattern| pattern.replace('*', "x").trim_matches('/').to_owned()).collect();
        for (index, one) in names.iter().enumerate() {
            for other in names.iter().skip(index % 29).step_by(29) {
                for path in [format!("/{one}"), format!("/w/{one}/{other}"), format!("/{one}/x/{other}/y")] {
                    assert_eq!(sensitive(Path::new(&path)), slow(SENSITIVE, &path), "{path}");
                    assert_eq!(protected(Path::new(&path)), slow(PROTECTED, &path), "{path}");
                }
            }
        }
    }

    #[test]
    fn which_are_sensitive() {
        for path in [
            "/w/.env",
            "/w/.env.local",
            "/w/.ENV.Production",
            "/w/prod.env",
            "/w/a/.envrc",
            "/home/u/.ssh",
            "/home/u/.ssh/config",
            "/w/deploy.pem",
            "/w/cacert.pem",
            "/home/u/.ssh/certifi/cacert.pem",
            "/w/server.key",
            "/home/u/.bash_history",
            "/etc/shadow",
            "/etc/shadow-",
            "/proc/self/environ",
            "/proc/1/task/2/environ",
            "/proc/self/root/etc/passwd",
            "/proc/self/fd/3",
            "/home/u/.docker/config.json",
            "/w/terraform.tfstate",
            "/w/.dev.vars",
            "/w/.dev.vars.production",
            "/w/group_vars/.vault_pass",
            "/w/.Renviron",
            "/w/secrets.json",
            "/w/config/secrets.yml",
            "/w/credentials.json",
            "/w/auth.json",
            "/w/config/auth.json",
            "/w/wp-config.php",
            "/w/wp-config.php.bak",
            "/w/.env~",
            "/w/prod.env~",
            "/w/gcloud/credentials.db",
            "/w/web/sites/default/settings.php",
            "/w/project-firebase-adminsdk-1a2b3.json",
        ] {
            assert!(sensitive(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "/w/.venv/lib/certifi/cacert.pem",
            "/w/.env.example",
            "/w/.env.sample",
            "/w/prod.env.example",
            "/w/environment.rs",
            "/w/env",
            "/w/.environment",
            "/w/src/main.rs",
            "/w/id_rsa.pub",
            "/w/keys.rs",
            "/w/.docker/Dockerfile",
            "/home/u/shadow",
            "/w/etc/shadow",
            "/proc/cpuinfo",
            "/proc/self/status",
            "/w/history.md",
            "/w/.sshd",
            "/w/.dev.vars.example",
            "/w/secrets.json.example",
            "/w/secrets.example.json",
            "/w/wp-config-sample.php",
            "/w/wp-config.php.dist",
            "/w/src/secrets.rs",
            "/w/src/credentials.py",
            "/w/auth.ts",
            "/w/oauth.json",
            "/w/public/locales/en/auth.json",
            "/w/src/i18n/auth.json",
            "/w/lang/de/auth.json",
            "/w/settings.php",
            "/w/docs/secrets",
        ] {
            assert_eq!(sensitive(Path::new(path)), None, "{path}");
        }
        // A file in a directory of secrets is not harmless because of its name.
        assert!(sensitive(Path::new("/home/u/.ssh/.env.example")).is_some());
        assert!(sensitive(Path::new("/home/u/.kube/locales/en/auth.json")).is_some());
    }

    #[test]
    fn every_sensitive_path_has_a_suspect_part() {
        for guarded in SENSITIVE {
            for pattern in guarded.patterns {
                for (fill, below) in [("x", ""), ("", "/below"), ("Ä", "/and/below")] {
                    let path = format!("/w/{}{below}", pattern.replace('*', fill).trim_matches('/'));
                    for path in [path.to_uppercase(), path] {
                        let has_suspect =
                            Path::new(&path).components().any(|part| is_suspect(part.as_os_str()));
                        assert!(has_suspect, "{path}");
                    }
                }
            }
        }
        assert!(
            !["src", "lib.rs", "Cargo.toml", "größe", "README.md"]
                .iter()
                .any(|part| is_suspect(OsStr::new(part)))
        );
    }

    #[test]
    fn every_guarded_path_ends_with_a_name_that_may_be_guarded() {
        for pattern in SENSITIVE.iter().chain(PROTECTED).flat_map(|guarded| guarded.patterns) {
            for fill in ["x", "", "Ä"] {
                let path = pattern.replace('*', fill);
                for path in [path.to_uppercase(), path] {
                    assert!(may_be_guarded(Path::new(&path).file_name().unwrap()), "{path}");
                }
            }
        }
        for name in ["src", "lib.rs", "Cargo.toml", "größe", "README.md", "", "x.json", "k"] {
            assert!(!may_be_guarded(name), "{name}");
        }
    }

    #[test]
    fn which_are_protected() {
        for path in [
            "/w/.git",
            "/w/.git/config",
            "/w/sub/.GIT/hooks/pre-commit",
            "/w/HEAD",
            "/w/toolkit.json5",
            "/home/u/.bashrc",
            "/w/.vscode/settings.json",
            "/w/.github/workflows/ci.yml",
            "/w/.gitlab-ci.yml",
            "/w/.husky/pre-push",
            "/w/.cargo/config.toml",
            "/w/Jenkinsfile",
            "/etc/cron.d/x",
            "/w/.roo/mcp.json",
            "/w/.kilocode/mcp.json",
            "/w/.continue/config.yaml",
            "/w/.continue/mcpServers/new.yaml",
            "/w/.Rprofile",
            "/w/.irbrc",
            "/w/.pryrc",
            "/w/lib/sitecustomize.py",
            "/w/.ghci",
        ] {
            assert!(protected(Path::new(path)).is_some(), "{path}");
        }
        for path in [
            "/w/.gitignore",
            "/w/.gitattributes",
            "/w/.github/CODEOWNERS",
            "/w/Makefile",
            "/w/build.rs",
            "/w/package.json",
            "/w/Cargo.toml",
            "/w/src/head.rs",
            "/w/git/config",
            "/w/workflows/ci.yml",
            "/w/.roo/rules/style.md",
            "/w/.continue/rules/style.md",
            "/w/mcp.json",
            "/w/src/irbrc.rb",
            "/w/customize.py",
        ] {
            assert_eq!(protected(Path::new(path)), None, "{path}");
        }
    }
}

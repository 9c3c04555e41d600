//! The environment of a command: the listed variables of the host, and no others.

use crate::config::ExecSettings;
use shell_verdict::has_assumed_shape;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toolkit::{ToolError, ToolErrorKind, text::escape_line};

/// Variables that a command inherits from the host, by name.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "SHELL",
    "COLORTERM",
    "NO_COLOR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "NVM_DIR",
    "PNPM_HOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYENV_ROOT",
    "HOSTNAME",
    "CI",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];
/// Proxy variables that a command also inherits. One that contains a name and a password is left out.
const PROXIES: &[&str] = &[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "GOPROXY",
];
/// The same, by how the name begins.
const INHERITED_PREFIXES: &[&str] = &["LC_", "XDG_"];
/// Variables that a command never gets: a shell or a loader would run or load their values.
const NEVER: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_XTRACEFD",
    "PS4",
    "IFS",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "GLIBC_TUNABLES",
    "MALLOC_TRACE",
    "RES_OPTIONS",
    "HOSTALIASES",
];
/// Variables in which a shell records its directory: another name for the directory would make `cd ..` lead elsewhere.
const IS_OF_SHELL: &[&str] = &["PWD", "OLDPWD"];
const NEVER_PREFIXES: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_"];
/// Parts of the names of variables whose values are secrets.
const SECRET: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "COOKIE",
    "PRIVATE",
    "AUTH",
    "SESSION_ID",
];
/// Variables that may be set for a command without approval, by name.
const LISTED: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "CI",
    "DEBUG",
    "VERBOSE",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
];
/// The longest value that is set without a question, in bytes.
const LONGEST_LISTED: usize = 200;

/// The environment of a command.
#[derive(Debug, Clone, Default)]
pub(super) struct Environment {
    /// All variables.
    pub(super) variables: BTreeMap<String, String>,
    /// Variables set by the model that need approval.
    pub(super) asked: Vec<String>,
}

/// Creates the environment from the host's variables and the model's.
///
/// # Errors
///
/// `InvalidArguments` for an invalid variable, `Denied` for one that is never set.
pub(super) fn environment(
    host: impl Iterator<Item = (String, String)>,
    settings: &ExecSettings,
    workspace: &Path,
    on_terminal: bool,
    wanted: &BTreeMap<String, String>,
) -> Result<Environment, ToolError> {
    let is_wanted = |name: &String| settings.inherit_env.contains(name) && !is_never(name);
    let mut variables: BTreeMap<String, String> = host
        .filter(|(name, value)| is_wanted(name) || is_inherited(name, value))
        .filter(|(name, value)| !value.contains('\0') && is_usable(name, value))
        .collect();
    let own = variables.get("PATH").cloned().unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    let home = variables.get("HOME").map(PathBuf::from);
    let path: Vec<String> = settings
        .path_prepend
        .iter()
        .map(|directory| in_workspace(from_home(directory, home.as_deref()), workspace))
        .chain([own])
        .collect();
    variables.insert("PATH".to_owned(), path.join(":"));
    variables.insert("TERM".to_owned(), if on_terminal { "xterm-256color" } else { "dumb" }.to_owned());
    let mut asked = Vec::new();
    for (name, value) in wanted {
        check(name, value)?;
        if !is_listed(name, value) {
            asked.push(name.clone());
        }
        variables.insert(name.clone(), value.clone());
    }
    Ok(Environment { variables, asked })
}

/// Returns a configured directory as it is from everywhere: a relative one is of the workspace.
fn in_workspace(directory: String, workspace: &Path) -> String {
    if directory.is_empty() || Path::new(&directory).is_absolute() {
        return directory;
    }
    workspace.join(directory).to_string_lossy().into_owned()
}

/// Returns a directory that may begin with `~` or `$HOME`, as patterns for paths may.
pub(super) fn from_home(directory: &str, home: Option<&Path>) -> String {
    let below = ["~", "$HOME", "${HOME}"].into_iter().find_map(|prefix| {
        directory.strip_prefix(prefix).filter(|below| below.is_empty() || below.starts_with('/'))
    });
    match (below, home) {
        (Some(below), Some(home)) => format!("{}{below}", home.display()),
        _ => directory.to_owned(),
    }
}

fn is_inherited(name: &str, value: &str) -> bool {
    if PROXIES.contains(&name) {
        return !value.contains('@');
    }
    let is_on_list =
        INHERITED.contains(&name) || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    is_on_list && !is_never(name) && !looks_secret(name)
}

/// Returns true if a variable of the host is consistent with the verdict on commands. The locale is the user's choice: commands for which
/// it matters need approval.
fn is_usable(name: &str, value: &str) -> bool {
    let is_locale = name.starts_with("LC_") || name == "LANG";
    !IS_OF_SHELL.contains(&name) && (is_locale || has_assumed_shape(name, value))
}

fn is_never(name: &str) -> bool {
    NEVER.contains(&name) || NEVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn looks_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET.iter().any(|part| name.contains(part))
}

fn is_listed(name: &str, value: &str) -> bool {
    let is_known = LISTED.contains(&name) || name.starts_with("LC_");
    // A value with a path would name a file that programs read.
    let is_harmless = !value.contains(['/', '%']) && !value.chars().any(char::is_control);
    is_known
        && is_harmless
        && has_assumed_shape(name, value)
        && value.len() <= LONGEST_LISTED
        && (name != "TZ" || !value.contains(':'))
}

fn check(name: &str, value: &str) -> Result<(), ToolError> {
    let wrong = |problem: String| Err(ToolError::new(ToolErrorKind::InvalidArguments, problem));
    let shown = escape_line(name);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if is_never(name) {
        return Err(ToolError::denied(format!(
            "the variable {shown} cannot be set for a command: a shell or the dynamic loader would run or load its value; omit it"
        )));
    }
    if !is_name {
        return wrong(format!(
            "`{shown}` is not a valid variable name: it has letters, digits and `_` alone, and no digit first"
        ));
    }
    if value.contains('\0') {
        return wrong(format!("the value of {shown} contains a NUL character; remove it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit::config::Configuration;

    fn settings(path_prepend: &[&str], inherit_env: &[&str]) -> ExecSettings {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ExecSettings { path_prepend: own(path_prepend), inherit_env: own(inherit_env), ..none() }
    }

    fn none() -> ExecSettings {
        Configuration::default().section("tools.exec").unwrap()
    }

    fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn nothing_comes_from_the_host_but_what_is_listed() {
        let host = pairs(&[
            ("PATH", "/bin"),
            ("HOME", "/home/ada"),
            ("LC_ALL", "C"),
            ("LC_TOKEN", "x"),
            ("XDG_SECRET_KEY", "x"),
            ("XDG_CONFIG_HOME", "/c"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("LD_PRELOAD", "x"),
            ("BASH_ENV", "x"),
            ("BASH_FUNC_ls%%", "() { id; }"),
            ("PROMPT_COMMAND", "id"),
            ("GIT_SSH_COMMAND", "id"),
            ("EDITOR", "vi"),
            ("OWN_TOKEN", "x"),
            ("HTTPS_PROXY", "http://proxy:3128"),
            ("http_proxy", "http://ada:secret@proxy:3128"),
            ("ALL_PROXY", "ada:secret@proxy"),
            ("NO_PROXY", "localhost,.example.org"),
            ("GOPROXY", "https://ada:secret@go.example.org,direct"),
            ("SSL_CERT_FILE", "/etc/ca.pem"),
        ]);
        let settings =
            settings(&["~/bin"], &["OWN_TOKEN", "LD_PRELOAD", "BASH_ENV", "BASH_FUNC_ls%%", "NOT_THERE"]);
        let env = environment(host.into_iter(), &settings, Path::new("/w"), false, &BTreeMap::new()).unwrap();
        assert_eq!(
            env.variables,
            pairs(&[
                ("PATH", "/home/ada/bin:/bin"),
                ("HOME", "/home/ada"),
                ("LC_ALL", "C"),
                ("XDG_CONFIG_HOME", "/c"),
                ("TERM", "dumb"),
                ("OWN_TOKEN", "x"),
                ("HTTPS_PROXY", "http://proxy:3128"),
                ("NO_PROXY", "localhost,.example.org"),
                ("SSL_CERT_FILE", "/etc/ca.pem"),
            ])
        );
        let env = environment(std::iter::empty(), &none(), Path::new("/w"), true, &BTreeMap::new()).unwrap();
        assert_eq!(env.variables["TERM"], "xterm-256color");
        assert_eq!(env.variables["PATH"], "/usr/local/bin:/usr/bin:/bin");
    }

    #[test]
    fn a_variable_of_the_host_that_is_not_as_commands_are_judged_by_it_is_left_out() {
        let host = [
            ("COLUMNS", "a[$(id)]", false),
            ("COLUMNS", "80", true),
            ("LINES", "x", false),
            ("UID", "a[$(id)]", false),
            ("SECONDS", "a[$(id)]", false),
            ("HOME", "home", false),
            ("HOME", "/home/ada", true),
            ("XDG_CONFIG_HOME", "conf", false),
            ("XDG_CONFIG_HOME", "/conf", true),
            ("PWD", "/elsewhere", false),
            ("OLDPWD", "/elsewhere", false),
            ("LANG", "ja_JP.SJIS", true),
            ("OTHER", "a[$(id)]", true),
        ];
        for (name, value, expected) in host {
            let settings = settings(&[], &[name]);
            let host = pairs(&[(name, value)]).into_iter();
            let env = environment(host, &settings, Path::new("/w"), false, &BTreeMap::new()).unwrap();
            assert_eq!(env.variables.contains_key(name), expected, "{name}={value}");
        }
    }

    #[test]
    fn a_relative_directory_that_is_configured_is_of_the_workspace() {
        let settings = settings(&["node_modules/.bin", "./bin", "~/bin", "/opt/bin"], &[]);
        let host = pairs(&[("HOME", "/home/ada"), ("PATH", "/bin")]).into_iter();
        let env = environment(host, &settings, Path::new("/w"), false, &BTreeMap::new()).unwrap();
        assert_eq!(env.variables["PATH"], "/w/node_modules/.bin:/w/./bin:/home/ada/bin:/opt/bin:/bin");
    }

    #[test]
    fn what_the_model_sets() {
        for (name, value, expected) in [
            ("CI", "1", Ok(false)),
            ("LC_ALL", "C.UTF-8", Ok(false)),
            ("RUST_LOG", "a=debug,b::c=trace", Ok(false)),
            ("COLUMNS", "80", Ok(false)),
            ("COLUMNS", "a[$(id)]", Ok(true)),
            ("COLUMNS", "x", Ok(true)),
            ("COLUMNS", "", Ok(true)),
            ("COLUMNS", "8 0", Ok(true)),
            ("LINES", "24", Ok(false)),
            ("LINES", "b[$(id>x)]", Ok(true)),
            ("LANG", "de_DE", Ok(false)),
            ("LC_ALL", "zh_CN.GBK", Ok(true)),
            ("LANG", "ja_JP.SJIS", Ok(true)),
            ("LC_CTYPE", "zh_TW", Ok(true)),
            ("LANG", "/tmp/x", Ok(true)),
            ("TZ", ":x", Ok(true)),
            ("DEBUG", "a\nb", Ok(true)),
            ("FOO", "1", Ok(true)),
            ("PATH", "/tmp", Ok(true)),
            ("GIT_PAGER", "id", Ok(true)),
            ("LD_PRELOAD", "x", Err(ToolErrorKind::Denied)),
            ("DYLD_INSERT_LIBRARIES", "x", Err(ToolErrorKind::Denied)),
            ("BASH_ENV", "x", Err(ToolErrorKind::Denied)),
            ("ENV", "x", Err(ToolErrorKind::Denied)),
            ("PROMPT_COMMAND", "x", Err(ToolErrorKind::Denied)),
            ("BASH_FUNC_ls%%", "() { id; }", Err(ToolErrorKind::Denied)),
            ("A=B", "x", Err(ToolErrorKind::InvalidArguments)),
            ("", "x", Err(ToolErrorKind::InvalidArguments)),
            ("1A", "x", Err(ToolErrorKind::InvalidArguments)),
            ("A", "x\0", Err(ToolErrorKind::InvalidArguments)),
        ] {
            let made =
                environment(std::iter::empty(), &none(), Path::new("/w"), false, &pairs(&[(name, value)]));
            let found = made.map(|env| {
                assert_eq!(env.variables[name], value);
                !env.asked.is_empty()
            });
            assert_eq!(found.map_err(|error| error.kind()), expected, "{name}={value}");
        }
    }
}

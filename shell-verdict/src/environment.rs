//! Variables that make programs do other things than they do without.

use crate::guards;
use crate::names;
use crate::state::is_number;
use std::path::Path;

/// The end of a reason about a variable that only programs give a meaning to.
pub(crate) const SET_FOR_PROGRAM: &str = " is set for a program, which may do other things then";

/// The use of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// A variable of the shell alone.
    Shell,
    /// A program gets it.
    Program,
}

/// Returns the reason for which an assignment has a further effect; `None` for a harmless one.
pub(crate) fn assignment(name: &str, value: Option<&str>, used: Use) -> Option<String> {
    if names::is("variables-evaluated", name) && !value.is_some_and(is_number) {
        return Some(format!("the value of {name} is evaluated"));
    }
    match guards::value(name) {
        Some(own) if value == Some(own) => return None,
        Some(_) => return Some(format!("{name} keeps a program from writing or running something")),
        None => {}
    }
    if matches!(name, "LC_ALL" | "LC_CTYPE" | "LANG") && !value.is_some_and(is_plain_locale) {
        return Some(format!("{name} may make bash parse the rest differently"));
    }
    if runs_something(name) {
        return Some(format!("{name} can make a program run or load something"));
    }
    let is_special = matches!(
        name,
        "IFS"
            | "PS4"
            | "PROMPT_COMMAND"
            | "CDPATH"
            | "GLOBIGNORE"
            | "HOME"
            | "PWD"
            | "OLDPWD"
            | "HISTFILE"
            | "TMPDIR"
            | "POSIXLY_CORRECT"
            | "EXECIGNORE"
            | "FIGNORE"
            | "FUNCNEST"
            | "TMOUT"
            | "INPUTRC"
            | "HOSTFILE"
            | "MAILPATH"
            | "MAIL"
            | "histchars"
            | "auto_resume"
            | "COMP_WORDBREAKS"
            | "_"
    ) || name.starts_with("BASH");
    if is_special {
        return Some(format!("{name} changes how the shell and its programs work"));
    }
    match used {
        Use::Shell => None,
        Use::Program if is_harmless(name, value) => None,
        Use::Program => Some(format!("{name}{SET_FOR_PROGRAM}")),
    }
}

/// Returns true if the value of a variable has the form that verdicts assume: a number, an absolute path, or a locale in which bash
/// reads a text as this crate does. With another value in its environment, a command needs approval if it matters; a caller should
/// preferably not set the variable.
pub fn has_assumed_shape(name: &str, value: &str) -> bool {
    if names::is("variables-numbers", name) || names::is("variables-evaluated", name) {
        return is_number(value);
    }
    match name {
        "HOME" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME" | "XDG_CACHE_HOME" | "XDG_STATE_HOME" => {
            value.is_empty() || value.starts_with('/')
        }
        "LC_ALL" | "LC_CTYPE" | "LANG" => is_plain_locale(value),
        _ => true,
    }
}

/// Returns why a variable of the environment makes a command uncertain by its value; `None` for one that does not. Numbers count where
/// they are used.
pub(crate) fn misfit(name: &str, value: &str, command: &str, cwd: &Path) -> Option<&'static str> {
    match name {
        // bash keeps the value if it leads to the same directory.
        "PWD" if Path::new(value) != cwd => Some("may give the directory another name"),
        "LC_ALL" | "LC_CTYPE" | "LANG" if !command.is_ascii() && !is_plain_locale(value) => {
            Some("may make bash parse the command differently")
        }
        "HOME" | "XDG_CONFIG_HOME" | "XDG_DATA_HOME" | "XDG_CACHE_HOME" | "XDG_STATE_HOME"
            if !has_assumed_shape(name, value) =>
        {
            Some("leads programs to files that depend on where they run")
        }
        _ => None,
    }
}

/// Returns true for a locale in which the bytes of ASCII are no part of other characters, so that bash finds the same quotes and
/// operators in a text.
fn is_plain_locale(value: &str) -> bool {
    let (name, charset) = match value.split('@').next().unwrap_or_default().split_once('.') {
        Some((name, charset)) => (name, charset.to_ascii_lowercase().replace(['-', '_'], "")),
        None => (value, String::new()),
    };
    if !charset.is_empty() {
        return charset == "utf8" || charset.starts_with("iso8859") || charset == "ascii";
    }
    // Without a character set these may be BIG5 or Shift JIS.
    !["zh", "ja", "ko", "chinese"].iter().any(|language| name.starts_with(language))
}

/// The same of a variable that one command alone gets. One that means nothing changes nothing of the plainest programs.
pub(crate) fn assignment_for(name: &str, value: Option<&str>, program: Option<&str>) -> Option<String> {
    let is_plain = program.is_some_and(|program| names::is("plain", program)) && means_nothing(name);
    let used = if is_plain { Use::Shell } else { Use::Program };
    assignment(name, value, used)
}

/// Returns true if a variable is none that the loader, the library of the system or one of the plainest programs knows.
fn means_nothing(name: &str) -> bool {
    const KNOWN: &[&str] = &[
        "MALLOC_",
        "RES_",
        "TZ",
        "NLS",
        "LC_",
        "LANG",
        "LOCAL",
        "GETCONF",
        "NIS_",
        "ARGP_",
        "POSIX",
        "TERM",
        "COLUMNS",
        "LINES",
        "TABSIZE",
        "BLOCK",
        "LS_",
        "DF_",
        "DU_",
        "QUOTING",
        "TIME_STYLE",
        "TMP",
        "TEMP",
        "_",
        "GREP",
        "MEMUSAGE",
        "SEGFAULT",
        "PCPROFILE",
        "CORE",
        "RLIMIT",
        "DEBUGINFOD",
    ];
    !KNOWN.iter().any(|known| name.starts_with(known)) && !name.contains("PATH")
}

/// Returns true if such a variable in the environment makes every command uncertain.
pub(crate) fn is_dangerous(name: &str) -> bool {
    let is_of_shell = matches!(
        name,
        "BASH_ENV"
            | "ENV"
            | "SHELLOPTS"
            | "BASHOPTS"
            | "GLOBIGNORE"
            | "CDPATH"
            | "POSIXLY_CORRECT"
            | "TEXTDOMAIN"
            | "TEXTDOMAINDIR"
            | "BASH_LOADABLES_PATH"
            | "BASH_COMPAT"
    );
    is_of_shell || name.starts_with("BASH_FUNC_") || is_of_loader(name)
}

fn is_of_loader(name: &str) -> bool {
    name.starts_with("LD_")
        || name.starts_with("DYLD_")
        || matches!(name, "GCONV_PATH" | "LOCPATH" | "NLSPATH" | "GLIBC_TUNABLES")
}

/// Returns true for variables that make programs run or load something, or read their configuration elsewhere.
pub(crate) fn runs_something(name: &str) -> bool {
    is_dangerous(name)
        || is_of_program(name)
        || name == "PATH"
        || [
            "PYTHON", "PERL", "RUBY", "NODE_", "JAVA_", "_JAVA", "NPM_", "npm_", "CARGO_", "RUSTC", "GO",
            "XDG_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Returns true for variables that change the effect of programs that would otherwise only read.
pub(crate) fn is_of_program(name: &str) -> bool {
    name.starts_with("GIT_") && !is_harmless_for_git(name)
        // No test covers each prefix: for a program, any variable not known to be harmless needs approval.
        || name.starts_with("LESS")
        || name.starts_with("BAT_")
        || name.starts_with("SSH_")
        || matches!(
            name,
            "PAGER"
                | "MANPAGER"
                | "EDITOR"
                | "VISUAL"
                | "BROWSER"
                | "SHELL"
                | "RIPGREP_CONFIG_PATH"
                | "GREP_OPTIONS"
                | "TAR_OPTIONS"
                | "GZIP"
                | "BZIP2"
                | "BZIP"
                | "XZ_OPT"
                | "XZ_DEFAULTS"
                | "ZSTD_CLEVEL"
                | "AWKPATH"
                | "AWKLIBPATH"
                | "MAGIC"
                | "TERMINFO"
                | "TERMINFO_DIRS"
                | "TERMCAP"
                | "FD_OPTIONS"
                | "FZF_DEFAULT_COMMAND"
                | "JQ_LIBRARY_PATH"
                | "TREE_CHARSET"
                | "MANOPT"
                | "MANPATH"
                | "POSIX_ME_HARDER"
                | "HOSTALIASES"
                | "PS_FORMAT"
                | "PS_PERSONALITY"
        )
}

/// Returns true if git only displays the value of the variable.
pub(crate) fn is_harmless_for_git(name: &str) -> bool {
    let only_said = ["GIT_AUTHOR_", "GIT_COMMITTER_"].iter().any(|prefix| name.starts_with(prefix));
    only_said
        || matches!(
            name,
            "GIT_TERMINAL_PROMPT" | "GIT_OPTIONAL_LOCKS" | "GIT_NO_LAZY_FETCH" | "GIT_ADVICE" | "GIT_FLUSH"
        )
}

/// Returns true for variables that only change the presentation.
fn is_harmless(name: &str, value: Option<&str>) -> bool {
    let is_known = name.starts_with("LC_")
        || matches!(
            name,
            "LANG"
                | "LANGUAGE"
                | "TZ"
                | "TERM"
                | "NO_COLOR"
                | "CLICOLOR"
                | "CLICOLOR_FORCE"
                | "FORCE_COLOR"
                | "COLORTERM"
                | "COLUMNS"
                | "LINES"
                | "BLOCK_SIZE"
                | "BLOCKSIZE"
                | "TIME_STYLE"
                | "QUOTING_STYLE"
                | "LS_COLORS"
                | "GREP_COLOR"
                | "GREP_COLORS"
                | "JQ_COLORS"
                | "CI"
                | "DEBUG"
                | "VERBOSE"
                | "RUST_BACKTRACE"
                | "RUST_LOG"
                | "GIT_TERMINAL_PROMPT"
                | "GIT_OPTIONAL_LOCKS"
                | "GIT_NO_LAZY_FETCH"
        );
    // Of some, a path would name a file that is read.
    is_known
        && value.is_some_and(|value| {
            !value.contains(['/', '%', ':']) || matches!(name, "LS_COLORS" | "GREP_COLORS" | "JQ_COLORS")
        })
}

/// Returns the variables of the environment that change the effect of a program that would otherwise only read.
pub(crate) fn of_program(base: &str) -> &'static [&'static str] {
    match base {
        "rg" => &["RIPGREP_CONFIG_PATH"],
        "grep" | "egrep" | "fgrep" => &["GREP_OPTIONS"],
        "less" => &[
            "LESSOPEN",
            "LESSCLOSE",
            "LESS",
            "LESSKEY",
            "LESSKEYIN",
            "LESSKEY_SYSTEM",
            "LESSKEYIN_SYSTEM",
            "LESSHISTFILE",
            "LESSEDIT",
        ],
        "tar" => &["TAR_OPTIONS", "TAPE", "RSH"],
        "gzip" | "gunzip" | "zcat" => &["GZIP"],
        "bzip2" | "bunzip2" | "bzcat" => &["BZIP2", "BZIP"],
        "xz" | "xzcat" | "unxz" | "lzma" | "lzcat" | "unlzma" => &["XZ_OPT", "XZ_DEFAULTS"],
        "unzip" | "zipinfo" => &["UNZIP", "UNZIPOPT", "ZIPINFO", "ZIPINFOOPT"],
        "file" => &["MAGIC"],
        "awk" | "mawk" | "gawk" | "nawk" => &["AWKPATH", "AWKLIBPATH", "MAWK_LONG_OPTIONS", "WHINY_USERS"],
        "bc" => &["BC_ENV_ARGS"],
        "objdump" | "nm" | "readelf" | "strings" | "size" => &["DEBUGINFOD_URLS"],
        "ps" => &["PS_FORMAT", "PS_PERSONALITY"],
        "apt" => &["APT_CONFIG", "APT_PAGER"],
        "openssl" => &["OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES"],
        "bat" | "batcat" => &["BAT_CONFIG_PATH", "BAT_CONFIG_DIR", "BAT_OPTS", "BAT_CACHE_PATH", "LESSOPEN"],

        "tput" | "clear" | "reset" => &["TERMINFO", "TERMINFO_DIRS", "TERMCAP"],
        _ => &[],
    }
}

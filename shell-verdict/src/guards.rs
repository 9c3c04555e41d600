//! Guards: variables and arguments that keep a program from running or writing something while it reads.
//!
//! Most are variables of its environment. A command can remove variables in many ways, so it is not proved read-only if it names one of
//! them, and a program that has an argument with the same effect gets that, too.

/// A restriction that keeps one program from doing more than it was judged to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    /// Variables that it gets.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Arguments with the same effect, as in a command, which come before all others. Every version in use must accept them.
    pub(crate) arguments: &'static str,
}

/// Variables that disable the programs that git would run by itself, and its writes while it reads. Each of the settings is in
/// [`GIT`] as an argument, too.
const NEUTRAL: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_CONFIG_COUNT", "7"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ("GIT_CONFIG_KEY_2", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_2", "false"),
    ("GIT_CONFIG_KEY_3", "log.showSignature"),
    ("GIT_CONFIG_VALUE_3", "false"),
    ("GIT_CONFIG_KEY_4", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_4", "explicit"),
    ("GIT_CONFIG_KEY_5", "core.pager"),
    ("GIT_CONFIG_VALUE_5", "cat"),
    // A log of one file would show the files that it was copied from.
    ("GIT_CONFIG_KEY_6", "log.follow"),
    ("GIT_CONFIG_VALUE_6", "false"),
];

pub(crate) const GIT: Guard = Guard {
    variables: NEUTRAL,
    arguments: "--no-optional-locks --no-pager -c core.fsmonitor=false -c core.hooksPath=/dev/null -c diff.autoRefreshIndex=false \
                -c log.showSignature=false -c safe.bareRepository=explicit -c core.pager=cat -c log.follow=false",
};
/// Git when it prints its configuration, of which the arguments would be part.
pub(crate) const GIT_CONFIG: Guard = Guard { arguments: "", ..GIT };
pub(crate) const SYSTEMD: Guard =
    Guard { variables: &[("SYSTEMD_PAGER", "cat"), ("PAGER", "cat")], arguments: "--no-pager" };
pub(crate) const DMESG: Guard = Guard { variables: &[("PAGER", "cat")], arguments: "" };
pub(crate) const DPKG: Guard = Guard { variables: &[("DPKG_PAGER", "cat"), ("PAGER", "cat")], arguments: "" };
/// A person at a terminal could have it run commands.
pub(crate) const LESS: Guard = Guard { variables: &[("LESSSECURE", "1")], arguments: "" };
/// GitHub's command, which otherwise checks for a newer version.
pub(crate) const GH: Guard = Guard { variables: &[("GH_NO_UPDATE_NOTIFIER", "1")], arguments: "" };
/// Java, which otherwise writes a file of performance data.
pub(crate) const JAVA: Guard =
    Guard { variables: &[("JDK_JAVA_OPTIONS", "-XX:-UsePerfData")], arguments: "" };
/// Cargo, which fetches nothing, keeps no cache and starts no wrapper.
pub(crate) const CARGO: Guard = Guard {
    variables: &[
        ("CARGO_NET_OFFLINE", "true"),
        ("CARGO_CACHE_RUSTC_INFO", "0"),
        ("RUSTC_WRAPPER", ""),
        ("RUSTC_WORKSPACE_WRAPPER", ""),
        ("RUSTUP_AUTO_INSTALL", "0"),
    ],
    arguments: "",
};
/// Rustup, which installs nothing.
pub(crate) const RUSTUP: Guard = Guard { variables: &[("RUSTUP_AUTO_INSTALL", "0")], arguments: "" };
/// npm, which fetches nothing and writes no log of the call.
pub(crate) const NPM: Guard = Guard {
    variables: &[
        ("npm_config_update_notifier", "false"),
        ("npm_config_logs_dir", "/dev/null"),
        ("npm_config_offline", "true"),
    ],
    arguments: "",
};
/// pip, which fetches nothing and writes no compiled files.
pub(crate) const PIP: Guard = Guard {
    variables: &[
        ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
        ("PIP_NO_INPUT", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ],
    arguments: "",
};
/// Go, which then fetches no modules, starts no other release and contacts no repository.
pub(crate) const GO: Guard = Guard {
    variables: &[
        ("GOPROXY", "off"),
        ("GOTOOLCHAIN", "local"),
        ("GOVCS", "*:off"),
        ("GOFLAGS", "-buildvcs=false"),
    ],
    arguments: "",
};
/// `man`, which does not cache a page of an unusual width.
pub(crate) const MAN: Guard = Guard {
    variables: &[("MANPAGER", "cat"), ("PAGER", "cat"), ("LESSSECURE", "1"), ("MANWIDTH", "100")],
    arguments: "",
};

/// `apt`, which starts no pager for a list.
pub(crate) const APT: Guard = Guard { variables: &[("PAGER", "cat")], arguments: "" };
/// `bat`, which starts no pager.
pub(crate) const BAT: Guard = Guard { variables: &[("BAT_PAGER", "cat"), ("PAGER", "cat")], arguments: "" };

const ALL: &[Guard] =
    &[GIT, SYSTEMD, DMESG, DPKG, LESS, GH, JAVA, CARGO, RUSTUP, NPM, PIP, GO, MAN, APT, BAT];

/// The value of a variable that is a guard.
pub(crate) fn value(name: &str) -> Option<&'static str> {
    let variables = ALL.iter().flat_map(|guard| guard.variables);
    variables.copied().find(|(known, _)| *known == name).map(|(_, value)| value)
}

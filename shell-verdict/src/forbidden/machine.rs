//! Programs that describe the machine's services, or stop the machine.

/// Verbs by which it ends.
const VERBS: &[&str] = &[
    "poweroff",
    "reboot",
    "halt",
    "kexec",
    "soft-reboot",
    "suspend",
    "hibernate",
    "hybrid-sleep",
    "suspend-then-hibernate",
    "emergency",
    "rescue",
];

/// Systemd units that stop the machine, in addition to those with the names of commands.
const UNITS: &[&str] =
    &["sleep", "shutdown", "exit", "umount", "final", "ctrl-alt-del", "runlevel0", "runlevel1", "runlevel6"];

/// Verbs that start the units after them.
const STARTS: &[&str] = &[
    "start",
    "restart",
    "try-restart",
    "condrestart",
    "isolate",
    "reload-or-restart",
    "reload-or-try-restart",
    "try-reload-or-restart",
    "force-reload",
    "--now",
];

/// Returns true if a program ends the machine's work with these words.
pub(super) fn ends(base: &str, words: &[&str]) -> bool {
    match base {
        "init" => words.iter().any(|word| matches!(*word, "0" | "6" | "s" | "S" | "1")),
        // Another machine, or a container. `.host` is this one.
        "systemctl" | "loginctl" if is_elsewhere(words) => false,
        "systemctl" if matches!(words.first(), Some(&("help" | "cat" | "--help" | "--version"))) => false,
        "systemctl" | "loginctl" => {
            let is_verb = |word: &&str| VERBS.contains(word);
            let is_unit = |word: &&str| {
                let name = word.strip_prefix("systemd-").unwrap_or(word);
                let name = name.strip_suffix(".target").or_else(|| name.strip_suffix(".service"));
                name.is_some_and(|name| VERBS.contains(&name) || UNITS.contains(&name))
            };
            let starts = words.iter().any(|word| STARTS.contains(word));
            // `isolate` adds the ending itself.
            let isolates = words.contains(&"isolate") && words.iter().any(|word| UNITS.contains(word));
            !reads_services(words)
                && (words.iter().any(is_verb) || starts && words.iter().any(is_unit) || isolates)
        }
        // The same as a message on D-Bus.
        "dbus-send" | "busctl" | "gdbus" | "qdbus" | "qdbus6" => {
            const CALLS: &[&str] =
                &["poweroff", "reboot", "halt", "kexec", "suspend", "hibernate", "hybridsleep"];
            let text = words.join(" ").to_ascii_lowercase();
            (text.contains("login1") || text.contains("systemd1") || text.contains("consolekit"))
                && text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
                    let word = word.strip_suffix("withflags").unwrap_or(word);
                    CALLS.contains(&word)
                })
        }
        _ => false,
    }
}

/// Returns true if the first word directs the rest to another machine.
fn is_elsewhere(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let attached = ["--host=", "--machine=", "-H", "-M"].iter().find_map(|option| first.strip_prefix(option));
    let machine = match attached {
        Some("") | None => {
            rest.first().filter(|_| ["-H", "-M", "--host", "--machine"].contains(first)).copied()
        }
        attached => attached,
    };
    let name = |machine: &str| machine.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    machine
        .map(name)
        .is_some_and(|name| !matches!(name.as_str(), "" | ".host" | "localhost" | "127.0.0.1" | "::1"))
}

/// Returns the first word that is not an option, or one that may be: an option before it may take it as its value.
fn verb<'w>(words: &[&'w str]) -> Option<&'w str> {
    const PLAIN: &[&str] = &[
        "--no-pager",
        "--user",
        "--system",
        "-a",
        "--all",
        "-l",
        "--full",
        "--failed",
        "-q",
        "--quiet",
        "--plain",
        "--no-legend",
        "-r",
        "--recursive",
        "--value",
    ];
    const VALUED: &[&str] =
        &["-t", "--type", "--state", "-p", "--property", "-P", "-n", "--lines", "-o", "--output"];
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        let has_value =
            word.split_once('=').is_some_and(|(name, _)| name.starts_with("--") && VALUED.contains(&name));
        if VALUED.contains(&word) {
            rest.next();
        } else if !PLAIN.contains(&word) && !has_value {
            return Some(word);
        }
    }
    None
}

/// Returns true if the words of `systemctl` or `loginctl` only query the state.
pub(super) fn reads_services(words: &[&str]) -> bool {
    verb(words).is_none_or(|verb| {
        matches!(
            verb,
            "status"
                | "show"
                | "cat"
                | "list-units"
                | "list-unit-files"
                | "list-sockets"
                | "list-timers"
                | "list-automounts"
                | "list-paths"
                | "show-environment"
                | "list-jobs"
                | "list-dependencies"
                | "list-machines"
                | "is-active"
                | "is-enabled"
                | "is-failed"
                | "is-system-running"
                | "get-default"
                | "list-sessions"
                | "list-users"
                | "list-seats"
                | "session-status"
                | "user-status"
        )
    }) && !words
        .iter()
        .any(|word| ["-H", "-M", "--host", "--machine"].iter().any(|other| word.starts_with(other)))
}

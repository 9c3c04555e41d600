//! Commands that never run, and commands that need approval with a warning.

mod harmless;
mod machine;

use crate::class::Class;
use crate::names;
use crate::never::{is_flag, is_never, is_recursive};
use crate::verdict::Part;
use crate::walk::{Judge, is_device};
use crate::words::Value;
use std::path::{Path, PathBuf};

/// Checkers and tuners of file systems have names of a kind, too.
fn is_dangerous(base: &str) -> bool {
    const KINDS: &[&str] =
        &["fsck.", "fsck_", "tunefs.", "tune.", "resize.", "defrag.", "debugfs.", "partclone."];
    names::is("dangerous", base) || KINDS.iter().any(|kind| base.starts_with(kind))
}

/// Judges a program by its name, whichever file it is.
pub(crate) fn program(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) {
    if is_never(base) {
        if harmless::judge(judge, base, values, part) {
            return;
        }
        part.is(Class::Forbidden, format!("{base} is never run here"));
        if !matches!(base, "cryptsetup" | "zpool" | "mdadm" | "hdparm" | "nvme") {
            look_through(judge, values, part);
        }
        return;
    }
    let words: Vec<&str> = values.iter().filter_map(Value::text).collect();
    match base {
        _ if machine::ends(base, &words) => {
            part.is(Class::Forbidden, format!("{base} ends the machine's work"));
        }
        "systemctl" | "service" if !machine::reads_services(&words) => {
            part.is(Class::Dangerous, format!("{base} changes what the machine runs"));
        }
        "rm" => rm(judge, &words, values, part),
        "mv" => moves(judge, values, part),
        "chmod" | "chown" | "chgrp" => rights(judge, base, &words, values, part),
        "find" if words.contains(&"-delete") => {
            let starts: Vec<&Value> = values
                .iter()
                .take_while(|value| !value.text().is_some_and(|text| text.starts_with(['-', '(', '!'])))
                .collect();
            let has_test = words.iter().any(|word| {
                word.starts_with('-') && !matches!(*word, "-delete" | "-depth" | "-xdev" | "-mount")
            });
            if !has_test && starts.iter().any(|value| is_of_system(judge, value, Link::Followed)) {
                part.is(Class::Forbidden, "it deletes a directory of the system, or the home");
            }
        }
        "mount" if words.iter().all(|word| matches!(*word, "-l" | "-v" | "--help" | "--version")) => {}
        "sysctl"
            if words.iter().all(|word| {
                !word.contains('=')
                    && matches!(
                        *word,
                        "-a" | "-n" | "-e" | "-N" | "-A" | "-X" | "-b" | "--all" | "--names" | "--values"
                    )
                    || !word.starts_with('-') && !word.contains('=')
            }) && words.len() == values.len()
                && !words.is_empty() => {}
        "systemctl" | "loginctl" if machine::reads_services(&words) => {}
        name if is_dangerous(name) => {
            part.is(Class::Dangerous, format!("{base} {}", Class::Dangerous.words()));
            if matches!(base, "shred" | "srm" | "scrub") {
                devices(&words, part);
            }
        }
        "tee" | "truncate" | "fallocate" | "sponge" => devices(&words, part),
        // Of these only the last word, or the target of an option, is written.
        "cp" | "install" | "ln" | "rsync" => {
            let last = words.iter().rposition(|word| !word.starts_with('-'));
            let is_target = |at: usize| {
                let is_option = |word: &str| {
                    word.starts_with("--t")
                        || word.starts_with('-') && !word.starts_with("--") && word.ends_with('t')
                };
                Some(at) == last || at > 0 && is_option(words[at - 1]) || words[at].starts_with('-')
            };
            let targets: Vec<&str> =
                (0..words.len()).filter(|at| is_target(*at)).map(|at| words[at]).collect();
            devices(&targets, part);
        }
        _ => {}
    }
}

/// Warns of devices among the operands of a program that writes.
fn devices(words: &[&str], part: &mut Part) {
    for word in words.iter().filter(|word| is_device(word)) {
        part.is(Class::Forbidden, format!("it writes to the device {word}"));
    }
}

fn rm(judge: &mut Judge<'_>, words: &[&str], values: &[Value], part: &mut Part) {
    let all_of_home = ["~/*", "$HOME/*", "${HOME}/*", "\"$HOME\"/*"];
    if is_recursive(words) && part.text.split_whitespace().any(|word| all_of_home.contains(&word)) {
        part.is(Class::Forbidden, "it deletes all that is in the home");
    }
    let is_recursive = is_recursive(words);
    let is_forced = words.iter().any(|word| is_flag(word, 'f') || word.starts_with("--f"));
    if words.iter().any(|word| word.starts_with("--no-pres")) {
        part.is(Class::Forbidden, "rm is told to treat the root directory like any other");
    }
    for value in operands(values) {
        if is_recursive && is_of_system(judge, value, Link::Itself) {
            part.is(
                Class::Forbidden,
                format!("it deletes {}, all below it included", value.text().unwrap_or("what is not known")),
            );
        }
    }
    if is_recursive {
        part.is(Class::Dangerous, "rm deletes directories with all below them");
    } else if is_forced || values.iter().any(|value| value.text().is_none()) {
        part.is(Class::Dangerous, "rm deletes files without asking");
    }
}

fn moves(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let operands: Vec<&Value> = operands(values).collect();
    let sources = operands.len().saturating_sub(1);
    let names_target =
        values.iter().filter_map(Value::text).any(|text| text.starts_with("-t") || text.starts_with("--t"));
    let sources = if names_target { operands.len() } else { sources.max(1) };
    if operands.iter().take(sources).any(|value| is_of_system(judge, value, Link::Itself)) {
        part.is(Class::Forbidden, "it moves a directory of the system, or the home");
    }
    if operands.last().and_then(|value| value.text()) == Some("/dev/null") {
        part.is(Class::Dangerous, "it replaces a device");
    }
}

fn rights(judge: &mut Judge<'_>, base: &str, words: &[&str], values: &[Value], part: &mut Part) {
    let is_recursive = words.iter().any(|word| is_flag(word, 'R') || word.starts_with("--rec"));
    if !is_recursive {
        return;
    }
    part.is(Class::Dangerous, format!("{base} changes all below a directory"));
    // The first operand may be a mode or an owner, which is not a system directory.
    if operands(values).any(|value| is_of_system(judge, value, Link::Followed)) {
        part.is(Class::Forbidden, "it changes the rights of a directory of the system, or the home");
    }
}

fn operands(values: &[Value]) -> impl Iterator<Item = &Value> {
    let mut is_behind_end = false;
    values.iter().filter(move |value| {
        let text = value.text().unwrap_or_default();
        let is_operand = is_behind_end || !text.starts_with('-');
        is_behind_end |= text == "--";
        is_operand
    })
}

/// The use that a program makes of a symlink among its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// The command acts on the target of the link.
    Followed,
    /// The command removes or moves the link itself, unless a slash follows its name.
    Itself,
}

/// Returns true for the root, a system directory, a home, and a directory that contains a home.
fn is_of_system(judge: &Judge<'_>, value: &Value, link: Link) -> bool {
    let text = match value {
        Value::Text(text) => text.as_str(),
        Value::Below { .. } | Value::Listed(_) => return false,
        // `/$x` may be anything below.
        Value::Unknown { prefix, .. } => match prefix.rfind('/') {
            Some(at) => &prefix[..=at],
            None => return false,
        },
    };
    let is_itself = link == Link::Itself && !text.ends_with(['/', '.', '*']);
    let text =
        text.strip_suffix("/*").map_or(text, |directory| if directory.is_empty() { "/" } else { directory });
    let text = if text == "*" { "." } else { text };
    let Some(path) = judge.absolute(text) else { return false };
    // The target of a link in `/proc` is not a path of its own.
    let real = if is_itself && path.is_symlink() && !path.starts_with("/proc") {
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        parent.zip(path.file_name()).map(|(parent, name)| parent.join(name))
    } else {
        path.canonicalize().ok()
    };
    let real: PathBuf = real.unwrap_or_else(|| path.clone());
    let home = judge.situation().home();
    let real_home = home.as_deref().and_then(|home| home.canonicalize().ok());
    let holds_home =
        |path: &Path| [&home, &real_home].into_iter().flatten().any(|home| home.starts_with(path));
    [path, real].iter().any(|path| is_top(path) || is_deep_system(path) || holds_home(path))
}

/// Returns true for the root, and for a directory right below it that systems have, or this one.
fn is_top(path: &Path) -> bool {
    const USUAL: &[&str] = &[
        "bin",
        "boot",
        "dev",
        "etc",
        "home",
        "lib",
        "lib32",
        "lib64",
        "media",
        "mnt",
        "opt",
        "proc",
        "root",
        "run",
        "sbin",
        "srv",
        "sys",
        "usr",
        "var",
        "Applications",
        "Library",
        "System",
        "Users",
        "Volumes",
        "private",
    ];
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (None, _) => true,
        (Some(parent), _) if parent != Path::new("/") => false,
        (Some(_), Some("tmp")) => false,
        (Some(_), name) => name.is_some_and(|name| USUAL.contains(&name)) || path.symlink_metadata().is_ok(),
    }
}

/// Returns true for a directory two levels below the root that the system needs to work, or whose loss would destroy
/// its data.
fn is_deep_system(path: &Path) -> bool {
    const DIRECTORIES: &[(&str, &[&str])] = &[
        ("/bin", &[]),
        ("/sbin", &[]),
        ("/lib", &[]),
        ("/lib64", &[]),
        ("/boot", &[]),
        ("/usr", &["bin", "sbin", "lib", "lib32", "lib64", "libexec", "share", "local", "include"]),
        ("/var", &["lib", "log", "db", "spool", "mail", "run", "lock", "cache", "backups", "opt", "root"]),
        (
            "/etc",
            &[
                "alternatives",
                "apt",
                "cron.d",
                "default",
                "dpkg",
                "fstab",
                "group",
                "gshadow",
                "init.d",
                "ld.so.cache",
                "ld.so.conf.d",
                "network",
                "netplan",
                "NetworkManager",
                "pam.d",
                "passwd",
                "pki",
                "profile.d",
                "rc.d",
                "security",
                "shadow",
                "ssh",
                "ssl",
                "sudoers",
                "sudoers.d",
                "sysconfig",
                "systemd",
                "udev",
            ],
        ),
    ];
    let Some((parent, name)) = path.parent().zip(path.file_name().and_then(|name| name.to_str())) else {
        return false;
    };
    DIRECTORIES.iter().any(|(directory, names)| {
        parent == Path::new(directory) && (names.is_empty() || names.contains(&name))
    })
}

/// Judges the command after a forbidden wrapper, so that the verdict shows it.
fn look_through(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    if let Some(at) = values.iter().position(|value| value.text().is_some_and(|text| !text.starts_with('-')))
    {
        judge.nested(&values[at..], part);
    }
}

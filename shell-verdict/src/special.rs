//! Programs whose words are more than options and operands.

mod files;
mod find;
mod network;
pub(crate) mod packages;
mod ps;

use crate::archive;
use crate::class::Class;
use crate::guards;
use crate::names;
use crate::options;
use crate::situation::Access;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;

/// Judges a program that is known by name. Whether it was one.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    if tells_of_itself(base, values) {
        return true;
    }
    match base {
        "dd" => files::dd(judge, values, part),
        "ip" => network::ip(values, part),
        "less" => less(judge, values, part),
        "systemctl" | "journalctl" | "timedatectl" | "loginctl" => {
            // On a terminal they show it with another program.
            judge.needs(guards::SYSTEMD, part);
            if base == "timedatectl"
                && !values.iter().all(|value| {
                    value.text().is_some_and(|text| {
                        text.starts_with('-')
                            || matches!(
                                text,
                                "status" | "show" | "list-timezones" | "timesync-status" | "show-timesync"
                            )
                    })
                })
            {
                part.is(Class::Write, "timedatectl changes the clock");
            }
            return options::judge(judge, base, values, part);
        }
        // It runs commands of the terminal description, which may be a file in the home.
        "tput" if !has_own_home(judge) => {
            part.is(Class::Code, "tput may run a program that a file of the home names");
        }
        "dmesg" => {
            // So that it starts no pager.
            judge.needs(guards::DMESG, part);
            return options::judge(judge, base, values, part);
        }
        // A name is a path below `/proc/sys`, and older ones take any.
        "sysctl" if values.iter().any(|value| value.text().is_none_or(|text| text.contains(".."))) => {
            part.is(Class::Unknown, "sysctl may read another file than a setting");
        }
        "dpkg" | "dpkg-query" if reads_packages(values) => {
            part.starts.push("dpkg-query".to_owned());
            judge.needs(guards::DPKG, part);
        }
        "stty"
            if values.is_empty()
                || values.iter().all(|value| {
                    matches!(value.text(), Some("-a" | "--all" | "-g" | "--save" | "size" | "speed"))
                }) => {}
        // Without it they resolve the names of other machines.
        "lsof" | "netstat" | "arp" | "route" if asks_for_no_names(base, values) => {
            return options::judge(judge, base, values, part);
        }
        "lsof" | "netstat" | "arp" | "route" => {
            part.is(Class::Network, format!("{base} asks for the names of other machines"));
        }
        "fuser"
            if !values.iter().any(|value| {
                value.text().is_none_or(|text| {
                    text.starts_with('-') && text.contains(['k', 'i', 'w', 'M'])
                        // The port of another machine.
                        || text.contains(',')
                })
            }) =>
        {
            values
                .iter()
                .filter(|value| !value.text().is_some_and(|text| text.starts_with('-')))
                .for_each(|value| judge.path(value, Access::Read, part));
        }
        "mktemp" if values.first().is_some_and(|value| matches!(value.text(), Some("-u" | "--dry-run"))) => {}
        "tar" | "bsdtar" | "unzip" | "zipinfo" | "gzip" | "gunzip" | "zcat" | "xz" | "unxz" | "bzip2"
        | "bunzip2" | "ar" | "zstd"
            if archive::judge(judge, base, values, part) => {}
        "find" => find::judge(judge, values, part),
        "ps" => ps::ps(values, part),
        "rm" | "rmdir" | "unlink" | "mkdir" | "touch" | "chmod" | "chown" | "chgrp" | "truncate"
        | "fallocate" | "mkfifo" | "mknod" | "shred" | "mktemp" | "sponge" => {
            files::changes(judge, base, values, part);
        }
        "tee" => files::tee(judge, values, part),
        "cp" | "mv" | "ln" | "install" | "link" => files::copies(judge, base, values, part),
        "jq" | "yq" if program_imports(values) => {
            part.has(Class::Unknown, format!("the program of {base} may read files that its text names"));
        }
        // One of the two programs with this name runs the other.
        "yq" => {
            part.starts.push("jq".to_owned());
            return options::judge(judge, base, values, part);
        }
        "openssl" if reads_certificate(values) => {
            return options::judge(judge, "openssl:x509", &values[1..], part);
        }
        // It starts a pager that its configuration may name.
        "bat" | "batcat" => part.is(Class::Unknown, format!("{base} may start a configured pager")),
        _ if packages::judge(judge, base, values, part) => {}
        _ if only_tells(judge, base, values) => {}
        _ if names::is("network", base) => network::network(judge, base, values, part),
        _ if names::is("builds", base) => {
            part.is(Class::Unknown, format!("{base} can change files and run what they say"));
            if network::fetches_or_publishes(base, values) {
                part.is(Class::Network, format!("{base} {} with this command", Class::Network.words()));
            }
            crate::never::hidden(values, part);
        }
        _ => return false,
    }
    true
}

/// Returns true if a well-known program is only asked for its version.
fn only_tells(judge: &Judge<'_>, base: &str, values: &[Value]) -> bool {
    let [value] = values else { return false };
    let asks = match value.text() {
        Some("--version") => true,
        Some("-V") => matches!(base, "cargo" | "rustc" | "pip" | "pip3" | "curl" | "ssh"),
        Some("-v") => matches!(base, "npm" | "pnpm" | "yarn"),
        Some("version") => matches!(base, "go" | "openssl"),
        Some("env") => base == "go",
        Some("--list" | "help") => base == "cargo",
        _ => false,
    };
    let is_known = matches!(
        base,
        "cargo"
            | "rustc"
            | "rustfmt"
            | "rustup"
            | "rustdoc"
            | "go"
            | "npm"
            | "gcc"
            | "g++"
            | "cc"
            | "c++"
            | "clang"
            | "clang++"
            | "make"
            | "cmake"
            | "ninja"
            | "tar"
            | "zip"
            | "unzip"
            | "gzip"
            | "xz"
            | "zstd"
            | "bzip2"
            | "curl"
            | "wget"
            | "rsync"
            | "pip"
            | "pip3"
            | "docker"
            | "kubectl"
            | "ssh"
            | "openssl"
            | "javac"
            | "patch"
            | "dpkg"
            | "apt"
    );
    // Files in the directory select the toolchain that these start.
    let files: &[&str] = match base {
        "cargo" | "rustc" | "rustup" | "rustfmt" | "rustdoc" => &["rust-toolchain", "rust-toolchain.toml"],
        "go" => &["go.work", "go.mod"],
        "npm" => &[".npmrc"],
        "pip" | "pip3" => &[".python-version"],
        _ => &[],
    };
    // They read files of the home.
    asks && is_known
        && has_own_home(judge)
        && (files.is_empty() || !has_toolchain_file(judge, &[files, &[".tool-versions"]].concat()))
}

/// Returns true if the home is outside of the workspace.
pub(crate) fn has_own_home(judge: &Judge<'_>) -> bool {
    judge.situation().home().is_none_or(|home| !home.starts_with(judge.situation().workspace))
}

fn has_toolchain_file(judge: &Judge<'_>, files: &[&str]) -> bool {
    let Some(cwd) = judge.state.cwd.as_deref() else { return true };
    cwd.ancestors().any(|directory| files.iter().any(|file| directory.join(file).symlink_metadata().is_ok()))
}

fn program_imports(values: &[Value]) -> bool {
    const WORDS: [&str; 4] = ["import", "include", "modulemeta", "load"];
    values.iter().any(|value| value.text().is_none_or(|text| WORDS.iter().any(|word| text.contains(word))))
}

/// Returns true if `openssl` shows a certificate of a file. A value with a colon may be the address of something else.
fn reads_certificate(values: &[Value]) -> bool {
    values.first().and_then(Value::text) == Some("x509")
        && values.iter().all(|value| value.text().is_some_and(|text| !text.contains(':')))
}

/// Returns true if a program of the base system is only asked for its help or version.
fn tells_of_itself(base: &str, values: &[Value]) -> bool {
    let [value] = values else { return false };
    names::is("of-system", base) && matches!(value.text(), Some("--help" | "--version"))
}

/// A pager, of which a person at a terminal could have commands run.
fn less(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    judge.needs(guards::LESS, part);
    if values.iter().any(|value| value.text().is_some_and(|text| text.starts_with('+'))) {
        part.has(Class::Code, "less runs a command of its own first");
    }
    options::judge(judge, "less", values, part);
}

fn reads_packages(values: &[Value]) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return false };
    let asks = matches!(
        words.first().copied(),
        Some(
            "-l" | "-L"
                | "-S"
                | "-s"
                | "-W"
                | "-p"
                | "--list"
                | "--listfiles"
                | "--search"
                | "--status"
                | "--show"
                | "--get-selections"
        )
    );
    asks && words[1..]
        .iter()
        .all(|word| !word.starts_with('-') || word.starts_with("-f=") || word.starts_with("--showformat="))
}

fn asks_for_no_names(base: &str, values: &[Value]) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return false };
    let says_so = |word: &str| match base {
        "lsof" => matches!(word, "-n" | "-nP" | "-Pn" | "-nPi"),
        _ => word.strip_prefix('-').is_some_and(|letters| {
            letters.contains('n') && letters.bytes().all(|byte| b"atnulpxwrse46i".contains(&byte))
        }),
    };
    // The option before it may take it as its value.
    let takes_next = |word: &str| {
        word.starts_with(['-', '+'])
            && word.ends_with(['A', 'D', 'K', 'c', 'd', 'e', 'k', 'm', 'o', 'p', 'u', 's', 'L', 'r'])
    };
    let is_said = |at: usize| says_so(words[at]) && !(base == "lsof" && at > 0 && takes_next(words[at - 1]));
    (0..words.len()).any(is_said) && !words.iter().any(|word| word.contains('@'))
}

//! Programs whose words mean more than options and operands.

mod archive;
mod files;
mod find;
mod network;

use crate::class::Class;
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
            judge.needs(&[("SYSTEMD_PAGER", "cat"), ("PAGER", "cat")], part);
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
        "dpkg" | "dpkg-query" if reads_packages(values) => {
            part.starts.push("dpkg-query".to_owned());
            judge.needs(&[("DPKG_PAGER", "cat"), ("PAGER", "cat")], part);
        }
        "stty"
            if values.is_empty()
                || values.iter().all(|value| {
                    matches!(value.text(), Some("-a" | "--all" | "-g" | "--save" | "size" | "speed"))
                }) => {}
        // Without it they ask for the names of other machines.
        "lsof" | "netstat" if asks_for_no_names(base, values) => {
            return options::judge(judge, base, values, part);
        }
        "lsof" | "netstat" => part.is(Class::Network, format!("{base} asks for the names of other machines")),
        "fuser"
            if !values.iter().any(|value| {
                value.text().is_none_or(|text| text.starts_with('-') && text.contains(['k', 'i', 'w', 'M']))
            }) =>
        {
            values
                .iter()
                .filter(|value| !value.text().is_some_and(|text| text.starts_with('-')))
                .for_each(|value| judge.path(value, Access::Read, part));
        }
        "mktemp" if values.first().is_some_and(|value| matches!(value.text(), Some("-u" | "--dry-run"))) => {}
        "tar" | "bsdtar" | "unzip" | "gzip" | "gunzip" | "zcat" | "xz" | "unxz" | "bzip2" | "bunzip2"
        | "ar" | "zstd"
            if archive::judge(judge, base, values, part) => {}
        "find" => find::judge(judge, values, part),
        "ps" => ps(values, part),
        "rm" | "rmdir" | "unlink" | "mkdir" | "touch" | "chmod" | "chown" | "chgrp" | "truncate"
        | "fallocate" | "mkfifo" | "mknod" | "shred" | "mktemp" | "sponge" => {
            files::changes(judge, base, values, part);
        }
        "tee" => files::tee(judge, values, part),
        "cp" | "mv" | "ln" | "install" | "link" => files::copies(judge, base, values, part),
        "jq" if program_imports(values) => {
            part.has(Class::Unknown, "the program of jq may read files that its text names");
        }
        _ if only_tells(judge, base, values) => {}
        _ if names::is("network", base) => network::network(judge, base, values, part),
        _ if names::is("builds", base) => {
            part.is(Class::Unknown, format!("{base} can change files and run what they say"));
            crate::forbidden::hidden(values, part);
        }
        _ => return false,
    }
    true
}

/// Whether a well-known program is asked for its version alone.
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
            | "gh"
            | "ssh"
            | "openssl"
            | "javac"
            | "patch"
            | "dpkg"
            | "apt"
    );
    // Files of the directory say which toolchain these start.
    let chooses = matches!(base, "cargo" | "rustc" | "rustfmt" | "rustdoc" | "go" | "npm" | "pip" | "pip3");
    // They read files of the home.
    let has_own_home =
        judge.situation().home().is_none_or(|home| !home.starts_with(judge.situation().workspace));
    asks && is_known && has_own_home && !(chooses && has_toolchain_file(judge))
}

fn has_toolchain_file(judge: &Judge<'_>) -> bool {
    const FILES: &[&str] = &[
        "rust-toolchain",
        "rust-toolchain.toml",
        "go.work",
        "go.mod",
        ".npmrc",
        ".python-version",
        ".tool-versions",
    ];
    let Some(cwd) = judge.state.cwd.as_deref() else { return true };
    cwd.ancestors().any(|directory| FILES.iter().any(|file| directory.join(file).symlink_metadata().is_ok()))
}

fn program_imports(values: &[Value]) -> bool {
    values
        .iter()
        .any(|value| value.text().is_none_or(|text| text.contains("import") || text.contains("include")))
}

/// `ps`: the letters of its older manner have other meanings, and one shows the environment of processes.
fn ps(values: &[Value], part: &mut Part) {
    for value in values {
        let Some(text) = value.text() else {
            part.has(Class::Unknown, "ps gets a word that is not known before it runs");
            continue;
        };
        let shows_environment = match text.strip_prefix('-') {
            Some(rest) if rest.starts_with('-') => {
                !matches!(
                    rest,
                    "-forest"
                        | "-no-headers"
                        | "-no-heading"
                        | "-help"
                        | "-version"
                        | "-headers"
                        | "-cumulative"
                ) && ![
                    "-sort=", "-pid=", "-ppid=", "-user=", "-format=", "-cols=", "-rows=", "-width=",
                    "-group=", "-tty=", "-sid=",
                ]
                .iter()
                .any(|known| rest.starts_with(known))
                    && !["-sort", "-pid", "-ppid", "-user", "-format", "-cols"].contains(&rest)
            }
            Some(_) => false,
            // A list of columns, users or processes, or letters.
            None => {
                text.contains('e')
                    && text.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && text.len() < 8
                    && !is_value(values, text)
            }
        };
        if shows_environment {
            part.has(Class::Unknown, format!("ps {text} may show the environment of processes"));
        }
    }
    let shows = values
        .iter()
        .filter_map(Value::text)
        .any(|text| text.split([',', '=']).any(|word| matches!(word, "environ" | "env")));
    if shows {
        part.has(Class::Unknown, "ps shows the environment of processes");
    }
}

/// Whether a word is the value of the option before it.
fn is_value(values: &[Value], text: &str) -> bool {
    let at = values.iter().position(|value| value.text() == Some(text));
    let before = at.and_then(|at| at.checked_sub(1)).and_then(|at| values[at].text());
    before.is_some_and(|before| {
        before.starts_with('-')
            && (before.ends_with(['o', 'p', 'u', 'U', 'C', 't', 'g', 'G', 'k', 'O', 's'])
                || matches!(before, "--sort" | "--pid" | "--ppid" | "--user" | "--format"))
    })
}

/// Whether a program of the base system is asked what it is.
fn tells_of_itself(base: &str, values: &[Value]) -> bool {
    let [value] = values else { return false };
    names::is("of-system", base) && matches!(value.text(), Some("--help" | "--version"))
}

/// A pager, of which a person at a terminal could have commands run.
fn less(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    judge.needs(&[("LESSSECURE", "1")], part);
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
    words.iter().any(|word| says_so(word)) && !words.iter().any(|word| word.contains('@'))
}

//! Queries of package managers and toolchains. They read files of the workspace that may name a program, and some fetch or record
//! something in the process: the queries that are allowed here do neither.

use super::has_own_home;
use crate::class::Class;
use crate::guards;
use crate::lookup::Lookup;
use crate::verdict::Part;
use crate::walk::Judge;
use crate::words::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The options of one query: those without a value, and those with one.
struct Options {
    plain: &'static [&'static str],
    valued: &'static [&'static str],
}

/// Returns the words of a command beside its options.
fn operands<'w>(words: &[&'w str], options: &Options) -> Option<Vec<&'w str>> {
    let mut operands = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            operands.push(word);
            continue;
        }
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let is_valued = options.valued.contains(&name);
        match value {
            None if options.plain.contains(&word) => {}
            None if is_valued => {
                words.next().filter(|value| !value.starts_with('-'))?;
            }
            Some(value) if is_valued && !value.is_empty() => {}
            _ => return None,
        }
    }
    Some(operands)
}

/// A name of a package, a feature or a tool: no path, and nothing that a program takes for more than a name.
fn is_name(word: &str) -> bool {
    !word.starts_with(['-', '.', '+'])
        && !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-+@/:".contains(&byte))
}

/// Judges such a program, if it is only queried. Returns true if it is.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return false };
    // They search for the programs that they start themselves.
    let workspace = judge.situation().workspace;
    let is_open = |directory: &PathBuf| !directory.is_absolute() || directory.starts_with(workspace);
    if !has_own_home(judge) || judge.situation().programs.directories().iter().any(is_open) {
        return false;
    }
    match base {
        "cargo" => cargo(judge, &words, part),
        "rustup" => rustup(judge, &words, part),
        "npm" => npm(judge, &words, part),
        "pip" | "pip3" => pip(judge, &words, part),
        "go" => go(judge, &words, part),
        "gh" => {
            let is_asked = matches!(words[..], ["--version" | "version"]) && !has_variable(judge, &["GH_"]);
            if is_asked {
                judge.needs(guards::GH, part);
            }
            is_asked
        }
        "man" | "apropos" | "whatis" => man(judge, base, &words, part),
        "java" => {
            let is_asked = matches!(words[..], ["-version" | "--version" | "-fullversion"])
                && !has_variable(judge, &["JAVA_TOOL_", "_JAVA_", "JDK_"]);
            if is_asked {
                // Without it Java writes a file of performance data.
                judge.needs(guards::JAVA, part);
            }
            is_asked
        }
        _ => false,
    }
}

/// Returns true if a variable whose name begins so, and that is not one of the usual ones, is in the environment or set by the
/// command.
fn has_variable(judge: &Judge<'_>, prefixes: &[&str]) -> bool {
    const USUAL: &[&str] = &["CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "GOPROXY"];
    let of_environment = judge.situation().env.keys();
    let names = of_environment.chain(judge.state.assigned.keys());
    names
        .filter(|name| !USUAL.contains(&name.as_str()))
        .any(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
}

/// Returns true if a variable of the environment names a directory of the workspace.
fn is_in_workspace(judge: &Judge<'_>, variable: &str) -> bool {
    let situation = judge.situation();
    situation.env.get(variable).is_some_and(|value| Path::new(value).starts_with(situation.workspace))
}

/// Returns the directories in which a program searches for files: the one that it runs in and those above it, except for the home.
/// `None` if they are unknown.
fn directories_above(judge: &Judge<'_>) -> Option<Vec<PathBuf>> {
    let cwd = judge.state.cwd.as_deref()?.canonicalize().ok()?;
    let home = judge.situation().home();
    Some(cwd.ancestors().filter(|above| home.as_deref() != Some(above)).map(Path::to_owned).collect())
}

/// Returns true if one of these files is in the directory, or above it.
fn has_file(judge: &Judge<'_>, names: &[&str]) -> bool {
    directories_above(judge).is_none_or(|directories| {
        directories
            .iter()
            .any(|directory| names.iter().any(|name| directory.join(name).symlink_metadata().is_ok()))
    })
}

fn cargo(judge: &mut Judge<'_>, words: &[&str], part: &mut Part) -> bool {
    const TREE: Options = Options {
        plain: &[
            "--locked",
            "--offline",
            "--frozen",
            "--workspace",
            "--all",
            "--no-dedupe",
            "-d",
            "--duplicates",
            "-i",
            "--invert",
            "--all-features",
            "--no-default-features",
            "-q",
            "--quiet",
            "-v",
            "--verbose",
        ],
        valued: &[
            "--depth",
            "-e",
            "--edges",
            "-p",
            "--package",
            "--prefix",
            "--charset",
            "-f",
            "--format",
            "--features",
            "-F",
            "--color",
            "--prune",
            "--exclude",
        ],
    };
    const METADATA: Options = Options {
        plain: &[
            "--locked",
            "--offline",
            "--frozen",
            "--no-deps",
            "--all-features",
            "--no-default-features",
            "-q",
            "--quiet",
            "-v",
            "--verbose",
        ],
        valued: &["--format-version", "--features", "-F", "--filter-platform", "--color"],
    };
    let (command, rest) = match words {
        [command, rest @ ..] => (*command, rest),
        [] => return false,
    };
    let operands = match command {
        "tree" => operands(rest, &TREE),
        "metadata" => operands(rest, &METADATA),
        _ => return false,
    };
    if !operands.is_some_and(|operands| operands.iter().all(|word| command == "tree" && is_name(word))) {
        return false;
    }
    let is_asked = |option: &str| {
        matches!(option, "--locked" | "--frozen") || command == "metadata" && option == "--no-deps"
    };
    if !rest.iter().any(|option| is_asked(option)) {
        part.is(Class::Write, format!("cargo {command} may write Cargo.lock: with --locked it does not"));
        return true;
    }
    let runs_another = has_variable(judge, &["CARGO_", "RUSTC", "RUSTUP_", "RUSTFLAGS", "RUSTDOC"])
        || ["CARGO_HOME", "RUSTUP_HOME"].iter().any(|variable| is_in_workspace(judge, variable))
        || has_file(judge, &["rust-toolchain", "rust-toolchain.toml", ".tool-versions"]);
    let is_plain = directories_above(judge).is_some_and(|directories| {
        let files = directories
            .iter()
            .flat_map(|directory| ["config", "config.toml"].map(|name| directory.join(".cargo").join(name)));
        files.into_iter().all(|file| is_harmless_configuration(&file))
    });
    if runs_another || !is_plain {
        part.is(Class::Code, "cargo may run a program that a file of the workspace names");
        return true;
    }
    part.starts.extend(["cargo", "rustc"].map(str::to_owned));
    judge.needs(guards::CARGO, part);
    true
}

/// Returns true if a configuration of cargo names no program: it only has sections that none is named in, written in the
/// plainest way.
fn is_harmless_configuration(file: &Path) -> bool {
    const LONGEST: u64 = 64 << 10;
    const SECTIONS: &[&str] =
        &["alias", "term", "net", "http", "profile", "future-incompat-report", "cargo-new"];
    const OF_BUILD: &[&str] = &["target-dir", "jobs", "incremental", "pipelining", "dep-info-basedir"];
    let text = match fs::metadata(file) {
        Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
        Ok(found) if found.is_file() && found.len() <= LONGEST => fs::read_to_string(file),
        Ok(_) => return false,
    };
    let Ok(text) = text else { return false };
    let mut section = None;
    text.lines().all(|line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return true;
        }
        // The line may continue in the next, or contain another one.
        if line.contains("\"\"\"") || line.contains("'''") || line.contains('\\') || line.contains('{') {
            return false;
        }
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = header.split('.').next().map(str::to_owned);
            return header.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        }
        let Some((key, value)) = line.split_once('=') else { return false };
        let (key, value) = (key.trim(), value.trim());
        let is_closed = !value.starts_with('[') || value.ends_with(']');
        let is_known = match section.as_deref() {
            Some("build") => OF_BUILD.contains(&key),
            Some(section) => SECTIONS.contains(&section),
            None => false,
        };
        is_closed && is_known && !value.is_empty()
    })
}

fn rustup(judge: &mut Judge<'_>, words: &[&str], part: &mut Part) -> bool {
    let is_asked = match words {
        ["show"]
        | ["show", "active-toolchain" | "home" | "profile"]
        | ["toolchain", "list"]
        | ["toolchain", "list", "-v" | "--verbose"]
        | ["component" | "target", "list", "--installed"] => true,
        ["which", program] => is_name(program),
        _ => false,
    };
    let is_own = is_asked
        && !has_variable(judge, &["RUSTUP_", "RUSTC"])
        && !is_in_workspace(judge, "RUSTUP_HOME")
        && !has_file(judge, &["rust-toolchain", "rust-toolchain.toml", ".tool-versions"]);
    if is_own {
        part.starts.push("rustc".to_owned());
        judge.needs(guards::RUSTUP, part);
    }
    is_own
}

fn npm(judge: &mut Judge<'_>, words: &[&str], part: &mut Part) -> bool {
    const LIST: Options = Options {
        plain: &[
            "-a",
            "--all",
            "--json",
            "-l",
            "--long",
            "-p",
            "--parseable",
            "--production",
            "--prod",
            "-g",
            "--global",
            "--link",
            "--package-lock-only",
            "--unicode",
            "--no-unicode",
        ],
        valued: &["--depth", "--omit", "--include"],
    };
    let ["ls" | "list" | "ll" | "la", rest @ ..] = words else { return false };
    let is_asked = operands(rest, &LIST).is_some_and(|operands| operands.iter().all(|word| is_package(word)))
        && !has_variable(judge, &["NPM_", "npm_", "NODE_"])
        && !has_file(judge, &[".npmrc"]);
    if is_asked {
        part.starts.extend(["env", "node"].map(str::to_owned));
        judge.needs(guards::NPM, part);
    }
    is_asked
}

/// A name of a package of npm, which may have a scope.
fn is_package(word: &str) -> bool {
    is_name(word.strip_prefix('@').unwrap_or(word)) && !word.contains(':') && !word.contains("..")
}

fn pip(judge: &mut Judge<'_>, words: &[&str], part: &mut Part) -> bool {
    const LIST: Options = Options {
        plain: &[
            "-l",
            "--local",
            "--user",
            "--not-required",
            "--exclude-editable",
            "--include-editable",
            "-e",
            "--editable",
            "-v",
            "--verbose",
            "-q",
            "--quiet",
        ],
        valued: &["--format", "--exclude"],
    };
    const SHOW: Options =
        Options { plain: &["-f", "--files", "-v", "--verbose", "-q", "--quiet"], valued: &[] };
    const FREEZE: Options = Options {
        plain: &["-l", "--local", "--user", "--all", "--exclude-editable", "-q", "--quiet"],
        valued: &["--exclude"],
    };
    let found = match words {
        ["list", rest @ ..] => operands(rest, &LIST).filter(Vec::is_empty),
        ["show", rest @ ..] => operands(rest, &SHOW).filter(|names| names.iter().all(|name| is_name(name))),
        ["freeze", rest @ ..] => operands(rest, &FREEZE).filter(Vec::is_empty),
        _ => None,
    };
    if found.is_none() || has_variable(judge, &["PIP_", "PYTHON"]) {
        return false;
    }
    if words[0] == "freeze" {
        // It queries these about packages installed from a directory, which contains their configuration.
        let runs = |name: &&str| !matches!(judge.situation().programs.find(name), Lookup::NotThere);
        if ["hg", "svn", "bzr"].iter().any(runs) {
            return false;
        }
        part.starts.push("git".to_owned());
    }
    part.starts.push("python3".to_owned());
    judge.needs(guards::PIP, part);
    true
}

fn go(judge: &mut Judge<'_>, words: &[&str], part: &mut Part) -> bool {
    const LIST: Options = Options {
        plain: &["-m", "-json", "-deps", "-test", "-e", "-find"],
        valued: &["-f", "-tags", "-json"],
    };
    let is_asked = match words {
        ["version"] => true,
        ["env", names @ ..] => {
            names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
        }
        ["list", rest @ ..] => {
            let is_pattern = |word: &&str| {
                is_name(word.trim_start_matches("./").trim_end_matches("...").trim_end_matches('/'))
                    || matches!(*word, "./..." | "..." | "." | "./")
            };
            // A template cannot name a file, but the words after it may be meant for another option.
            operands(rest, &LIST)
                .is_some_and(|operands| operands.iter().all(|word| is_pattern(word) && !word.contains('@')))
        }
        _ => false,
    };
    let is_own = is_asked
        && !has_variable(judge, &["GO", "CGO_", "CC", "CXX", "AR", "PKG_CONFIG"])
        && !["GOROOT", "GOPATH"].iter().any(|variable| is_in_workspace(judge, variable));
    if is_own {
        // No modules are fetched, no other release is started for a line of `go.mod`, and no repository is contacted.
        judge.needs(guards::GO, part);
    }
    is_own
}

fn man(judge: &mut Judge<'_>, base: &str, words: &[&str], part: &mut Part) -> bool {
    const OPTIONS: Options = Options {
        plain: &[
            "-k",
            "-f",
            "-w",
            "-a",
            "--apropos",
            "--whatis",
            "--where",
            "--path",
            "--all",
            "--version",
            "--help",
        ],
        valued: &[],
    };
    // With a slash it is a file, which is rendered with its own macros.
    let is_page = |word: &&str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:+[".contains(&byte);
        !word.starts_with(['.', '-']) && word.bytes().all(is_plain)
    };
    let is_asked = operands(words, &OPTIONS).is_some_and(|pages| pages.iter().all(is_page))
        && !has_variable(judge, &["MAN", "GROFF", "PAGER"]);
    if is_asked {
        if base == "man" {
            part.starts.extend(
                [
                    "cat", "col", "groff", "grotty", "gzip", "locale", "man", "nroff", "preconv", "tbl",
                    "troff", "zsoelim",
                ]
                .map(str::to_owned),
            );
        }
        // A page of an unusual width is not cached.
        judge.needs(guards::MAN, part);
    }
    is_asked
}

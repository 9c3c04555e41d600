//! `git`: the commands that only read, in a repository whose configuration cannot make them run something.

mod content;
mod danger;
mod history;
mod lines;
mod operands;
mod pathspec;
mod shown;

pub use history::attributes_may_show;

use crate::class::Class;
use crate::guards;
use crate::names;
use crate::options;
use crate::repository::{self, Looks};
use crate::situation::{Access, Decision};
use crate::verdict::{Ground, Part};
use crate::walk::Judge;
use crate::words::Value;
use std::path::Path;

/// Commands that an alias of the repository may take the place of.
const REPLACEABLE: &[&str] = &["whatchanged", "pack-redundant"];

/// Judges git. Returns true if the command is git.
pub(crate) fn judge(judge: &mut Judge<'_>, base: &str, values: &[Value], part: &mut Part) -> bool {
    if base != "git" {
        return false;
    }
    let cwd = judge.state.cwd.clone();
    git(judge, values, part);
    judge.state.cwd = cwd;
    true
}

fn git(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let mut at = 0;
    loop {
        let Some(value) = values.get(at) else {
            part.class = part.class.max(Class::GitRead);
            return;
        };
        let Some(text) = value.text() else {
            return part.has(Class::Code, "which command of git runs is not known before it does");
        };
        match text {
            "--help" | "-h" if at + 1 < values.len() => {
                return part.has(Class::Code, format!("git {text} runs the viewer of manuals"));
            }
            "--version" | "-v" | "--help" | "-h" | "--html-path" | "--man-path" | "--info-path"
            | "--exec-path" => {
                part.class = part.class.max(Class::GitRead);
                return;
            }
            "--no-pager"
            | "-P"
            | "--no-optional-locks"
            | "--no-replace-objects"
            | "--literal-pathspecs"
            | "--glob-pathspecs"
            | "--noglob-pathspecs"
            | "--icase-pathspecs"
            | "--no-lazy-fetch"
            | "--no-advice" => {}
            "-C" => {
                at += 1;
                let to = values.get(at).and_then(Value::text).and_then(|to| judge.absolute(to));
                if let Some(to) = &to {
                    judge.path(&Value::Text(to.to_string_lossy().into_owned()), Access::Read, part);
                }
                judge.state.cwd = to;
            }
            "-c" | "--config-env" => {
                at += 1;
                match values.get(at).and_then(Value::text) {
                    Some(setting) if is_harmless_setting(setting) => {}
                    _ => part.has(Class::Code, "git -c can make it run something"),
                }
            }
            text if text.starts_with("--config-env=") || text.starts_with("--exec-path=") => {
                part.has(
                    Class::Code,
                    format!("git {} can make it run something", text.split('=').next().unwrap_or(text)),
                );
            }
            "-p" | "--paginate" => part.has(Class::Code, "git --paginate runs the configured pager"),
            "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" | "--attr-source" => {
                at += 1;
                part.has(Class::Unknown, format!("git {text} takes another repository"));
            }
            text if text.starts_with('-') => {
                part.has(Class::Unknown, format!("git {text} is not known to only read"));
            }
            _ => break,
        }
        at += 1;
    }
    let name = values[at].text().unwrap_or_default();
    subcommand(judge, name, &values[at + 1..], part);
}

fn is_harmless_setting(setting: &str) -> bool {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = key.to_ascii_lowercase();
    (key.starts_with("color.") && !value.contains('!'))
        || key.starts_with("advice.")
        || matches!(
            key.as_str(),
            "core.quotepath"
                | "core.abbrev"
                | "log.date"
                | "log.decorate"
                | "diff.renames"
                | "diff.algorithm"
                | "column.ui"
                | "core.autocrlf"
                | "init.defaultbranch"
                | "user.name"
                | "user.email"
        )
        || (key == "core.pager" && matches!(value, "cat" | ""))
        || guards::GIT.arguments.split(' ').any(|argument| argument == setting)
}

fn subcommand(judge: &mut Judge<'_>, name: &str, values: &[Value], part: &mut Part) {
    if values.iter().any(|value| matches!(value.text(), Some("--help"))) {
        return part.has(Class::Code, "git --help runs the viewer of manuals");
    }
    danger::warn(name, values, part);
    content::judge(judge, name, values, part);
    let talks = name == "remote"
        && values.iter().any(|value| matches!(value.text(), Some("show" | "update" | "prune")));
    // An earlier permission did not cover the effect of an alias.
    if REPLACEABLE.contains(&name) {
        return part.has(Class::Code, format!("git {name} may be an alias that runs something"));
    }
    if names::is("git-network", name) || talks {
        return part.is(Class::Network, format!("git {name} speaks with other machines"));
    }
    if names::is("git-runs", name) {
        return part.is(Class::Code, format!("git {name} runs a configured program"));
    }
    let words: Vec<Option<&str>> = values.iter().map(Value::text).collect();
    let first = words.first().copied().flatten();
    let operands = words.iter().filter(|word| !word.is_some_and(|word| word.starts_with('-'))).count();
    let line = lines::line(name, first, &words, operands);
    let own = format!("git:{name}");
    let line = if line.is_empty() && !names::is("git-writes", name) { own.as_str() } else { line };
    let mut named = content::without_magic(name, values);
    // With these the index is written anew, which a contained command cannot.
    if name == "describe" && judge.situation().contained {
        let compares = |text: &str| {
            ["--dirty", "--broken"].iter().any(|option| {
                text == *option || text.strip_prefix(option).is_some_and(|mark| mark.starts_with('='))
            })
        };
        named.retain(|value| !value.text().is_some_and(compares));
    }
    if line.is_empty() || !options::judge(judge, line, &named, part) {
        if names::is("git-writes", name) {
            part.is(Class::GitWrite, format!("git {name} changes the repository, or the files in it"));
        } else {
            part.is(Class::Code, format!("git {name} is not known, and may be an alias that runs something"));
        }
        return;
    }
    if part.class == Class::Unknown && names::is("git-writes", name) {
        part.has(Class::GitWrite, format!("git {name} may change the repository with these options"));
    }
    part.class = part.class.max(Class::GitRead);
    if name == "submodule" {
        // The command is a script.
        part.starts.extend(
            ["basename", "git-sh-i18n--envsubst", "git-submodule", "sed", "sh", "uname"].map(str::to_owned),
        );
    }
    let signs = |text: &str| {
        text.contains("signature")
            || text.split('%').skip(1).any(|rest| {
                rest.starts_with('G') || (rest.starts_with(['+', '-', ' ']) && rest[1..].starts_with('G'))
            })
    };
    // After any word, which may or may not take them as its value.
    let harms = ["--outp", "--ext-d", "--textc", "--contents", "--open-f"];
    if values.iter().filter_map(Value::text).any(|text| harms.iter().any(|harm| text.starts_with(harm))) {
        part.has(Class::Unknown, "one of its words may have it write, run or read something else");
    }
    // Of a tag that names a file, these are its content.
    let shows_raw =
        |text: &str| ["raw)", "raw:"].iter().any(|atom| text.contains(atom)) && text.contains("%(");
    if values.iter().filter_map(Value::text).any(shows_raw) {
        part.has(Class::Unknown, "its format may show the content of a file");
    }
    if values.iter().filter_map(Value::text).any(signs) {
        part.has(Class::Code, "signatures are checked by a program that is configured");
    }
    if name == "diff" {
        compared(judge, values, part);
    }
    let guard = if matches!(name, "config" | "var") { guards::GIT_CONFIG } else { guards::GIT };
    judge.needs(guard, part);
    repository(judge, name, part);
}

/// Judges the comparison of two paths outside of the repository, which are read directly, directories file by file. A single path only
/// selects files of the repository.
fn compared(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let path = |value: &Value| value.text().and_then(|text| judge.absolute(text));
    let may_be_there = |value: &&Value| {
        value.text() == Some("-") || path(value).is_none_or(|path| path.symlink_metadata().is_ok())
    };
    let there: Vec<&Value> = values.iter().filter(may_be_there).collect();
    if there.len() < 2 {
        return;
    }
    let is_directory = |value: &&Value| path(value).is_some_and(|path| path.is_dir());
    let directories: Vec<&Value> = there.into_iter().filter(is_directory).collect();
    for directory in directories {
        judge.path(directory, Access::ReadTree { follows_links: true }, part);
    }
}

/// Checks whether the configuration of a repository can make a reading command run something.
fn repository(judge: &mut Judge<'_>, name: &str, part: &mut Part) {
    let situation = judge.situation();
    let mut ask = |text: String| part.because(Class::Code, Class::Code.decision(), Ground::Detail, text);
    for (variable, value) in situation.env {
        if variable.starts_with("GIT_") && crate::environment::is_of_program(variable) {
            ask(format!("{variable} is in the environment, and changes what git does"));
        }
        let is_inside = |path: &Path| path.starts_with(situation.workspace);
        if variable == "XDG_CONFIG_HOME"
            && (is_inside(Path::new(value))
                || Path::new(value).canonicalize().is_ok_and(|real| is_inside(&real)))
        {
            ask("git's own configuration is in the workspace".to_owned());
        }
    }
    let Some(cwd) = judge.state.cwd.as_deref() else {
        return ask("the directory in which git runs is not known before it does".to_owned());
    };
    let looks = Looks {
        into_submodules: reads_work_tree(name),
        through_filters: !reads_no_file(name),
        contained: situation.contained,
    };
    let (mut directories, mut files) = (Vec::new(), Vec::new());
    for checked in judge.repositories.around(cwd, looks) {
        match checked {
            Ok(used) => {
                directories.extend(used.directories);
                files.extend(used.files);
            }
            Err(why) => ask(why),
        }
    }
    if let Some(home) = situation.home().filter(|home| home.starts_with(situation.workspace)) {
        for file in [home.join(".gitconfig"), home.join(".config/git/config")] {
            match repository::check_file(&file, looks) {
                Ok(named) => files.extend(named),
                Err(why) => ask(why),
            }
        }
    }
    // The content of a repository is read as well, wherever it is.
    let decisions = directories.iter().map(|path| (path, (situation.decide)(path, Access::Repository)));
    let outside: Vec<_> = decisions.filter(|(_, decision)| *decision != Decision::Allow).collect();
    for (path, decision) in outside {
        part.because(
            Class::GitRead,
            decision,
            Ground::Path,
            format!("it reads the repository {}", path.display()),
        );
    }
    for file in files {
        judge.path(&Value::Text(file.to_string_lossy().into_owned()), Access::Read, part);
    }
}

/// Returns true if a command reads the files of the work tree, and so of submodules.
fn reads_work_tree(name: &str) -> bool {
    matches!(
        name,
        "status"
            | "diff"
            | "diff-files"
            | "diff-index"
            | "describe"
            | "stash"
            | "ls-files"
            | "grep"
            | "log"
            | "show"
            | "whatchanged"
            | "submodule"
    )
}

/// Returns true if a command reads only committed content and the names of files, for which no filters run.
fn reads_no_file(name: &str) -> bool {
    matches!(
        name,
        "branch"
            | "cat-file"
            | "check-ignore"
            | "cherry"
            | "config"
            | "count-objects"
            | "diff-tree"
            | "for-each-ref"
            | "fsck"
            | "log"
            | "ls-tree"
            | "merge-base"
            | "name-rev"
            | "notes"
            | "range-diff"
            | "reflog"
            | "remote"
            | "rev-list"
            | "rev-parse"
            | "shortlog"
            | "show"
            | "show-branch"
            | "show-ref"
            | "symbolic-ref"
            | "tag"
            | "var"
            | "version"
            | "worktree"
    )
}

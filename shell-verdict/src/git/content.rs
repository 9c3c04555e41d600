//! What of tracked files a command of git shows: the same is decided of it as of a program that reads the files.

use super::index::Entry;
use super::pathspec::Pathspecs;
use super::tracked::Tracked;
use crate::class::Class;
use crate::situation::{Access, Decision};
use crate::verdict::{Ground, Part};
use crate::walk::Judge;
use crate::words::Value;
use std::path::{Path, PathBuf};

/// So many files are named as reasons.
const MOST_NAMED: usize = 20;

/// Options that have a difference shown line by line.
const PATCH: &[&str] = &[
    "--patch",
    "--patch-with-stat",
    "--patch-with-raw",
    "--unified",
    "--word-diff",
    "--word-diff-regex",
    "--color-words",
    "--function-context",
    "--binary",
    "--cc",
    "--dd",
    "--combined-all-paths",
    "--check",
    "--diff-merges",
    "--remerge-diff",
    "--ext-diff",
    "--textconv",
    "--submodule",
];

/// Options that have something shown in place of it.
const NAMES: &[&str] = &[
    "-s",
    "--no-patch",
    "--stat",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--compact-summary",
    "--summary",
    "--name-only",
    "--name-status",
    "--raw",
    "--quiet",
];

/// Options that take no word after them, so that the next may be a path.
const PLAIN: &[&str] = &[
    "-p",
    "-u",
    "--patch",
    "--cached",
    "--staged",
    "-w",
    "-b",
    "-R",
    "-M",
    "-C",
    "-a",
    "--text",
    "-i",
    "-W",
    "--color",
    "--no-color",
    "--oneline",
    "--graph",
    "--all",
    "--word-diff",
    "--color-words",
    "--no-ext-diff",
    "--no-textconv",
    "--stat",
    "--numstat",
    "--shortstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--no-patch",
    "-s",
    "--raw",
    "--follow",
    "--reverse",
    "--no-merges",
    "--merges",
    "--first-parent",
    "--merge-base",
    "--exit-code",
    "--quiet",
    "--minimal",
    "--patience",
    "--histogram",
    "--no-renames",
    "--function-context",
    "--ignore-all-space",
    "--ignore-space-change",
    "--no-index",
    "--no-prefix",
];

/// What a command shows of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    Nothing,
    /// The content of those that its words select.
    Content,
}

/// Judges what a command of git shows of tracked files.
pub(super) fn judge(judge: &mut Judge<'_>, name: &str, values: &[Value], part: &mut Part) {
    follows_lines(judge, name, values, part);
    if shows(name, values) == Shows::Nothing {
        return;
    }
    let skipped = skipped(name, values);
    objects(judge, &values[skipped..], part);
    if names_only_objects(name, &values[skipped..]) {
        return;
    }
    let Some(cwd) = judge.state.cwd.clone() else { return };
    let cwd = cwd.canonicalize().unwrap_or(cwd);
    for tracked in judge.repositories.tracked(&cwd) {
        let prefix = cwd.strip_prefix(&tracked.root).unwrap_or(Path::new(""));
        let specs = if has_other_pathspecs(part) {
            Pathspecs::default()
        } else {
            Pathspecs::read(pathspecs(judge, name, values), prefix)
        };
        let of_work_tree = is_of_work_tree(judge, name, values);
        for path in asked(judge, &tracked, &specs, of_work_tree, part) {
            judge.path(&Value::Text(path.to_string_lossy().into_owned()), Access::Read, part);
        }
    }
}

/// The tracked files that are selected and not simply read.
fn asked(
    judge: &Judge<'_>,
    tracked: &Tracked,
    specs: &Pathspecs,
    of_work_tree: bool,
    part: &mut Part,
) -> Vec<PathBuf> {
    if let Err(why) = &tracked.files {
        let why = format!("which files it shows is not known: {why}");
        part.because(Class::GitRead, Decision::Ask, Ground::Detail, why);
    }
    let situation = judge.situation();
    // That the repository is outside is decided by itself, so only the name of a file counts there.
    let is_outside = !tracked.root.starts_with(situation.workspace)
        && !situation.workspace.canonicalize().is_ok_and(|workspace| tracked.root.starts_with(workspace));
    let root = if is_outside { situation.workspace } else { &tracked.root };
    let is_asked = |file: &Entry| (situation.decide)(&root.join(&file.name), Access::Read) != Decision::Allow;
    tracked
        .asked(is_asked)
        .filter(|file| specs.may_mean(&file.name.to_string_lossy()))
        // Without a revision only what was changed since is shown.
        .filter(|file| !(of_work_tree && tracked.is_unchanged(file)))
        .take(MOST_NAMED)
        .map(|file| tracked.root.join(&file.name))
        .collect()
}

fn shows(name: &str, values: &[Value]) -> Shows {
    let first = values.first().and_then(Value::text);
    let shows_content = match name {
        "diff" | "difftool" | "range-diff" | "format-patch" => !has(values, NAMES) || has_patch(values),
        "show" => !has(values, NAMES) || has_patch(values) || may_name_blob(values),
        "log" | "reflog" | "whatchanged" | "diff-tree" | "diff-index" | "diff-files" => has_patch(values),
        "stash" => match first {
            // By configuration it shows more than the names.
            Some("show") => !has(values, NAMES) || has_patch(values),
            Some("list") => has_patch(values),
            _ => false,
        },
        "status" => values.iter().any(|value| match value.text() {
            Some(text) => {
                let is_cluster = text.starts_with('-') && !text.starts_with("--");
                let letters = text.split('u').next().unwrap_or_default();
                is_cluster && letters.contains('v') || text.len() > 2 && "--verbose".starts_with(text)
            }
            None => value.may_be_option(),
        }),
        "archive" => !has(values, &["-l", "--list"]),
        "bundle" => first == Some("create"),
        "fast-export" | "merge-tree" | "grep" => true,
        "am" | "rebase" => values.iter().filter_map(Value::text).any(|text| text.starts_with("--show")),
        "cat-file" => shows_object(values),
        _ => false,
    };
    if shows_content { Shows::Content } else { Shows::Nothing }
}

/// Returns true if one of the words is one of these options, with or without a value.
fn has(values: &[Value], options: &[&str]) -> bool {
    before_end(values).filter_map(Value::text).any(|text| {
        let name = text.split('=').next().unwrap_or(text);
        options.contains(&name)
    })
}

fn before_end(values: &[Value]) -> impl Iterator<Item = &Value> {
    values.iter().take_while(|value| value.text() != Some("--"))
}

/// Returns true if one of the words may have differences shown line by line.
fn has_patch(values: &[Value]) -> bool {
    before_end(values).any(|value| {
        let Some(text) = value.text() else { return value.may_be_option() };
        if let Some(long) = text.strip_prefix("--") {
            let name = text.split('=').next().unwrap_or(text);
            // The beginning of an option stands for it.
            return long.len() > 1 && name != "--color" && PATCH.iter().any(|patch| patch.starts_with(name));
        }
        let Some(letters) = text.strip_prefix('-') else { return false };
        // What follows one that takes a value is that.
        let end = letters.find(|c: char| "SGLOIMCBlnX".contains(c)).unwrap_or(letters.len());
        letters[..end].contains(['p', 'u', 'U', 'c', 'W'])
    })
}

/// Returns true if a word is a hash, which may be that of a file.
fn may_name_blob(values: &[Value]) -> bool {
    let is_hash = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    before_end(values).any(|value| match value.text() {
        Some(text) => is_hash(text) || text.contains(':'),
        None => true,
    })
}

fn shows_object(values: &[Value]) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return true };
    let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
    let names = |word: &str| word.split('=').next().unwrap_or(word).to_owned();
    if words.iter().any(|word| {
        matches!(names(word).as_str(), "--batch" | "--batch-command" | "--textconv" | "--filters")
    }) {
        return true;
    }
    if has(&["-t", "-s", "-e"]) || words.iter().any(|word| names(word) == "--batch-check") {
        return false;
    }
    let mut operands = words.iter().filter(|word| !word.starts_with('-'));
    if !has(&["-p"]) && matches!(words.first(), Some(&("commit" | "tree" | "tag"))) {
        return false;
    }
    // A commit or a directory has no content of a file.
    !operands.all(|word| {
        let is_commit = word.starts_with("HEAD") && !word.contains(':');
        is_commit || word.ends_with("^{tree}") || word.ends_with("^{commit}")
    })
}

/// The paths that are named in a revision, as in `HEAD:path`.
fn objects(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let Some(root) = root(judge) else { return };
    for value in values.iter().take_while(|value| value.text() != Some("--")) {
        let (text, is_known) = match value {
            Value::Text(text) => (text, true),
            Value::Unknown { prefix, .. } => (prefix, false),
            Value::Below { .. } => continue,
        };
        let is_option = text.starts_with('-');
        // A message that is looked for, or a pathspec.
        if is_option || text.starts_with(":/") || text.starts_with(":(") {
            continue;
        }
        let from = |path: &str| {
            if path.starts_with("./") || path.starts_with("../") { None } else { Some(root.join(path)) }
        };
        for (at, _) in text.match_indices(':') {
            let path = &text[at + 1..];
            if !is_known {
                judge.path(&Value::Unknown { prefix: path.to_owned(), splits: false }, Access::Read, part);
            } else if !path.is_empty() && !path.starts_with('/') {
                let path =
                    from(path).map_or_else(|| path.to_owned(), |path| path.to_string_lossy().into_owned());
                judge.path(&Value::Text(path), Access::Read, part);
            }
        }
    }
}

/// The files of `log -L 1,5:path`, which shows their lines.
fn follows_lines(judge: &mut Judge<'_>, name: &str, values: &[Value], part: &mut Part) {
    if !matches!(name, "log" | "show" | "whatchanged" | "reflog") {
        return;
    }
    let mut waiting = values.iter();
    while let Some(value) = waiting.next() {
        let Some(text) = value.text() else { continue };
        let range = match text.strip_prefix("-L") {
            Some("") => match waiting.next() {
                Some(next) => next.clone(),
                None => return,
            },
            Some(range) => Value::Text(range.to_owned()),
            None => continue,
        };
        let Some(range) = range.text() else {
            judge.path(&range, Access::Read, part);
            continue;
        };
        // A pattern before it may hold such a sign, too.
        for (at, _) in range.match_indices(':').skip(usize::from(range.starts_with(':'))) {
            judge.path(&Value::Text(range[at + 1..].to_owned()), Access::Read, part);
        }
    }
}

/// How many words come before those that name something: what is done, or the pattern of a search.
fn skipped(name: &str, values: &[Value]) -> usize {
    let is_operand = |value: &Value| !value.text().is_some_and(|text| text.starts_with('-'));
    let gives_pattern = |value: &Value| {
        value.text().is_some_and(|text| text.starts_with("-e") || text.starts_with("-f") && text.len() == 2)
    };
    match name {
        "grep" if !values.iter().any(gives_pattern) => {
            values.iter().position(is_operand).map_or(values.len(), |at| at + 1)
        }
        "stash" | "bundle" => 1.min(values.len()),
        "cat-file" if values.first().is_some_and(is_operand) && values.len() > 1 => 1,
        _ => 0,
    }
}

/// Returns true if all that is shown is files that the words name by their paths in a revision.
fn names_only_objects(name: &str, values: &[Value]) -> bool {
    let is_object = |value: &Value| {
        value.text().is_some_and(|text| {
            text.contains(':') && !text.starts_with(":/") && !text.contains("^{") && !text.contains("@{")
        })
    };
    let mut operands = values.iter().filter(|value| !value.text().is_some_and(|text| text.starts_with('-')));
    let is_one = matches!(name, "show" | "diff" | "cat-file");
    let reads_input = |value: &Value| value.text().is_some_and(|text| text.starts_with("--batch"));
    is_one && operands.clone().next().is_some() && operands.all(is_object) && !values.iter().any(reads_input)
}

/// Where the work tree begins.
fn root(judge: &Judge<'_>) -> Option<PathBuf> {
    let cwd = judge.state.cwd.as_deref()?;
    let begun = |directory: &&Path| directory.join(".git").symlink_metadata().is_ok();
    Some(cwd.ancestors().find(begun).unwrap_or(cwd).to_owned())
}

/// Returns true if options before the command say how pathspecs are read.
fn has_other_pathspecs(part: &Part) -> bool {
    part.words.iter().flatten().any(|word| word.starts_with("--") && word.ends_with("-pathspecs"))
}

/// The words that select files.
fn pathspecs<'v>(judge: &Judge<'_>, name: &str, values: &'v [Value]) -> Vec<Option<&'v str>> {
    let end = values.iter().position(|value| value.text() == Some("--"));
    if let Some(end) = end {
        let is_end = end.checked_sub(1).is_none_or(|before| takes_none(name, &values[before]));
        let after = if is_end { &values[end + 1..] } else { &[] };
        return after.iter().map(Value::text).collect();
    }
    let selects = |at: usize| {
        let text = values[at].text()?;
        let is_first = at == 0 || takes_none(name, &values[at - 1]);
        (is_first && !text.starts_with('-') && may_be_path(judge, text)).then_some(Some(text))
    };
    (skipped(name, values)..values.len()).filter_map(selects).collect()
}

/// Returns true if a word takes none after it for its value.
fn takes_none(name: &str, value: &Value) -> bool {
    const OF_GREP: &[&str] = &["-n", "-l", "-E", "-F", "-P", "-G", "-h", "-H", "-c", "-o", "-q", "-I", "-v"];
    value.text().is_some_and(|text| {
        let is_number = text.len() > 1 && text[1..].bytes().all(|byte| byte.is_ascii_digit());
        !text.starts_with('-')
            || text.contains('=')
            || PLAIN.contains(&text)
            || is_number
            || text.strip_prefix("-U").is_some_and(|lines| !lines.is_empty())
            || name == "grep" && OF_GREP.contains(&text)
    })
}

/// Returns true if git takes a word for a path. What could be a revision too, it refuses.
fn may_be_path(judge: &Judge<'_>, text: &str) -> bool {
    let is_magic = [":!", ":^", ":("].iter().any(|magic| text.starts_with(magic));
    let has_wildcard = text.contains(['*', '?']) && !text.contains("^{") && !text.contains(':');
    is_magic || has_wildcard || judge.absolute(text).is_some_and(|path| path.symlink_metadata().is_ok())
}

/// Returns true if the files of the work tree are compared with the index, and with nothing else.
fn is_of_work_tree(judge: &Judge<'_>, name: &str, values: &[Value]) -> bool {
    matches!(name, "diff" | "diff-files" | "difftool")
        && before_end(values).enumerate().all(|(at, value)| match value.text() {
            Some(text) if text.starts_with('-') => {
                takes_none(name, value)
                    && !["--ca", "--stag", "--merge", "--no-index"]
                        .iter()
                        .any(|other| text.starts_with(other))
            }
            Some(text) => (at == 0 || takes_none(name, &values[at - 1])) && may_be_path(judge, text),
            None => false,
        })
}

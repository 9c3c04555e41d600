//! The content of tracked files that a command of git shows: the same is decided of it as of a program that reads the files.

use super::history;
use super::operands::{is_of_work_tree, is_pathspec, may_be_path, takes_none};
use super::pathspec::Pathspecs;
use super::shown::{Shows, before_end, may_name_object, shows};
use crate::class::Class;
use crate::repository::{Entry, Tracked};
use crate::situation::{Access, Decision};
use crate::verdict::{Ground, Part};
use crate::walk::Judge;
use crate::words::Value;
use std::path::{Path, PathBuf};

/// Maximum number of files listed as reasons.
const MAX_NAMED: usize = 20;

/// Judges the output of tracked files by a git command.
pub(super) fn judge(judge: &mut Judge<'_>, name: &str, values: &[Value], part: &mut Part) {
    follows_lines(judge, name, values, part);
    if shows(name, values) == Shows::Nothing {
        return;
    }
    let skipped = skipped(name, values);
    objects(judge, &values[skipped..], part);
    history::judge(judge, name, values, skipped, part);
    let is_of_all = is_of_all(name, &values[skipped..]);
    if !is_of_all && names_only_objects(name, &values[skipped..]) {
        return;
    }
    let Some(cwd) = judge.state.cwd.clone() else { return };
    let cwd = cwd.canonicalize().unwrap_or(cwd);
    for tracked in judge.repositories.tracked(&cwd) {
        let prefix = cwd.strip_prefix(&tracked.root).unwrap_or(Path::new(""));
        let specs = if is_of_all || has_other_pathspecs(part) {
            Pathspecs::default()
        } else {
            Pathspecs::read(pathspecs(judge, name, values), prefix)
        };
        let of_work_tree = !is_of_all && is_of_work_tree(judge, name, values);
        for path in asked(judge, &tracked, &specs, of_work_tree, part) {
            judge.path(&Value::Text(path.to_string_lossy().into_owned()), Access::Read, part);
        }
    }
}

/// Returns true if a command may show other files than its pathspecs select.
fn is_of_all(name: &str, values: &[Value]) -> bool {
    // The first shows all files of a commit, the second those that a file was renamed or copied from, and the third reads further paths
    // and objects.
    const WIDENING: &[&str] = &["--full-diff", "--follow", "--stdin"];
    // Pathspecs begin anew in a directory that a hash or `HEAD:directory` names, and such a file is compared with a path.
    let takes_objects =
        matches!(name, "diff" | "difftool" | "diff-tree" | "diff-index" | "grep" | "archive" | "range-diff");
    let is_object = |text: &str| takes_objects && !is_pathspec(text) && may_name_object(text);
    // The difference that `status` shows is of all files, whatever paths it gets.
    name == "status"
        || before_end(values)
            .filter_map(Value::text)
            .any(|text| WIDENING.contains(&text) || !text.starts_with('-') && is_object(text))
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
    // That the repository is outside is decided separately, so only the name of a file counts there.
    let is_outside = !tracked.root.starts_with(situation.workspace)
        && !situation.workspace.canonicalize().is_ok_and(|workspace| tracked.root.starts_with(workspace));
    let root = if is_outside { situation.workspace } else { &tracked.root };
    let is_asked = |file: &Entry| (situation.decide)(&root.join(&file.name), Access::Read) != Decision::Allow;
    tracked
        .asked(is_asked)
        .filter(|file| specs.may_mean(&file.name.to_string_lossy()))
        // Without a revision only changed files are shown.
        .filter(|file| !(of_work_tree && tracked.is_unchanged(file)))
        .take(MAX_NAMED)
        .map(|file| tracked.root.join(&file.name))
        .collect()
}

/// The paths that are named in a revision, as in `HEAD:path`.
fn objects(judge: &mut Judge<'_>, values: &[Value], part: &mut Part) {
    let Some(root) = root(judge) else { return };
    let named = values.iter().take_while(|value| value.text() != Some("--")).flat_map(|value| match value {
        Value::Text(text) => vec![(text.as_str(), true)],
        Value::Listed(texts) => texts.iter().map(|text| (text.as_str(), true)).collect(),
        Value::Unknown { prefix, .. } => vec![(prefix.as_str(), false)],
        Value::Below { .. } => Vec::new(),
    });
    for (text, is_known) in named {
        let is_option = text.starts_with('-');
        // A message to search for, or a pathspec.
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
    if !matches!(name, "log" | "show" | "whatchanged" | "reflog" | "stash") {
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
        // A pattern before it may contain such a character, too.
        for (at, _) in range.match_indices(':').skip(usize::from(range.starts_with(':'))) {
            judge.path(&Value::Text(range[at + 1..].to_owned()), Access::Read, part);
        }
    }
}

/// Returns the number of words before the operands: the action, or the pattern of a search.
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
    let is_object = |value: &Value| value.text().is_some_and(is_path_of_revision);
    let mut operands = values.iter().filter(|value| !value.text().is_some_and(|text| text.starts_with('-')));
    let is_one = matches!(name, "show" | "cat-file");
    let reads_input = |value: &Value| value.text().is_some_and(|text| text.starts_with("--batch"));
    is_one && operands.clone().next().is_some() && operands.all(is_object) && !values.iter().any(reads_input)
}

/// Returns true if a word can only be a path in a revision or in the index. Git reads another word with a colon as a pathspec if it is no
/// revision: one with magic, or with a wildcard.
fn is_path_of_revision(text: &str) -> bool {
    let Some((revision, path)) = text.split_once(':') else { return false };
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._/~^+-#".contains(character);
    let begins = path.starts_with(|first: char| first.is_ascii_alphanumeric() || "._".contains(first));
    revision.chars().all(is_plain) && begins && !text.contains(['*', '?', '[', '\\'])
}

/// Returns the root of the work tree.
fn root(judge: &Judge<'_>) -> Option<PathBuf> {
    let cwd = judge.state.cwd.as_deref()?;
    let begun = |directory: &&Path| directory.join(".git").symlink_metadata().is_ok();
    Some(cwd.ancestors().find(begun).unwrap_or(cwd).to_owned())
}

/// Returns true if options before the command change the interpretation of pathspecs.
fn has_other_pathspecs(part: &Part) -> bool {
    part.words.iter().flatten().any(|word| word.starts_with("--") && word.ends_with("-pathspecs"))
}

/// Returns the words of a command, with a replacement for each pathspec with magic, whose text is not a file name. The
/// tracked files that it selects were judged; of other files a search counts as reading all, if it reads any.
pub(super) fn without_magic(name: &str, values: &[Value]) -> Vec<Value> {
    let reads_others = name == "grep"
        && values
            .iter()
            .filter_map(Value::text)
            .any(|text| text.starts_with("--un") || text.starts_with("--no-in"));
    let other = if reads_others { "." } else { "/dev/null" };
    let has_magic = |value: &Value| value.text().is_some_and(is_pathspec);
    let replaced = values
        .iter()
        .map(|value| if has_magic(value) { Value::Text(other.to_owned()) } else { value.clone() });
    replaced.collect()
}

/// Returns the words that select files.
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

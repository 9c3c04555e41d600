//! The part of files that a command of git shows: their content, or only names, numbers and messages.

use crate::words::Value;

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

/// The part of files that a command shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shows {
    Nothing,
    /// The content of the files that its words select.
    Content,
}

/// Returns the part of files that a command shows, by its words.
pub(super) fn shows(name: &str, values: &[Value]) -> Shows {
    let first = values.first().and_then(Value::text);
    let shows_content = match name {
        "diff" | "difftool" | "range-diff" | "format-patch" => !has(values, NAMES) || has_patch(values),
        "show" => !has(values, NAMES) || has_patch(values) || may_show_blob(values),
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

pub(super) fn before_end(values: &[Value]) -> impl Iterator<Item = &Value> {
    values.iter().take_while(|value| value.text() != Some("--"))
}

/// Returns true if one of the words may have differences shown line by line.
fn has_patch(values: &[Value]) -> bool {
    before_end(values).any(|value| {
        let Some(text) = value.text() else { return value.may_be_option() };
        if let Some(long) = text.strip_prefix("--") {
            let name = text.split('=').next().unwrap_or(text);
            // A prefix of an option is accepted for it.
            return long.len() > 1 && name != "--color" && PATCH.iter().any(|patch| patch.starts_with(name));
        }
        let Some(letters) = text.strip_prefix('-') else { return false };
        // The text after an option with a value is the value.
        let end = letters.find(|c: char| "SGLOIMCBlnX".contains(c)).unwrap_or(letters.len());
        // The lines of a range are shown as they changed.
        letters[end..].starts_with('L') || letters[..end].contains(['p', 'u', 'U', 'c', 'W'])
    })
}

/// Returns true if one of the objects that `show` gets may be a file, whose content it shows with any options.
fn may_show_blob(values: &[Value]) -> bool {
    before_end(values).any(|value| match value.text() {
        Some("--stdin") | None => true,
        Some(text) => !text.starts_with('-') && may_name_object(text),
    })
}

/// Returns true if a word may name a file or a directory of a commit: by its path, or by a hash, as in `1234abcd^{blob}` and `v1-g1234abcd`.
pub(super) fn may_name_object(text: &str) -> bool {
    text.contains(':') || hashes(text).next().is_some()
}

/// Returns the parts of a word that may be hashes, or the beginnings of hashes.
pub(super) fn hashes(text: &str) -> impl Iterator<Item = &str> {
    let is_hash = |text: &&str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let names = text.split(|c: char| !c.is_ascii_alphanumeric());
    names.map(|name| name.strip_prefix('g').unwrap_or(name)).filter(is_hash)
}

fn shows_object(values: &[Value]) -> bool {
    let words: Option<Vec<&str>> = values.iter().map(Value::text).collect();
    let Some(words) = words else { return true };
    let has = |options: &[&str]| words.iter().any(|word| options.contains(word));
    let names = |word: &str| word.split('=').next().unwrap_or(word).to_owned();
    if words.iter().any(|word| {
        word.starts_with("--batch") && names(word) != "--batch-check"
            || matches!(names(word).as_str(), "--textconv" | "--filters")
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

//! The operands of a git command: paths or revisions.

use super::shown::before_end;
use crate::names;
use crate::walk::Judge;
use crate::words::Value;

/// Returns true if a word is a pathspec with magic.
pub(super) fn is_pathspec(text: &str) -> bool {
    [":!", ":^", ":("].iter().any(|magic| text.starts_with(magic))
}

/// Returns true if a word takes none after it for its value.
pub(super) fn takes_none(name: &str, value: &Value) -> bool {
    const OF_GREP: &[&str] = &["-n", "-l", "-E", "-F", "-P", "-G", "-h", "-H", "-c", "-o", "-q", "-I", "-v"];
    value.text().is_some_and(|text| {
        let is_number = text.len() > 1 && text[1..].bytes().all(|byte| byte.is_ascii_digit());
        !text.starts_with('-')
            || text.contains('=')
            || names::is("git-options-plain", text)
            || is_number
            || text.strip_prefix("-U").is_some_and(|lines| !lines.is_empty())
            || name == "grep" && OF_GREP.contains(&text)
    })
}

/// Returns true if git reads a word as a path. It refuses a word that could also be a revision.
pub(super) fn may_be_path(judge: &Judge<'_>, text: &str) -> bool {
    let has_wildcard = text.contains(['*', '?']) && !text.contains("^{") && !text.contains(':');
    is_pathspec(text)
        || has_wildcard
        || judge.absolute(text).is_some_and(|path| path.symlink_metadata().is_ok())
}

/// Returns true if the files of the work tree are compared with the index, and with nothing else.
pub(super) fn is_of_work_tree(judge: &Judge<'_>, name: &str, values: &[Value]) -> bool {
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

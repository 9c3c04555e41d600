//! Git commands that destroy data irrecoverably, or run another program.

use crate::class::Class;
use crate::verdict::Part;
use crate::words::Value;

/// Warns of a command that destroys something.
pub(super) fn warn(name: &str, values: &[Value], part: &mut Part) {
    let words: Vec<&str> = values.iter().filter_map(Value::text).collect();
    let has = |options: &[&str]| {
        let is = |word: &str, option: &str| {
            word == option || (word.len() > 4 && word.starts_with("--") && option.starts_with(word))
        };
        words.iter().any(|word| options.iter().any(|option| is(word, option)))
    };
    let has_short = |letter: char| {
        words
            .iter()
            .take_while(|word| **word != "--")
            .any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let what = match name {
        "push"
            if has(&["--force", "--delete", "--mirror", "--prune", "--force-if-includes"])
                || has_short('f')
                || has_short('d')
                || words.iter().any(|word| {
                    word.starts_with("--force-with-lease") || word.starts_with('+') || word.starts_with(':')
                }) =>
        {
            "it changes or deletes commits that others may have"
        }
        "reset" if has(&["--hard", "--merge", "--keep"]) => "it throws away changes",
        "clean" if !has(&["-n", "--dry-run"]) => "it deletes files that git does not know",
        "checkout"
            if has(&["--", ".", "-f", "--force", "--ours", "--theirs"])
                || has_short('f')
                || has_short('B') =>
        {
            "it throws away changes"
        }
        "restore" if !has(&["--staged"]) || has(&["--worktree"]) || has_short('W') => {
            "it throws away changes"
        }
        "switch" if has(&["-f", "--force", "--discard-changes"]) || has_short('C') => {
            "it throws away changes"
        }
        "branch"
            if has(&["-D", "-M", "-C"])
                || has_short('D')
                || (has(&["--delete"]) || has_short('d')) && (has(&["--force"]) || has_short('f'))
                || has_short('f') =>
        {
            "it deletes or moves a branch"
        }
        "tag" if has(&["-d", "--delete", "-f", "--force"]) => "it deletes or moves a tag",
        "filter-branch" | "filter-repo" => "it rewrites what was committed",
        "reflog" if has(&["expire", "delete", "drop"]) => "it deletes the log that can restore commits",
        "stash" if has(&["drop", "clear"]) => "it deletes stashed changes",
        "gc" if words.iter().any(|word| word.starts_with("--prune")) => "it deletes unreachable objects",
        "prune" => "it deletes unreachable objects",
        "update-ref" if has(&["-d", "--stdin"]) => "it deletes a reference",
        "worktree" if has(&["remove"]) && (has(&["--force"]) || has_short('f')) => {
            "it deletes a directory with its changes"
        }
        "rm" if has(&["-f", "--force"]) || has_short('f') => "it deletes files with their changes",
        "submodule" if has(&["deinit"]) && (has(&["--force"]) || has_short('f')) => {
            "it deletes a directory with its changes"
        }
        "rebase" if has(&["--exec", "-x"]) || words.iter().any(|word| word.starts_with("--exec=")) => {
            return part.has(Class::Code, "git rebase --exec runs a command");
        }
        "bisect" if has(&["run"]) => return part.has(Class::Code, "git bisect run runs a command"),
        "submodule" if has(&["foreach"]) => {
            return part.has(Class::Code, "git submodule foreach runs a command");
        }
        _ => return,
    };
    part.has(Class::Dangerous, format!("git {name}: {what}"));
}

//! Unified diffs, as the old and new texts that the protocol shows.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A changed part of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    /// The old text; `None` for a new file.
    pub(super) old: Option<String>,
    pub(super) new: String,
    /// The line in the new file, from 1.
    pub(super) line: Option<u64>,
}

impl Change {
    pub(super) fn to_content(&self) -> Value {
        json!({"type": "diff", "path": self.path, "oldText": self.old, "newText": self.new})
    }

    pub(super) fn to_location(&self) -> Value {
        match self.line {
            Some(line) => json!({"path": self.path, "line": line}),
            None => json!({"path": self.path}),
        }
    }
}

/// The places of a file in a diff: its names before and after.
#[derive(Default)]
struct Names {
    from: Option<String>,
    to: Option<String>,
}

/// Reads the changes of a unified diff, one for each hunk. Names are relative to the workspace; `path`, if it is given, is the file of the
/// whole diff. Lines that are of no diff are skipped.
pub(super) fn changes(diff: &str, workspace: &Path, path: Option<&Path>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut names = Names::default();
    // The file header that no hunk has followed yet.
    let mut is_empty = false;
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(from) = line.strip_prefix("--- ")
            && let Some(to) = lines.peek().and_then(|next| next.strip_prefix("+++ "))
        {
            if std::mem::take(&mut is_empty) {
                changes.extend(names.change(workspace, path, String::new(), String::new(), None));
            }
            names = Names { from: name(from, "a/"), to: name(to, "b/") };
            is_empty = true;
            lines.next();
        } else if let Some((mut old_left, start, mut new_left)) = hunk(line) {
            is_empty = false;
            let (mut old, mut new) = (String::new(), String::new());
            let (mut old_ends, mut new_ends) = (true, true);
            while old_left > 0 || new_left > 0 {
                let Some(line) = lines.next() else { break };
                let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
                let push = |to: &mut String, left: &mut u64, ends: &mut bool| {
                    to.push_str(text);
                    to.push('\n');
                    *left = left.saturating_sub(1);
                    *ends = true;
                };
                match sign {
                    "-" => push(&mut old, &mut old_left, &mut old_ends),
                    "+" => push(&mut new, &mut new_left, &mut new_ends),
                    " " => {
                        push(&mut old, &mut old_left, &mut old_ends);
                        push(&mut new, &mut new_left, &mut new_ends);
                    }
                    _ => {}
                }
                if lines.peek().is_some_and(|next| next.starts_with('\\')) {
                    lines.next();
                    old_ends &= sign == "+";
                    new_ends &= sign == "-";
                    if !old_ends && sign != "+" {
                        old.pop();
                    }
                    if !new_ends && sign != "-" {
                        new.pop();
                    }
                }
            }
            changes.extend(names.change(workspace, path, old, new, Some(start.max(1))));
        }
    }
    if is_empty {
        changes.extend(names.change(workspace, path, String::new(), String::new(), None));
    }
    changes
}

impl Names {
    fn change(
        &self,
        workspace: &Path,
        path: Option<&Path>,
        old: String,
        new: String,
        line: Option<u64>,
    ) -> Option<Change> {
        let name = self.to.as_deref().or(self.from.as_deref());
        let path = workspace.join(path.or(name.map(Path::new))?);
        let is_new = self.from.is_none();
        Some(Change { path, old: (!is_new).then_some(old), new, line })
    }
}

/// The name of a file in a header; `None` for a file that is not there.
fn name(text: &str, prefix: &str) -> Option<String> {
    if text == "/dev/null" {
        return None;
    }
    Some(text.strip_prefix(prefix).unwrap_or(text).to_owned())
}

/// The number of old lines of a hunk, the first new line, and the number of new lines.
fn hunk(line: &str) -> Option<(u64, u64, u64)> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((_, old), (start, new)) = (range(old)?, range(new)?);
    Some((old, start, new))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(diff: &str) -> Vec<(String, Option<String>, String, Option<u64>)> {
        let changes = changes(diff, Path::new("/w"), None);
        let texts = changes
            .into_iter()
            .map(|change| (change.path.to_str().unwrap().to_owned(), change.old, change.new, change.line));
        texts.collect()
    }

    #[test]
    fn each_hunk_is_a_change() {
        let diff =
            "--- a/x.txt\n+++ b/x.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n@@ -9 +9 @@\n--- nine\n+++ NINE\n";
        assert_eq!(
            texts(diff),
            [
                ("/w/x.txt".to_owned(), Some("one\ntwo\n".to_owned()), "one\nTWO\n".to_owned(), Some(1)),
                ("/w/x.txt".to_owned(), Some("-- nine\n".to_owned()), "++ NINE\n".to_owned(), Some(9)),
            ]
        );
    }

    #[test]
    fn files_come_and_go() {
        let diff = "--- /dev/null\n+++ b/empty\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
        assert_eq!(
            texts(diff),
            [
                ("/w/empty".to_owned(), None, String::new(), None),
                ("/w/new".to_owned(), None, "new\n".to_owned(), Some(1)),
                ("/w/old".to_owned(), Some("old\n".to_owned()), String::new(), Some(1)),
            ]
        );
    }

    #[test]
    fn a_last_line_may_have_no_end() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        assert_eq!(texts(diff), [("/w/x".to_owned(), Some("a".to_owned()), "b\n".to_owned(), Some(1))]);
        let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n same\n\\ No newline at end of file\n";
        assert_eq!(
            texts(diff),
            [("/w/x".to_owned(), Some("a\nsame".to_owned()), "b\nsame".to_owned(), Some(1))]
        );
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for text in
            ["", "@@", "@@ -1 +1 @@", "--- \n+++ ", "--- a/x\n+++ b/x\n@@ -9,9 +9,9 @@\n", "@@ -x +y @@\nä"]
        {
            let _ = texts(text);
        }
    }
}

use super::*;
use crate::fs::splice::splice;
use proptest::prelude::*;

/// The file after the hunks of the only change of a patch, or what is wrong.
fn patched(file: &str, patch: &str) -> Result<String, String> {
    let patch = parse(patch).map_err(|error| format!("line {}: {}", error.line, error.problem))?;
    let [change] = &patch.changes[..] else { return Err(format!("{} changes", patch.changes.len())) };
    let Action::Update { hunks, .. } = &change.action else { return Err(format!("{:?}", change.action)) };
    let patched = apply(file.as_bytes(), hunks).map_err(|error| format!("hunk {}: {:?}", error.hunk + 1, error.why))?;
    Ok(String::from_utf8(splice(file.as_bytes(), &patched.splices)).unwrap())
}

fn begin(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
}

#[test]
fn hunks_go_where_they_belong() {
    for (file, hunks, expected) in [
        ("a\nb\nc\n", "@@\n a\n-b\n+x\n c", Ok("a\nx\nc\n")),
        ("a\nb\nc\n", " a\n-b\n+x", Ok("a\nx\nc\n")),
        ("a\nb\n", "@@\n-a\n+x\n@@\n-b\n+y", Ok("x\ny\n")),
        // Sharing a line, and in another order.
        ("a\nb\nc\n", "@@\n-a\n+x\n b\n@@\n b\n-c\n+y", Ok("x\nb\ny\n")),
        ("a\nb\nc\n", "@@\n-c\n+y\n@@\n-a\n+x", Ok("x\nb\ny\n")),
        // Endings and the last one stay.
        ("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n c", Ok("a\r\nx\r\ny\r\nc\r\n")),
        ("a\nb\r\nc\n", "@@\n a\n-b\n+x\n c", Ok("a\nx\r\nc\n")),
        ("a\nb", "@@\n a\n-b\n+x", Ok("a\nx")),
        ("a\nb", "@@\n a\n b\n+x", Ok("a\nb\nx")),
        ("a\r\nb", "@@\n a\n b\n+x", Ok("a\r\nb\r\nx")),
        ("a\nb", "@@\n a\n-b", Ok("a\n")),
        ("a", "@@\n-a\n+x\n+y", Ok("x\ny")),
        ("", "@@\n+x\n+y", Ok("x\ny\n")),
        ("a\n", "@@\n+x", Ok("a\nx\n")),
        ("a", "@@\n+x", Ok("a\nx")),
        ("\u{FEFF}a\nb\n", "@@\n-a\n+x\n b", Ok("\u{FEFF}x\nb\n")),
        ("\u{FEFF}a\nb\n", "@@\n+x\n a", Ok("\u{FEFF}x\na\nb\n")),
        // Looser forms; what stays keeps its bytes.
        ("a  \nb\n", "@@\n a\n-b\n+x", Ok("a  \nx\n")),
        ("\ta\n\tb\n", "@@\n     a\n-    b\n+\tx", Ok("\ta\n\tx\n")),
        ("say “a”\nb\n", "@@\n say \"a\"\n-b\n+x", Ok("say “a”\nx\n")),
        ("“a” \nb\nc\n", "@@\n-\"a\"\n-b\n+\"a\"\n+x\n c", Ok("“a” \nx\nc\n")),
        // Several places.
        ("a\nb\na\nb\n", "@@\n a\n-b\n+x", Err("hunk 1: Ambiguous { level: Exact, lines: [1, 3] }")),
        ("a \nb\na\t\nb\n", "@@\n a\n-b\n+x", Err("hunk 1: Ambiguous { level: Trailing, lines: [1, 3] }")),
        ("a\nb\na\nb\n", "@@\n a\n-b\n+x\n*** End of File", Ok("a\nb\na\nx\n")),
        ("a\nb\nc\n", "@@\n a\n-b\n+x\n*** End of File", Ok("a\nx\nc\n")),
        ("a\nb\na\nb\n", "@@\n-a\n+x\n b\n a\n@@\n-b\n+y", Ok("x\nb\na\ny\n").and(Err("hunk 2: Ambiguous { level: Exact, lines: [2, 4] }"))),
        ("a\nb\nz\na\nb\n", "@@\n-z\n+x\n@@\n-a\n+y", Ok("a\nb\nx\ny\nb\n")),
        // Blocks.
        ("def f():\n    x\n    y\ndef g():\n    x\n    y\n", "@@ def g():\n     x\n-    y\n+    z",
         Ok("def f():\n    x\n    y\ndef g():\n    x\n    z\n")),
        ("def f():\n    x\n    y\ndef g():\n    x\n    y\n", "@@ def f\n     x\n-    y\n+    z",
         Ok("def f():\n    x\n    z\ndef g():\n    x\n    y\n")),
        ("class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n", "@@ class B:\n@@   def f():\n-    x\n+    y",
         Ok("class A:\n  def f():\n    x\nclass B:\n  def f():\n    y\n")),
        ("def f():\n    x\n    y\n    x\n", "@@ def f():\n-    x\n+    z",
         Err("hunk 1: Ambiguous { level: Exact, lines: [2, 4] }")),
        ("def f():\n    x\ndef g():\n    x\n", "@@ def f():\n def f():\n-    x\n+    z", Ok("def f():\n    z\ndef g():\n    x\n")),
        ("a\nb\nc\n", "@@ b\n+x", Ok("a\nb\nx\nc\n")),
        ("a\nb\nb\n", "@@ b\n+x", Err("hunk 1: Ambiguous { level: Trimmed, lines: [2, 3] }")),
        ("a\n", "@@ b\n+x", Err("hunk 1: NoAnchor")),
        ("a\nb\n", "@@ nowhere\n-b\n+x", Ok("a\nx\n")),
        ("a\nb\na\nb\n", "@@ -3,2 +3,2 @@\n a\n-b\n+x", Ok("a\nb\na\nx\n")),
        // Nowhere.
        ("a\nb\n", "@@\n-c\n+x", Err("hunk 1: Absent")),
        ("", "@@\n-c\n+x", Err("hunk 1: Absent")),
        ("a\nb\n", "@@\n-a\n+x\n@@\n-a\n+y", Err("hunk 2: Overlaps")),
        // Empty lines may be the file's or the patch's.
        ("a\n\nb\n", "@@\n-a\n+x\n\n b", Ok("x\n\nb\n")),
        ("a\nb\n", "@@\n-a\n+x\n\n", Ok("x\nb\n")),
        ("a\n\nb\n", "@@\n-a\n+x\n\n", Ok("x\n\nb\n")),
        ("a\nb\n", "@@\n-a\n+x\n\n@@\n-b\n+y", Ok("x\ny\n")),
    ] {
        assert_eq!(patched(file, &begin(hunks)).as_deref().map_err(String::as_str), expected, "{hunks}\nin {file:?}");
    }
}

#[test]
fn unified_diffs() {
    for (file, patch, expected) in [
        ("a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", Ok("a\nx\nc\n")),
        ("b\nb\nb\n", "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+x\n", Ok("b\nx\nb\n")),
        ("b\nb\nb\n", "--- a/f\n+++ b/f\n@@ -9 +9 @@\n-b\n+x\n", Err("hunk 1: Ambiguous { level: Exact, lines: [1, 2, 3] }")),
        ("a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", Ok("a\nb\n")),
        ("a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", Ok("a\nb")),
        ("a\nb\n", "--- f.orig\t2026-01-01\n+++ f\t2026-01-02\n@@ -1,2 +1 @@\n-a\n b\n", Ok("b\n")),
        ("a\n", "--- f\n+++ f\n@@ -1,0 +2,2 @@\n+b\n+c\n", Ok("a\nb\nc\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n", Ok("a\nx\nb\n")),
        ("a\r\nb\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n", Ok("a\nb\n")),
        ("a\r\nb\r\n", "--- f\r\n+++ f\r\n@@ -1,2 +1,2 @@\r\n-a\r\n+x\r\n b\r\n", Ok("x\r\nb\r\n")),
        // Lines that look like those of the format.
        ("-- a\n++ b\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n--- a\n+++ b\n+x\n ++ b\n-c\n", Ok("++ b\nx\n++ b\n")),
        // Numbers that are wrong, with nothing cut off.
        ("a\nb\n", "--- f\n+++ f\n@@ -1,9 +1,9 @@\n-a\n+x\n@@ -2 +2 @@\n-b\n+y\n", Ok("x\ny\n")),
        ("a\nb\nc\nd\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n b\n-c\n+y\n", Ok("x\nb\ny\nd\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+x\n b\n", Ok("x\nb\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,2 +1,9 @@\n-a\n+x\n b\n",
         Err("line 7: the patch ends within a hunk, of which 0 old and 7 new lines are missing; send all of it, or correct \
              the numbers of the line with @@")),
        ("a\nb\n", "*** Begin Patch\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+x\n*** End Patch", Ok("x\nb\n")),
        ("a\n", "From 1234\nSubject: x\n\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n\
                 @@ -1 +1 @@ section\n-a\n+x\n-- \n2.39.2\n\n", Ok("x\n")),
    ] {
        assert_eq!(patched(file, patch).as_deref().map_err(String::as_str), expected, "{patch}\nin {file:?}");
    }
}

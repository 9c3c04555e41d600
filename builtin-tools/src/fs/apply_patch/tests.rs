mod forms;
mod indentation;
mod properties;

use super::*;
use crate::fs::edit::MAX_BYTES;
use crate::fs::splice::splice;

/// Returns the file after the hunks of the only change of a patch, or the error.
fn patched(file: &str, patch: &str) -> Result<String, String> {
    let patch = parse(patch).map_err(|error| format!("line {}: {}", error.line, error.problem))?;
    let [change] = &patch.changes[..] else { return Err(format!("{} changes", patch.changes.len())) };
    let Action::Update { hunks, .. } = &change.action else { return Err(format!("{:?}", change.action)) };
    let patched =
        apply(file.as_bytes(), hunks).map_err(|error| format!("hunk {}: {:?}", error.hunk + 1, error.why))?;
    Ok(String::from_utf8(splice(file.as_bytes(), &patched.splices)).unwrap())
}

fn begin(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
}

#[track_caller]
fn check(file: &str, hunks: &str, expected: Result<&str, &str>) {
    let patched = patched(file, &begin(hunks));
    assert_eq!(patched.as_deref().map_err(String::as_str), expected, "{hunks}\nin {file:?}");
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
        ("a \nb\r\n", "@@\n-a\n-b\n+x\n+y", Ok("x\ny\r\n")),
        ("k \na\nb\r\n", "@@\n k\n-a\n-b\n+x\n+y", Ok("k \nx\ny\r\n")),
        ("a \r\nb", "@@\n-a\n-b\n+x\n+y\n+z", Ok("x\r\ny\r\nz")),
        ("a \r\nb\n", "@@\n+x\n a", Ok("x\r\na \r\nb\n")),
        ("\u{FEFF}a\nb\n", "@@\n-a\n+x\n b", Ok("\u{FEFF}x\nb\n")),
        ("\u{FEFF}a\nb\n", "@@\n+x\n a", Ok("\u{FEFF}x\na\nb\n")),
        // Looser forms; unchanged lines keep their bytes.
        ("a  \nb\n", "@@\n a\n-b\n+x", Ok("a  \nx\n")),
        ("\ta\n\tb\n", "@@\n     a\n-    b\n+\tx", Ok("\ta\n\tx\n")),
        ("say “a”\nb\n", "@@\n say \"a\"\n-b\n+x", Ok("say “a”\nx\n")),
        ("“a” \nb\nc\n", "@@\n-\"a\"\n-b\n+\"a\"\n+x\n c", Ok("“a” \nx\nc\n")),
        ("a\n“b” \nc\n", "@@\n-a\n-\"b\"\n+x\n+\"b\"\n c", Ok("x\n“b” \nc\n")),
        // New lines are indented as the file is.
        (
            "if a:\n    if b:\n        x = 1\n",
            "@@\n-x = 1\n+x = 2\n+if x:\n+    y = 3",
            Ok("if a:\n    if b:\n        x = 2\n        if x:\n            y = 3\n"),
        ),
        (
            "class A:\n\tdef f():\n\t\tx\n",
            "@@\n     def f():\n-        x\n+        y\n+\n+        if y:\n+            z",
            Ok("class A:\n\tdef f():\n\t\ty\n\n\t\tif y:\n\t\t\tz\n"),
        ),
        ("    a\r\n    b\r\n", "@@\n a\n-b\n+x", Ok("    a\r\n    x\r\n")),
        ("    say “a”\n    b\n", "@@\n say \"a\"\n-b\n+x", Ok("    say “a”\n    x\n")),
        ("\u{a0}\u{a0}a\n  b\n", "@@\n   a\n-  b\n+  x", Ok("\u{a0}\u{a0}a\n  x\n")),
        ("\u{a0}\u{a0}a\n\u{a0}\u{a0}b\n", "@@\n   a\n-  b\n+  x", Ok("\u{a0}\u{a0}a\n  x\n")),
        ("\tsay “a”\n\tb\n", "@@\n \tsay \"a\"\n-\tb\n+  x", Ok("\tsay “a”\n  x\n")),
        ("  a\n   b\n", "@@\n a\n-  b\n+ x\n+", Err("hunk 1: Indented { line: 1 }")),
        ("  a\n   b\n", "@@\n a\n-  b\n+", Ok("  a\n\n")),
        ("  a\n   b\n", "@@\n a\n-  b", Ok("  a\n")),
        // Several places.
        ("a\nb\na\nb\n", "@@\n a\n-b\n+x", Err("hunk 1: Ambiguous { level: Exact, lines: [1, 3] }")),
        ("a \nb\na\t\nb\n", "@@\n a\n-b\n+x", Err("hunk 1: Ambiguous { level: Trailing, lines: [1, 3] }")),
        ("a\nb\na\nb\n", "@@\n a\n-b\n+x\n*** End of File", Ok("a\nb\na\nx\n")),
        ("a\nb\nc\n", "@@\n a\n-b\n+x\n*** End of File", Ok("a\nx\nc\n")),
        ("}\ny\n} \n", "@@\n-}\n+z\n*** End of File", Ok("}\ny\nz\n")),
        ("  a\nb\na\t\n", "@@\n-a\n+x\n*** End of File", Ok("  a\nb\nx\n")),
        (
            "a\nb\nc\nb\n",
            "@@\n-a\n+x\n b\n@@\n-b\n+y",
            Err("hunk 2: Ambiguous { level: Exact, lines: [2, 4] }"),
        ),
        (
            "a\nb\nc\nb\n",
            "@@\n-a\n+x\n+y\n+z\n@@\n-b\n+y",
            Err("hunk 2: Ambiguous { level: Exact, lines: [2, 4] }"),
        ),
        ("a\nb\nz\nb\n", "@@\n-z\n+x\n@@\n-b\n+y", Ok("a\nb\nx\ny\n")),
        ("a\nb\nz\na\nb\n", "@@\n-z\n+x\n@@\n-a\n+y", Ok("a\nb\nx\ny\nb\n")),
        // Nowhere.
        ("a\nb\n", "@@\n-c\n+x", Err("hunk 1: Absent")),
        ("", "@@\n-c\n+x", Err("hunk 1: Absent")),
        ("a\nb\n", "@@\n-a\n+x\n@@\n-a\n+y", Err("hunk 2: Overlaps")),
        // Empty lines may be the file's or the patch's.
        ("a\n\nb\n", "@@\n-a\n+x\n\n b", Ok("x\n\nb\n")),
        ("a\nb\n", "@@\n-a\n+x\n\n", Ok("x\nb\n")),
        ("a\n\nb\n", "@@\n-a\n+x\n\n", Ok("x\n\nb\n")),
        ("a\nb\n", "@@\n-a\n+x\n\n@@\n-b\n+y", Ok("x\ny\n")),
        ("a\n\nb\n", "@@\n+x\n\n", Ok("a\n\nb\nx\n")),
        ("  a\n", "@@\n-a\n+x\n\n", Ok("  x\n")),
        ("a\nb\n\na\nb\n", "\n a\n-b\n+x", Ok("a\nb\n\na\nx\n")),
        // The file's own number of blank lines counts.
        ("a\r\n\r\nb\r\n", "@@\n \n+x", Ok("a\r\n\r\nx\r\nb\r\n")),
        ("a\n  \nb\n", "@@\n \n+x", Err("hunk 1: Absent")),
    ] {
        check(file, hunks, expected);
    }
}

#[test]
fn lines_that_are_named_say_where_hunks_belong() {
    for (file, hunks, expected) in [
        (
            "def f():\n    x\n    y\ndef g():\n    x\n    y\n",
            "@@ def g():\n     x\n-    y\n+    z",
            Ok("def f():\n    x\n    y\ndef g():\n    x\n    z\n"),
        ),
        (
            "def f():\n    x\n    y\ndef g():\n    x\n    y\n",
            "@@ def f\n     x\n-    y\n+    z",
            Ok("def f():\n    x\n    z\ndef g():\n    x\n    y\n"),
        ),
        (
            "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n",
            "@@ class B:\n@@   def f():\n-    x\n+    y",
            Ok("class A:\n  def f():\n    x\nclass B:\n  def f():\n    y\n"),
        ),
        (
            "def f():\n    x\n    y\n    x\n",
            "@@ def f():\n-    x\n+    z",
            Err("hunk 1: Ambiguous { level: Exact, lines: [2, 4] }"),
        ),
        (
            "def f():\n    x\ndef g():\n    x\n",
            "@@ def f():\n def f():\n-    x\n+    z",
            Ok("def f():\n    z\ndef g():\n    x\n"),
        ),
        ("a\nb\nc\n", "@@ b\n+x", Ok("a\nb\nx\nc\n")),
        ("a\nb\r\nc\r\n", "@@ a\n+x", Ok("a\nx\r\nb\r\nc\r\n")),
        ("a\nb\r\nc\n", "@@ b\n+x", Ok("a\nb\r\nx\nc\n")),
        ("a\nb\nb\n", "@@ b\n+x", Err("hunk 1: Ambiguous { level: Trimmed, lines: [2, 3] }")),
        ("a\n", "@@ b\n+x", Err("hunk 1: NoAnchor")),
        // The hunk comes after the changes of the hunk before.
        ("a\nb\n", "@@\n-a\n+x\n@@ a\n+y", Ok("x\ny\nb\n")),
        ("a\nb\nc\n", "@@\n-c\n+x\n@@ a\n+y", Err("hunk 2: NoAnchor")),
        // One within another is not the same line.
        ("A\n  A\n    x\n", "@@ A\n@@   A\n+    y", Ok("A\n  A\n    y\n    x\n")),
        // If the lines are not in the block, they are found after it.
        ("x\n# A\n\nx\n", "@@ # A\n-x\n+y", Ok("x\n# A\n\ny\n")),
        // An anchor must exist, and not be after the change.
        ("a\nb\n", "@@ nowhere\n-b\n+x", Err("hunk 1: AnchorAbsent { anchor: 0 }")),
        ("a\nb\na\nb\n", "@@ nowhere\n-b\n+x", Err("hunk 1: AnchorAbsent { anchor: 0 }")),
        ("a\nb\n", "@@ nowhere\n-c\n+x", Err("hunk 1: Absent")),
        (
            "def f():\n    x = 1\n\ndef g():\n    x = 2\n",
            "@@ def g():\n-    x = 1\n+    x = 3",
            Err("hunk 1: BeforeAnchor { line: 2, anchor: 4 }"),
        ),
        (
            "def f():\n    x = 1\n\ndef g():\n    x = 2\n",
            "@@ def g():\n-    x = 1\n+    x = 3\n*** End of File",
            Err("hunk 1: BeforeAnchor { line: 2, anchor: 4 }"),
        ),
        (
            "class A:\n  def f():\n    x\nclass B:\n  def g():\n    y\n",
            "@@ class B:\n@@   def f():\n-    x\n+    z",
            Err("hunk 1: AnchorAbsent { anchor: 1 }"),
        ),
        // An anchor matches whole words only.
        ("def gamma():\n    x\n", "@@ def g\n-    x\n+    y", Err("hunk 1: AnchorAbsent { anchor: 0 }")),
        ("def g(a):\n    x\n", "@@ def g\n-    x\n+    y", Ok("def g(a):\n    y\n")),
        ("def g_h():\n    x\n", "@@ def g\n-    x\n+    y", Err("hunk 1: AnchorAbsent { anchor: 0 }")),
        ("def gö():\n    x\n", "@@ def g\n-    x\n+    y", Err("hunk 1: AnchorAbsent { anchor: 0 }")),
        // The anchor is the changed form of the line.
        (
            "def g(a):\n    x\n",
            "@@ def g(a, b):\n-def g(a):\n+def g(a, b):\n     x",
            Ok("def g(a, b):\n    x\n"),
        ),
        // A block ends at the next word at its depth: an anchor nested in it comes after it.
        (
            "class A {\npublic:\n  void f() {\n    x;\n  }\n};\n",
            "@@ class A {\n@@   void f() {\n-    x;\n+    y;",
            Ok("class A {\npublic:\n  void f() {\n    y;\n  }\n};\n"),
        ),
        (
            "class A:\n  def f():\n    x\n",
            "@@   def f():\n@@ class A:\n-    x\n+    y",
            Err("hunk 1: AnchorAbsent { anchor: 1 }"),
        ),
        ("a\nx\n", "@@ a\n@@ a\n-x\n+y", Err("hunk 1: AnchorAbsent { anchor: 1 }")),
        ("a\nb\nc\n", "@@ nowhere\n+x\n*** End of File", Err("hunk 1: AnchorAbsent { anchor: 0 }")),
        ("a\nb\nc\n", "@@ -1,0 +2 @@\n@@ c\n+x", Err("hunk 1: BeforeAnchor { line: 2, anchor: 3 }")),
        ("a\nb\nc\n", "@@ b\n a\n b\n-c\n+x", Ok("a\nb\nx\n")),
        ("a\nb\nc\n", "@@ b\n-a\n-b\n+x", Ok("x\nc\n")),
        ("a\nb\nc\n", "@@ a\n-c\n+x", Ok("a\nb\nx\n")),
        ("a\nb\na\nb\n", "@@ -3,2 +3,2 @@\n a\n-b\n+x", Ok("a\nb\na\nx\n")),
    ] {
        check(file, hunks, expected);
    }
}

#[test]
fn so_many_blocks_are_looked_into() {
    for (before, expected) in
        [(999, None), (1_000, Some("hunk 1: Ambiguous { level: Exact, lines: [2002, 2004] }"))]
    {
        let before = "f:\n    x\n".repeat(before);
        let file = format!("{before}f:\n    y\ng:\n    y\n");
        let made = format!("{before}f:\n    z\ng:\n    y\n");
        check(&file, "@@ f:\n-    y\n+    z", expected.map_or(Ok(made.as_str()), Err));
    }
}

#[test]
fn so_many_lines_are_looked_at() {
    let largest = "\n".repeat(16_000_000);
    for (file, hunks, is_refused) in
        [(&largest, "@@\n+x\r", false), (&format!("{largest}\n"), "@@\n+x\r", true)]
    {
        let patched = patched(file, &begin(hunks)).map(|patched| patched.len() - file.len());
        let expected = if is_refused { Err("hunk 1: TooAlike".to_owned()) } else { Ok(3) };
        assert_eq!(patched, expected);
    }
}

#[test]
fn so_large_may_a_file_get() {
    let patch = begin("@@\n+x");
    let patch = parse(&patch).unwrap();
    for (bytes, expected) in [
        (MAX_BYTES, Ok(1)),
        (MAX_BYTES + 1, Err("f would become larger than 268435456 bytes, the limit of a file".to_owned())),
    ] {
        let mut content = vec![b'a'; bytes - "x\n".len()];
        *content.last_mut().unwrap() = b'\n';
        let known = Known {
            shown: "f".to_owned(),
            content: Some(content),
            executable: None,
            is_readable: true,
            is_read: true,
        };
        let made = work_out(&patch, &[known], |_| Some(0)).map(|outcome| outcome.files.len());
        assert_eq!(made.map_err(|error| error.to_string()), expected);
    }
}

/// Checks which hunks are found to lie after the block that they name, at which line, and where the block begins.
#[test]
fn a_hunk_after_its_block_is_known() {
    for (file, hunks, expected) in [
        ("f:\n  a\n  x\ng:\n  y\n", "@@ f:\n-  x\n+  z", None),
        ("f:\n  x\ng:\n  y\n", "@@ f:\n-  y\n+  z", Some((1, 4, 1))),
        ("f:\n  x\n# g\n\n  y\n", "@@ f:\n-  y\n+  z", Some((1, 5, 1))),
        ("f\n{\nx\n}\ny\n", "@@ f\n-y\n+z", Some((1, 5, 1))),
        // Directly after the block, and before a line that begins the same way.
        ("f:\n  x\na\nf:\n", "@@ f:\n-a\n+b", Some((1, 3, 1))),
        // The anchor is among the hunk's own lines.
        ("f:\n  x\na\nf:\n", "@@ f:\n-a\n f:\n+b", None),
        ("f:\n  x\na\nf:\n", "@@ -4 +4 @@\n@@ f:\n-f:\n+g:", None),
        // A line that does not begin a block has no end.
        ("f:\nb\n  x\na\n", "@@ f:\n-a\n+b", None),
        ("f:\n  \nb\na\n", "@@ f:\n-a\n+b", None),
    ] {
        let patch = begin(hunks);
        let patch = parse(&patch).unwrap();
        let Action::Update { hunks, .. } = &patch.changes[0].action else { panic!("{patch:?}") };
        let left = apply(file.as_bytes(), hunks).unwrap().left;
        assert_eq!(left, Vec::from_iter(expected), "{hunks:?}\nin {file:?}");
    }
}

#[test]
fn unified_diffs() {
    for (file, patch, expected) in [
        ("a\nb\n", "\u{feff}--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+x\n", Ok("a\nx\n")),
        ("a\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", Ok("a\nx\nc\n")),
        ("b\nb\nb\n", "--- a/f\n+++ b/f\n@@ -2 +2 @@\n-b\n+x\n", Ok("b\nx\nb\n")),
        (
            "b\nb\nb\n",
            "--- a/f\n+++ b/f\n@@ -9 +9 @@\n-b\n+x\n",
            Err("hunk 1: Ambiguous { level: Exact, lines: [1, 2, 3] }"),
        ),
        (
            "a\nb",
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
            Ok("a\nb\n"),
        ),
        (
            "a\nb\n",
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n",
            Ok("a\nb"),
        ),
        ("a\nb\n", "--- f.orig\t2026-01-01\n+++ f\t2026-01-02\n@@ -1,2 +1 @@\n-a\n b\n", Ok("b\n")),
        ("a\n", "--- f\n+++ f\n@@ -1,0 +2,2 @@\n+b\n+c\n", Ok("a\nb\nc\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n", Ok("a\nx\nb\n")),
        ("a\r\nb\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n", Ok("a\nb\n")),
        // Without context a program's line is taken literally, whatever lines it is next to.
        ("a\r\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n", Ok("a\r\nx\nb\n")),
        ("a\nb\r\nc\r\n", "--- f\n+++ f\n@@ -2,0 +3 @@\n+x\n", Ok("a\nb\r\nx\nc\r\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\r\n", Ok("a\nx\r\nb\n")),
        ("a\r\nb\r\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n@@ -2 +3 @@\n-b\r\n+y\r\n", Ok("a\r\nx\ny\r\n")),
        ("a\r\n", "--- f\n+++ f\n@@ -0,0 +1 @@\n+x\ry\n", Ok("x\ry\na\r\n")),
        // A patch without carriage returns gets the file's.
        ("a\r\nb\r\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n", Ok("a\r\nx\r\nb\r\n")),
        ("a\r\nb\r\nc\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n@@ -3,0 +4 @@\n+y\n", Ok("x\r\nb\r\nc\ny\r\n")),
        ("a\r\nb\r\n", "--- f\r\n+++ f\r\n@@ -1,2 +1,2 @@\r\n-a\r\n+x\r\n b\r\n", Ok("x\r\nb\r\n")),
        ("a\nb\n", "--- f\r\n+++ f\r\n@@ -1,0 +2 @@\r\n+x\r\n", Ok("a\nx\nb\n")),
        (
            "a\r\nb",
            "--- f\n+++ f\n@@ -0,0 +1 @@\n+x\n@@ -2 +3 @@\n-b\n\\ No newline at end of file\n+b\n",
            Ok("x\na\r\nb\n"),
        ),
        // Lines that look like the format's own.
        (
            "-- a\n++ b\nc\n",
            "--- f\n+++ f\n@@ -1,3 +1,3 @@\n--- a\n+++ b\n+x\n ++ b\n-c\n",
            Ok("++ b\nx\n++ b\n"),
        ),
        ("a\n- \n", "--- f\n+++ f\n@@ -1,2 +1 @@\n a\n-- \n", Ok("a\n")),
        // Numbers that are wrong, with nothing cut off.
        ("a\nb\n", "--- f\n+++ f\n@@ -1,9 +1,9 @@\n-a\n+x\n@@ -2 +2 @@\n-b\n+y\n", Ok("x\ny\n")),
        ("a\nb\nc\nd\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n b\n-c\n+y\n", Ok("x\nb\ny\nd\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+x\n b\n", Ok("x\nb\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,5 +1,5 @@\n-a\n+x\n b\n", Ok("x\nb\n")),
        // Empty lines at the end belong to the patch, except for one without its sign that the line counts require.
        ("a\nb\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+x\n b\n\n\n", Ok("x\nb\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,5 +1,5 @@\n-a\n+x\n b\n\n\n", Ok("x\nb\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,6 +1,6 @@\n-a\n+x\n b\n\n\n", Err("hunk 1: Absent")),
        ("a\n\nb\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+x\n\n b\n", Ok("x\n\nb\n")),
        ("a\n\nb\n", "--- f\n+++ f\n@@ -1,2 +1 @@\n a\n-\n\n", Ok("a\nb\n")),
        (
            "a\nb\n",
            "--- f\n+++ f\n@@ -1,2 +1,9 @@\n-a\n+x\n b\n",
            Err(
                "line 7: the patch ends within a hunk, of which 0 old and 7 new lines are missing; send all of it, or correct \
              the numbers of the line with @@",
            ),
        ),
        ("a\nb\n", "*** Begin Patch\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+x\n*** End Patch", Ok("x\nb\n")),
        (
            "a\n",
            "From 1234\nSubject: x\n\n---\n f | 2 +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n\
                 @@ -1 +1 @@ section\n-a\n+x\n-- \n2.39.2\n\n",
            Ok("x\n"),
        ),
    ] {
        assert_eq!(patched(file, patch).as_deref().map_err(String::as_str), expected, "{patch}\nin {file:?}");
    }
}

#[test]
fn large_and_repetitive_files_take_no_time() {
    let started = std::time::Instant::now();
    let file = "}\n".repeat(100_000);
    let long = format!("@@\n{}-x\n+y", " }\n".repeat(20_000));
    let many = "@@\n-}\n+y\n".repeat(10_000);
    let anchors = "@@ }\n@@ }\n@@ }\n-}\n+y\n".repeat(2_000);
    let alternating: String =
        (0..100_000).map(|number| if number % 1_000 == 999 { "b\n" } else { "a\n" }).collect();
    let nearly = format!("@@\n{} b\n-b\n+c", " a\n".repeat(900));
    for (file, hunks) in [(&file, &long), (&file, &many), (&file, &anchors), (&alternating, &nearly)] {
        assert!(patched(file, &begin(hunks)).is_err());
    }
    assert!(started.elapsed().as_secs() < 40, "{:?}", started.elapsed());
}

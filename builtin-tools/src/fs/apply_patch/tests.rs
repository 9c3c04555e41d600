#![allow(clippy::format_collect, clippy::format_push_string, reason = "texts of a test are short")]

use super::*;
use crate::fs::splice::splice;
use proptest::prelude::*;

/// The file after the hunks of the only change of a patch, or what is wrong.
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
        // Looser forms; what stays keeps its bytes.
        ("a  \nb\n", "@@\n a\n-b\n+x", Ok("a  \nx\n")),
        ("\ta\n\tb\n", "@@\n     a\n-    b\n+\tx", Ok("\ta\n\tx\n")),
        ("say “a”\nb\n", "@@\n say \"a\"\n-b\n+x", Ok("say “a”\nx\n")),
        ("“a” \nb\nc\n", "@@\n-\"a\"\n-b\n+\"a\"\n+x\n c", Ok("“a” \nx\nc\n")),
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
        // A line that is named has to be there, and not after what changes.
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
        // A word is not another that begins with it.
        ("def gamma():\n    x\n", "@@ def g\n-    x\n+    y", Err("hunk 1: AnchorAbsent { anchor: 0 }")),
        ("def g(a):\n    x\n", "@@ def g\n-    x\n+    y", Ok("def g(a):\n    y\n")),
        // It names what it makes of the line.
        (
            "def g(a):\n    x\n",
            "@@ def g(a, b):\n-def g(a):\n+def g(a, b):\n     x",
            Ok("def g(a, b):\n    x\n"),
        ),
        // A block is not what ends with the next word at its depth: one that is named within it comes after it.
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
        // Without lines around it a program's line is as the program says, next to whatever it stands.
        ("a\r\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n", Ok("a\r\nx\nb\n")),
        ("a\nb\r\nc\r\n", "--- f\n+++ f\n@@ -2,0 +3 @@\n+x\n", Ok("a\nb\r\nx\nc\r\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\r\n", Ok("a\nx\r\nb\n")),
        ("a\r\nb\r\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n@@ -2 +3 @@\n-b\r\n+y\r\n", Ok("a\r\nx\ny\r\n")),
        // Who does not know of carriage returns gets the file's.
        ("a\r\nb\r\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n", Ok("a\r\nx\r\nb\r\n")),
        ("a\r\nb\r\nc\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n@@ -3,0 +4 @@\n+y\n", Ok("x\r\nb\r\nc\ny\r\n")),
        ("a\r\nb\r\n", "--- f\r\n+++ f\r\n@@ -1,2 +1,2 @@\r\n-a\r\n+x\r\n b\r\n", Ok("x\r\nb\r\n")),
        // Lines that look like those of the format.
        (
            "-- a\n++ b\nc\n",
            "--- f\n+++ f\n@@ -1,3 +1,3 @@\n--- a\n+++ b\n+x\n ++ b\n-c\n",
            Ok("++ b\nx\n++ b\n"),
        ),
        // Numbers that are wrong, with nothing cut off.
        ("a\nb\n", "--- f\n+++ f\n@@ -1,9 +1,9 @@\n-a\n+x\n@@ -2 +2 @@\n-b\n+y\n", Ok("x\ny\n")),
        ("a\nb\nc\nd\n", "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+x\n b\n-c\n+y\n", Ok("x\nb\ny\nd\n")),
        ("a\nb\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n-a\n+x\n b\n", Ok("x\nb\n")),
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

/// Lines of few kinds with every mix of endings.
fn content() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[ab]{0,2}",
        "[ \t]{0,2}[ab“-][ \t]{0,2}",
        Just("\\ No newline".to_owned()),
        Just("-- a".to_owned()),
        Just("++ b".to_owned())
    ];
    let ending = prop_oneof![4 => Just("\n"), 3 => Just("\r\n"), 1 => Just("\r"), 1 => Just("\r\r\n")];
    (proptest::collection::vec((line, ending), 0..14), "[ab]{0,1}").prop_map(|(lines, last)| {
        let text: String = lines.into_iter().flat_map(|(line, ending)| [line, ending.to_owned()]).collect();
        text + &last
    })
}

/// A unified diff with so many lines of context.
fn unified(old: &str, new: &str, context: usize) -> String {
    let split = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
    let (old, new) = (split(old), split(new));
    let mut text = "--- a/f\n+++ b/f\n".to_owned();
    let operations = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
    for group in similar::group_diff_ops(operations, context) {
        let (first, last) = (group[0], group[group.len() - 1]);
        let numbers = |range: std::ops::Range<usize>| match range.len() {
            0 => format!("{},0", range.start),
            count => format!("{},{count}", range.start + 1),
        };
        let (before, after) =
            (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        text += &format!("@@ -{} +{} @@\n", numbers(before), numbers(after));
        for operation in group {
            let is_equal = operation.tag() == similar::DiffTag::Equal;
            let gone = old[operation.old_range()].iter().map(|line| (if is_equal { ' ' } else { '-' }, line));
            let come = new[operation.new_range()].iter().filter(|_| !is_equal).map(|line| ('+', line));
            for (sign, line) in gone.chain(come) {
                text.push(sign);
                text += line;
                if !line.ends_with('\n') {
                    text += "\n\\ No newline at end of file\n";
                }
            }
        }
    }
    text
}

/// The new text of one whose lines all have a carriage return, with one on each line.
fn with_returns(old: &str, new: &str) -> String {
    let lines = new.split_inclusive('\n').map(|line| match line.strip_suffix('\n') {
        Some(text) if !text.ends_with('\r') => format!("{text}\r\n"),
        _ => line.to_owned(),
    });
    let new: String = lines.collect();
    assert!(new.len() > old.len());
    new
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_unified_diff_makes_the_one_of_the_other(old in content(), new in content(), context in 1_usize..4) {
        prop_assume!(old != new);
        let patch = unified(&old, &new, context);
        prop_assert_eq!(patched(&old, &patch), Ok(new), "{}", patch);
    }

    /// Also without lines around what changes. That lines are only added, none with a carriage return, where all lines have one,
    /// is not told from a patch whose author does not know of them.
    #[test]
    fn a_unified_diff_without_context_makes_the_one_of_the_other(old in content(), new in content()) {
        prop_assume!(old != new);
        let patch = unified(&old, &new, 0);
        let only_adds = !patch.split('\n').skip(2).any(|line| line.starts_with(['-', '\\']) || line.contains('\r'));
        let all_have_returns = old.contains('\n') && old.matches('\n').count() == old.matches("\r\n").count();
        let new = if only_adds && all_have_returns { with_returns(&old, &new) } else { new };
        prop_assert_eq!(patched(&old, &patch), Ok(new), "{}", patch);
    }

    /// Of whole files, since a hunk without numbers has to be in one place.
    #[test]
    fn a_patch_makes_the_one_of_the_other(old in content(), new in content()) {
        prop_assume!(old != new && !old.is_empty());
        let unified = unified(&old, &new, 1_000);
        let (_, hunk) = unified.split_once("@@\n").unwrap();
        prop_assert_eq!(patched(&old, &begin(&format!("@@\n{}", hunk.strip_suffix('\n').unwrap()))), Ok(new), "{}", hunk);
    }

    /// Without knowing of the file's endings, all lines that stay keep theirs.
    #[test]
    fn endings_are_kept(lines in proptest::collection::vec(("[a-z]{1,8}", any::<bool>()), 1..8), at in 0_usize..8, is_open: bool) {
        let at = at % lines.len();
        let file: String = lines.iter().map(|(line, crlf)| format!("{line}{}", if *crlf { "\r\n" } else { "\n" })).collect();
        let file = if is_open { file.trim_end().to_owned() } else { file };
        let hunk: String = lines.iter().enumerate().map(|(index, (line, _))| match index {
            _ if index == at => format!("-{line}\n+NEW\n"),
            _ => format!(" {line}\n"),
        }).collect();
        let mut parts: Vec<&str> = file.split_inclusive('\n').collect();
        let changed = parts[at].replacen(&lines[at].0, "NEW", 1);
        parts[at] = &changed;
        prop_assert_eq!(patched(&file, &begin(&format!("@@\n{}", hunk.trim_end()))), Ok(parts.concat()));
    }

    #[test]
    fn no_input_is_too_much(patch in "(\\*\\*\\* (Begin Patch|End Patch|Update File: a|Add File: b|Move to: c|End of File)\n|@@( -1,2 \\+1,3 @@)?\n|[ +-][ab]{0,2}\r?\n|\n|--- a\n\\+\\+\\+ b\n|diff --git a/x b/x\n|\\\\ No newline at end of file\n){0,14}", file in content()) {
        crate::fs::fuzzing::check_patch(file.as_bytes(), &patch);
        let whole = format!("*** Begin Patch\n*** Update File: f\n{patch}*** End Patch\n");
        crate::fs::fuzzing::check_patch(file.as_bytes(), &whole);
    }
}

//! Forms of patches that models write, other than the documented ones.

use super::*;

#[test]
fn headers_that_name_nothing() {
    for header in ["@@", "@@ @@", "@@ ... @@", "@@ … @@", "@@...@@", "@@@@", "@@ -1,2 +1,2", "@@ -,+ @@"] {
        let hunks = format!("{header}\n a\n-b\n+x\n{header}\n c\n-d\n+y");
        check("a\nb\nc\nd\n", &hunks, Ok("a\nx\nc\ny\n"));
        let unified = format!("--- a/f\n+++ b/f\n{hunks}\n");
        assert_eq!(patched("a\nb\nc\nd\n", &unified).as_deref(), Ok("a\nx\nc\ny\n"), "{unified}");
    }
}

#[test]
fn unified_hunks_without_numbers() {
    for (file, patch, expected) in [
        (
            "def f():\n    x\ndef g():\n    x\n",
            "@@ def g():\n-    x\n+    y\n",
            Ok("def f():\n    x\ndef g():\n    y\n"),
        ),
        ("a\nb\nc\nd\n", "@@ -1,2 +1,2 @@\n a\n-b\n+x\n@@ ... @@\n c\n-d\n+y\n", Ok("a\nx\nc\ny\n")),
        ("a\nb\n", "@@\n-a\n+x\n\n", Ok("x\nb\n")),
        ("a\nb", "@@\n-b\n\\ No newline at end of file\n+b\n", Ok("a\nb\n")),
        (
            "a\nb\n",
            "@@ ... @@\n-a\n+x\nb\n",
            Err(
                "line 6: each line of a hunk begins with a space, `-` or `+`, and a hunk with `@@`; put a space \
                 before an unchanged line",
            ),
        ),
        // With line counts, the rest of a hunk is not skipped.
        (
            "a\nb\nc\n",
            "@@ -1,3 +1,3 @@\n-a\n+x\nb\n-c\n+y\n",
            Err(
                "line 6: each line of a hunk begins with a space, `-` or `+`, and a hunk with `@@`; put a space \
                 before an unchanged line",
            ),
        ),
        ("a\n", "@@\n", Err("line 4: the hunk has no lines; each begins with a space, `-` or `+`")),
    ] {
        let patch = format!("--- a/f\n+++ b/f\n{patch}");
        assert_eq!(
            patched(file, &patch).as_deref().map_err(String::as_str),
            expected,
            "{patch}\nin {file:?}"
        );
    }
}

#[test]
fn a_blank_line_after_the_end_of_the_file() {
    for (file, hunks, expected) in [
        ("a\nb\n", "@@\n a\n-b\n+x\n ", Ok("a\nx\n")),
        ("a\nb", "@@\n a\n-b\n+x\n ", Ok("a\nx")),
        ("a\nb\n", "@@\n a\n-b\n+x\n \n ", Ok("a\nx\n")),
        ("a\nb\n", "@@\n a\n-b\n+x\n \n\n", Ok("a\nx\n")),
        ("  a\n  b\n", "@@\n a\n-b\n+x\n ", Ok("  a\n  x\n")),
        ("a\n", "@@\n+x\n ", Ok("a\nx\n")),
        ("a\nb\n\n", "@@\n a\n-b\n+x\n ", Ok("a\nx\n\n")),
        ("a\nb\n", "@@\n a\n-b\n+x\n \n*** End of File", Ok("a\nx\n")),
        // Only the end of the file has no such line.
        ("a\nb\nc\n", "@@\n a\n-b\n+x\n ", Err("hunk 1: Absent")),
        ("a\nb\n", "@@\n \n-b\n+x", Err("hunk 1: Absent")),
    ] {
        check(file, hunks, expected);
    }
}

#[test]
fn lines_that_end_with_a_carriage_return_alone() {
    for (file, hunks, expected) in [
        ("a\rb\rc\r", "@@\n a\n-b\n+x\n+y\n c", Ok("a\rx\ry\rc\r")),
        ("a\rb\rc", "@@\n b\n-c\n+x", Ok("a\rb\rx")),
        ("a\rb\r", "@@\n+x", Ok("a\rb\rx\r")),
        ("a\rb\r", "@@\n-a", Ok("b\r")),
        ("a\rb\r\nc\nd\r", "@@\n a\n-b\n+x\n c", Ok("a\rx\r\nc\nd\r")),
        // A return within a line of the patch is one of the file.
        ("a\rb\nc\n", "@@\n-a\rb\n+x\ry\n c", Ok("x\ry\nc\n")),
        ("a\rb\nc\n", "@@\n-c\n+x", Ok("a\rb\nx\n")),
        ("a\rb\r", "@@\n-c\n+x", Err("hunk 1: Absent")),
    ] {
        check(file, hunks, expected);
    }
}

#[test]
fn other_forms_of_the_same_characters() {
    for (file, hunks, expected) in [
        // Full-width letters, digits and signs.
        ("ｆ（ｘ）＝１\nb\n", "@@\n f(x)=1\n-b\n+y", Ok("ｆ（ｘ）＝１\ny\n")),
        ("x = ａ\n", "@@\n-x = a\n+x = b", Ok("x = b\n")),
        // Composed and decomposed.
        ("e\u{301}t\u{e9}\nb\n", "@@\n \u{e9}te\u{301}\n-b\n+y", Ok("e\u{301}t\u{e9}\ny\n")),
        // Ligatures, half-width katakana, an ellipsis.
        ("ﬁn ｶﾞ …\nb\n", "@@\n fin ガ ...\n-b\n+y", Ok("ﬁn ｶﾞ …\ny\n")),
        ("    ﬁ\n    b\n", "@@\n fi\n-b\n+y", Ok("    ﬁ\n    y\n")),
        ("ﬁ\nb\nfi\nb\n", "@@\n fi\n-b\n+y", Ok("ﬁ\nb\nfi\ny\n")),
        ("ﬁ\nb\nﬁ\nb\n", "@@\n fi\n-b\n+y", Err("hunk 1: Ambiguous { level: Compatible, lines: [1, 3] }")),
        ("ﬁ:\n  x\ng:\n  x\n", "@@ fi:\n-  x\n+  y", Ok("ﬁ:\n  y\ng:\n  x\n")),
        // Another letter is another letter.
        ("\u{430}\nb\n", "@@\n a\n-b\n+y", Err("hunk 1: Absent")),
    ] {
        check(file, hunks, expected);
    }
}

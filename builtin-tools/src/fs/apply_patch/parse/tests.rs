#![allow(clippy::format_collect, reason = "texts of a test are short")]

use super::*;

#[test]
fn what_is_no_patch_says_why() {
    for (patch, expected) in [
        ("", "line 1: not a patch: it has neither"),
        (
            "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n",
            "line 5: the patch does not end with `*** End Patch`",
        ),
        ("*** Begin Patch\n*** End Patch", "line 1: the patch changes no file"),
        ("please:\n*** Begin Patch\n*** Delete File: f\n*** End Patch", "line 1: unexpected line before"),
        (
            "*** Begin Patch\n*** Delete File: f\n*** End Patch\nand more words",
            "line 4: unexpected line after",
        ),
        (
            "*** Begin Patch\n*** Delete File: f\n*** Delete File: g\n*** End Patch\nEOF\nand more words",
            "line 6: unexpected line after",
        ),
        ("*** Begin Patch\nf\n*** End Patch", "line 2: expected `*** Add File"),
        ("*** Begin Patch\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n*** End Patch", "line 5: the hunk has no lines"),
        ("*** Begin Patch\n*** Add File:\n+x\n*** End Patch", "line 2: the path is missing"),
        (
            "*** Begin Patch\n*** Add File: f\nx\n*** End Patch",
            "line 3: each line of an added file begins with `+`",
        ),
        ("*** Begin Patch\n*** Delete File: f\n-x\n*** End Patch", "line 3: no lines may follow"),
        (
            "*** Begin Patch\n*** Update File: f\n*** End Patch",
            "line 3: the file that is to be updated has no lines",
        ),
        ("*** Begin Patch\n*** Update File: f\n@@\n*** End Patch", "line 4: the hunk has no lines"),
        (
            "*** Begin Patch\n*** Update File: f\n@@\n-a\nb\n*** End Patch",
            "line 5: each line of a hunk begins",
        ),
        ("diff --git a/f b/f\nBinary files a/f and b/f differ\n", "line 2: a binary file cannot be patched"),
        (
            "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n",
            "line 1: the file has no lines to change",
        ),
        (
            "diff --git a/f b/f\nold mode 100644\nnew mode 120000\n",
            "line 3: a symbolic link or a submodule cannot be made or changed",
        ),
        (
            "diff --git a/f b/f\nindex 1..2 160000\n",
            "line 2: a symbolic link or a submodule cannot be made or changed",
        ),
        ("diff --git a/f b/f\nold mode 100644\nnew mode rwx\n", "line 3: invalid file mode"),
        ("diff --git a/f b/f\nold mode 100644\nnew mode 040000\n", "line 3: invalid file mode"),
        (
            "diff --git a/f b/g\nold mode 100644\nnew mode 100755\n",
            "line 1: the names of this file cannot be told apart",
        ),
        (
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/g b/g\n--- a/g\n+++ b/g\n",
            "line 6: the file has no lines to change",
        ),
        ("*** Begin Patch\n--- a/f\n+++ b/f\n*** End Patch", "line 2: the file has no lines to change"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "line 1: neither name"),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n",
            "line 2: a symbolic link or a submodule cannot be made",
        ),
        ("--- a/f\n+++ b/f\n@@ -1 +1 @@\n", "line 4: the hunk has no lines"),
        ("--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n", "line 4: the patch ends within a hunk"),
        (
            "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n a\n",
            "line 5: the patch ends within a hunk, of which 4 old and 4 new lines are missing",
        ),
    ] {
        let error =
            parse(patch).map_err(|error| format!("line {}: {}", error.line, error.problem)).unwrap_err();
        assert!(error.starts_with(expected), "{patch}\n{error}");
    }
}

#[test]
fn what_stands_around_a_patch_is_passed_over() {
    let plain =
        parse("*** Begin Patch\n*** Update File: f\n@@ x\n a\n-b\n+c\n*** Add File: g\n+d\n*** End Patch")
            .unwrap();
    let changes = |patch: &Patch<'_>| {
        let mut changes = patch.changes.clone();
        for change in &mut changes {
            change.line = 0;
            if let Action::Update { hunks, .. } = &mut change.action {
                for hunk in hunks {
                    hunk.line = 0;
                }
            }
        }
        format!("{changes:?}")
    };
    for patch in [
        "\u{feff}*** Begin Patch\n*** Update File: f\n@@ x\n a\n-b\n+c\n*** Add File: g\n+d\n*** End Patch",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n@@ x\n a\n-b\n+c\n*** Add File: g\n+d\n*** End Patch\nEOF\n",
        "```diff\n*** Begin Patch\n*** Update File: f\n@@ x\n a\n-b\n+c\n*** Add File: g\n+d\n*** End Patch\n```",
        "cat <<EOF | apply_patch\n*** Begin Patch  \n*** Update File:  f \n@@ x @@\n a\n-b\n+c\n*** Add File: g\n+d\n\n*** End Patch \nEOF\n'\n\n",
        "\n  *** Begin Patch\n  *** Update File: f\n\n  @@ x\n   a\n  -b\n  +c\n  *** Add File: g\n  +d\n  *** End Patch\n",
        "*** Begin Patch\r\n*** Update File: f\r\n@@ x\r\n a\r\n-b\r\n+c\r\n*** Add File: g\r\n+d\r\n*** End Patch\r\n",
    ] {
        assert_eq!(changes(&parse(patch).unwrap()), changes(&plain), "{patch}");
    }
}

#[test]
fn the_names_of_unified_diffs() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (names, expected) in [
        ("--- a/x y\n+++ b/x y\n", "update x y"),
        ("--- x\n+++ x\n", "update x"),
        ("--- a/x\n+++ a/x\n", "update a/x"),
        ("--- x.orig\t2026\n+++ x\t2026\n", "update x or x.orig"),
        ("--- i/x\n+++ w/x\n", "update x"),
        ("--- of a message\n--- a/x\n+++ b/x\n", "update x"),
        ("diff --git a/x b/x\ndissimilarity index 90%\nindex 1..2 100644\n--- a/x\n+++ b/x\n", "update x"),
        ("--- \"a/\\303\\266\\t\"\n+++ \"b/\\303\\266\\t\"\n", "update ö\t"),
        (
            "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n",
            "move x to y",
        ),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n--- a/x\n+++ b/y\n", "copy x to y"),
        ("--- a/x\n+++ /dev/null\n", "delete x"),
    ] {
        let text = format!("{names}{hunk}");
        let patch = parse(&text).unwrap();
        let change = &patch.changes[0];
        let name = &change.path;
        let told = match (&change.action, &change.or_path) {
            (Action::Update { to: None, .. }, None) => format!("update {name}"),
            (Action::Update { to: None, .. }, Some(other)) => format!("update {name} or {other}"),
            (Action::Update { to: Some(to), is_copy: false, .. }, _) => format!("move {name} to {to}"),
            (Action::Update { to: Some(to), is_copy: true, .. }, _) => format!("copy {name} to {to}"),
            (Action::Add(content), _) => format!("add {name} {content:?}"),
            (Action::Delete(_), _) => format!("delete {name}"),
        };
        assert_eq!(told, expected, "{names}");
    }
    for (patch, expected) in [
        (
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
            Action::Add("a\nb".to_owned()),
        ),
        ("diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n", Action::Add(String::new())),
        ("diff --git a/x b/x\ndeleted file mode 100644\nindex 0..1\n", Action::Delete(Vec::new())),
        ("*** Begin Patch\n\n*** Delete File: x\n\n*** End Patch", Action::Delete(Vec::new())),
        (
            "*** Begin Patch\n*** Add File: x\n+a\n\n\n+b\n\n*** End Patch",
            Action::Add("a\n\n\nb\n".to_owned()),
        ),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
            Action::Update { to: Some("y".to_owned()), is_copy: false, hunks: Vec::new() },
        ),
    ] {
        assert_eq!(parse(patch).unwrap().changes[0].action, expected, "{patch}");
    }
}

/// The paths of a patch and the lines on which their hunks begin.
fn lines(patch: &str) -> Vec<(String, Vec<usize>)> {
    let changes = parse(patch).unwrap().changes.into_iter();
    let hunks = |action| match action {
        Action::Add(_) => Vec::new(),
        Action::Delete(hunks) | Action::Update { hunks, .. } => hunks.iter().map(|hunk| hunk.line).collect(),
    };
    changes.map(|change| (change.path, hunks(change.action))).collect()
}

#[test]
fn hunks_know_their_lines() {
    for (patch, expected) in [
        (
            "x\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
            [("f", vec![4, 7]), ("g", vec![12])],
        ),
        (
            "*** Begin Patch\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n*** End Patch",
            [("f", vec![4]), ("g", vec![10])],
        ),
        (
            "*** Begin Patch\n*** Update File: f\n-a\n+b\n@@\n-c\n*** Update File: g\n@@ x\n-a\n*** End Patch",
            [("f", vec![3, 5]), ("g", vec![8])],
        ),
        // More new lines are counted than there are, and then another file follows.
        (
            "--- a/f\n+++ b/f\n@@ -1 +1,3 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
            [("f", vec![3]), ("g", vec![8])],
        ),
    ] {
        assert_eq!(lines(patch), expected.map(|(path, lines)| (path.to_owned(), lines)), "{patch}");
    }
}

#[test]
fn a_patch_has_a_largest_size() {
    let added = |bytes: usize| {
        let (before, after) = ("*** Begin Patch\n*** Add File: f\n+", "\n*** End Patch\n");
        format!("{before}{}{after}", "a".repeat(bytes - before.len() - after.len()))
    };
    let whole = |body: String| format!("*** Begin Patch\n{body}*** End Patch\n");
    let deleted = |count: usize| whole((0..count).map(|file| format!("*** Delete File: {file}\n")).collect());
    let hunks = |count: usize| whole(format!("*** Update File: f\n{}", "@@\n-a\n".repeat(count)));
    let many = "line 1: the patch has more than 500 files or 100,000 hunks; split it";
    for (patch, error) in [
        (added(MAX_BYTES), None),
        (added(MAX_BYTES + 1), Some("line 1: the patch has more than 32 MiB; split it")),
        (deleted(500), None),
        (deleted(501), Some(many)),
        (hunks(100_000), None),
        (hunks(100_001), Some(many)),
    ] {
        let parsed = parse(&patch).map_err(|error| format!("line {}: {}", error.line, error.problem));
        assert_eq!(parsed.err().as_deref(), error, "{}", &patch[..60]);
    }
}

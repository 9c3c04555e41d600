//! Modes of files that a patch changes, makes and moves: the bit of a git diff is set, and all else goes where the file goes.

#![cfg(all(feature = "fs", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit::testing::{FileSystems, TestCall, TestToolbox, at_fault_points, take_file_systems_for};

/// Fault points and file systems are those of the whole process.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A toolbox with files of these names, contents and modes.
fn toolbox(files: &[(&str, &str, u32)]) -> TestToolbox {
    let mut toolbox = TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .build(toolkit::Builder::for_one_call)
        .approve(ScriptedApprover::always(Answer::allow()));
    for (name, content, _) in files {
        toolbox = toolbox.file(name, content);
    }
    for (name, _, mode) in files {
        let path = toolbox.workspace().path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
    }
    toolbox
}

async fn patch(toolbox: &TestToolbox, input: &str) -> TestCall {
    toolbox.call(json!({ "input": input })).await
}

/// The names, contents and modes of all files.
fn tree(directory: &Path) -> Vec<(String, String, u32)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            (name, fs::read_to_string(path).unwrap(), mode)
        })
        .collect();
    files.sort();
    files
}

fn has(call: &TestCall, toolbox: &TestToolbox, expected: &[(&str, &str, u32)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(name, content, mode)| ((*name).to_owned(), (*content).to_owned(), *mode))
        .collect();
    assert_eq!(tree(toolbox.workspace().path()), expected, "{}", call.text());
}

/// The part of a mode that the mask of this process leaves.
fn masked(mode: u32) -> u32 {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("f"), "").unwrap();
    let plain = fs::metadata(directory.path().join("f")).unwrap().permissions().mode();
    if mode & 0o100 == 0 { plain & 0o777 } else { plain & 0o777 | (plain & 0o444) >> 2 }
}

#[tokio::test]
async fn the_bit_of_a_git_diff_is_set_in_both_directions_and_said() {
    let _alone = ALONE.lock().await;
    let files = [("m", "a\n", 0o640), ("only", "x\n", 0o600), ("off", "x\n", 0o775), ("from", "x\n", 0o664)];
    let toolbox = toolbox(&files);
    let input = "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n\
                 diff --git a/o b/o\nnew file mode 100644\n--- /dev/null\n+++ b/o\n@@ -0,0 +1 @@\n+x\n\
                 diff --git a/m b/m\nold mode 100644\nnew mode 100755\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n-a\n+b\n\
                 diff --git a/only b/only\nold mode 100644\nnew mode 100755\n\
                 diff --git a/off b/off\nold mode 100755\nnew mode 100644\n\
                 diff --git a/from b/to\nold mode 100644\nnew mode 100755\nsimilarity index 100%\nrename from from\nrename to to\n";
    let call = patch(&toolbox, input).await;
    assert_eq!(
        call.text(),
        "patched 6 files:\nA n\nA o\nM m\nM only\nM off\nR from -> to\n(n is executable now)\n(m is executable now)\n\
         (only is executable now)\n(off is not executable any more)\n(to is executable now)"
    );
    let expected = [
        ("m", "b\n", 0o750),
        ("n", "x\n", masked(0o755)),
        ("o", "x\n", masked(0o644)),
        ("off", "x\n", 0o664),
        ("only", "x\n", 0o700),
        ("to", "x\n", 0o775),
    ];
    has(&call, &toolbox, &expected);
    let asked = call.asks[0].to_text();
    for (at, executable, lines) in [
        (0, json!(true), "new file mode 100755\n--- /dev/null\n+++ b/n\n"),
        (1, json!(null), "--- /dev/null\n+++ b/o\n"),
        (2, json!(true), "old mode 100644\nnew mode 100755\n--- a/m\n+++ b/m\n"),
        (3, json!(true), "old mode 100644\nnew mode 100755\n"),
        (4, json!(false), "old mode 100755\nnew mode 100644\n"),
        (5, json!(true), "old mode 100644\nnew mode 100755\n"),
    ] {
        let file = &call.details()["files"][at];
        assert_eq!(file["executable"], executable, "{file}");
        assert!(file["diff"].as_str().unwrap().starts_with(lines), "{file}");
        assert!(lines.lines().all(|line| asked.contains(line)), "{asked}");
    }
    let again = "diff --git a/m b/m\nold mode 100644\nnew mode 100755\n";
    assert!(
        patch(&toolbox, again).await.text().starts_with("the files already have the changes of the patch")
    );
}

#[tokio::test]
async fn a_mode_goes_where_the_file_goes() {
    let _alone = ALONE.lock().await;
    let files = [("a", "a\n", 0o750), ("b", "b\n", 0o604), ("c", "c\n", 0o600)];
    let moved = |from: &str, to: &str| format!("*** Update File: {from}\n*** Move to: {to}\n");
    let plain = masked(0o644);
    for (body, text, expected) in [
        (
            moved("a", "x") + "*** Add File: a\n+new\n",
            "A a\nR a -> x",
            vec![("a", "new\n", plain), ("b", "b\n", 0o604), ("c", "c\n", 0o600), ("x", "a\n", 0o750)],
        ),
        (
            moved("c", "x") + "*** Add File: n\n+new\n" + &moved("n", "c"),
            "R c -> x\nA c",
            vec![("a", "a\n", 0o750), ("b", "b\n", 0o604), ("c", "new\n", plain), ("x", "c\n", 0o600)],
        ),
        (
            moved("a", "x") + "*** Add File: a\n+new\n" + &moved("a", "y"),
            "R a -> x\nA y",
            vec![("b", "b\n", 0o604), ("c", "c\n", 0o600), ("x", "a\n", 0o750), ("y", "new\n", plain)],
        ),
        (
            "*** Delete File: b\n".to_owned() + &moved("c", "b"),
            "M b\nD c",
            vec![("a", "a\n", 0o750), ("b", "c\n", 0o600)],
        ),
        (
            "*** Delete File: a\n*** Add File: a\n+new\n".to_owned(),
            "M a",
            vec![("a", "new\n", 0o750), ("b", "b\n", 0o604), ("c", "c\n", 0o600)],
        ),
        // A file that takes the place of one that moved brings its mode, and that one keeps its own.
        (
            moved("a", "x") + &moved("b", "a"),
            "A x\nM a\nD b",
            vec![("a", "b\n", 0o604), ("c", "c\n", 0o600), ("x", "a\n", 0o750)],
        ),
        (
            "*** Delete File: b\n".to_owned() + &moved("a", "b") + "*** Add File: a\n+new\n",
            "M a\nM b",
            vec![("a", "new\n", 0o640), ("b", "a\n", 0o705), ("c", "c\n", 0o600)],
        ),
        // Two that change places: at least what is a program stays one.
        (
            moved("a", "x") + &moved("b", "a") + &moved("x", "b"),
            "M a\nM b",
            vec![("a", "b\n", 0o640), ("b", "a\n", 0o705), ("c", "c\n", 0o600)],
        ),
    ] {
        for file_systems in [FileSystems::AsTheyAre, FileSystems::WithoutFlags, FileSystems::OnePerDirectory]
        {
            let toolbox = toolbox(&files);
            take_file_systems_for(file_systems);
            let call = patch(&toolbox, &format!("*** Begin Patch\n{body}*** End Patch\n")).await;
            take_file_systems_for(FileSystems::AsTheyAre);
            let told: Vec<String> = call
                .text()
                .lines()
                .skip(1)
                .filter(|line| !line.starts_with('('))
                .map(str::to_owned)
                .collect();
            let mut lines: Vec<&str> = text.lines().collect();
            let mut told: Vec<&str> = told.iter().map(String::as_str).collect();
            lines.sort_unstable();
            told.sort_unstable();
            assert_eq!(told, lines, "{body}\n{}", call.text());
            has(&call, &toolbox, &expected);
        }
    }
    let toolbox = toolbox(&files);
    let copied = "diff --git a/a b/x\nsimilarity index 100%\ncopy from a\ncopy to x\n\
                  diff --git a/c b/y\nsimilarity index 100%\ncopy from c\ncopy to y\n";
    let call = patch(&toolbox, copied).await;
    assert!(call.text().ends_with("A x\nA y\n(x is executable now)"), "{}", call.text());
    let [a, b, c] = files;
    has(&call, &toolbox, &[a, b, c, ("x", "a\n", 0o750), ("y", "c\n", 0o600)]);
    // As it is before, whatever becomes of the one that it is copied from, and in whatever order.
    let copy = |from: &str, to: &str| {
        format!("diff --git a/{from} b/{to}\nsimilarity index 100%\ncopy from {from}\ncopy to {to}\n")
    };
    for (input, expected) in [
        (
            "diff --git a/a b/a\nold mode 100755\nnew mode 100644\n".to_owned() + &copy("a", "x"),
            vec![("a", "a\n", 0o640), b, c, ("x", "a\n", 0o640)],
        ),
        (
            copy("a", "x") + "diff --git a/a b/a\nold mode 100755\nnew mode 100644\n",
            vec![("a", "a\n", 0o640), b, c, ("x", "a\n", 0o750)],
        ),
        (
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
             diff --git a/b b/b\ndeleted file mode 100644\n"
                .to_owned()
                + &copy("a", "b")
                + "diff --git a/a b/x\nsimilarity index 100%\nrename from a\nrename to x\n",
            vec![("b", "a\n", 0o750), c, ("x", "a\n", 0o750)],
        ),
    ] {
        let toolbox = self::toolbox(&files);
        let call = patch(&toolbox, &input).await;
        has(&call, &toolbox, &expected);
    }
}

#[tokio::test]
async fn modes_are_taken_back_with_all_else() {
    let _alone = ALONE.lock().await;
    let files = [("a", "a\n", 0o640), ("b", "b\n", 0o750), ("c", "c\n", 0o640), ("last", "z\n", 0o644)];
    let input = "diff --git a/a b/a\nold mode 100644\nnew mode 100755\n\
                 diff --git a/b b/moved\nold mode 100755\nnew mode 100644\nsimilarity index 50%\nrename from b\nrename to moved\n\
                 --- a/b\n+++ b/moved\n@@ -1 +1 @@\n-b\n+new\n\
                 diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+another\n\
                 diff --git a/last b/last\ndeleted file mode 100644\n";
    for file_systems in [FileSystems::AsTheyAre, FileSystems::WithoutFlags, FileSystems::OnePerDirectory] {
        let toolbox = toolbox(&files);
        let last = toolbox.workspace().path().join("last");
        let is_done = AtomicBool::new(false);
        take_file_systems_for(file_systems);
        // Another hand changes the last file, once all others are made.
        let moved = toolbox.workspace().path().join("moved");
        let b = toolbox.workspace().path().join("b");
        at_fault_points(move |step| {
            let is_made = || moved.exists() && fs::read_to_string(&b).is_ok_and(|text| text == "another\n");
            if step == "take the name away" && is_made() && !is_done.swap(true, Ordering::SeqCst) {
                fs::write(&last, "of another hand\n").unwrap();
            }
        });
        let call = patch(&toolbox, input).await;
        at_fault_points(|_| {});
        take_file_systems_for(FileSystems::AsTheyAre);
        assert!(call.result.outcome.is_err(), "{}", call.text());
        assert!(call.text().contains("all files are unchanged"), "{}", call.text());
        let [a, b, c, _] = files;
        has(&call, &toolbox, &[a, b, c, ("last", "of another hand\n", 0o644)]);
    }
}

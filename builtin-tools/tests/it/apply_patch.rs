//! `apply_patch`, called as a model calls it.

#![cfg(all(feature = "fs", unix))]
#![allow(clippy::format_collect, reason = "texts of a test are short")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{
    ToolErrorKind,
    approval::{Answer, AskDetail, Question, ScriptedApprover},
    permission::{PermissionSettings, Permissions},
};

fn toolbox() -> TestToolbox {
    TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .tool(toolkit::tool_ref!(builtin_tools::fs::read))
        .build(toolkit::Builder::for_one_call)
        .approve(ScriptedApprover::always(Answer::allow()))
}

fn rules(rules: &Value) -> Permissions {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(rules.clone()).unwrap();
    Permissions::new([settings])
}

async fn patch(toolbox: &TestToolbox, body: &str) -> TestCall {
    toolbox.call(json!({ "input": format!("*** Begin Patch\n{body}*** End Patch\n") })).await
}

#[tokio::test]
async fn many_files_change_with_one_question() {
    let toolbox = toolbox()
        .file("src/a.rs", "one\ntwo\nthree\n")
        .file("old.txt", "gone\n")
        .file("run.sh", "#!/bin/sh\necho a\n")
        .file("same", "kept\n");
    let root = toolbox.workspace().path().canonicalize().unwrap();
    fs::set_permissions(root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let call = patch(
        &toolbox,
        "*** Update File: src/a.rs\n@@\n one\n-two\n+2\n*** Add File: new/b\n+x\n*** Delete File: old.txt\n\
         *** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-echo a\n+echo b\n*** Update File: same\n*** Move to: other\n",
    )
    .await;
    assert_eq!(
        call.text(),
        "patched 5 files:\nM src/a.rs\nA new/b\nD old.txt\nR run.sh -> bin/run.sh\nR same -> other"
    );
    assert_eq!(call.file("src/a.rs"), "one\n2\nthree\n");
    assert_eq!(call.file("new/b"), "x\n");
    assert_eq!(call.file("bin/run.sh"), "#!/bin/sh\necho b\n");
    assert_eq!(call.file("other"), "kept\n");
    assert!(["old.txt", "run.sh", "same"].iter().all(|path| !root.join(path).exists()));
    assert_eq!(fs::metadata(root.join("bin/run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(call.asks.len(), 1);
    let Question::Approve(ask) = call.asks[0].question() else { panic!("no question") };
    assert_eq!(ask.kind, "edit");
    assert_eq!(ask.title, "write 7 files: src/a.rs, new/b, old.txt and 4 more (permission.edit)");
    assert_eq!(ask.patterns, ["src/a.rs", "new/b", "old.txt", "run.sh", "bin/run.sh", "same", "other"]);
    let diffs = ask.details.iter().filter(|detail| matches!(detail, AskDetail::Diff { .. })).count();
    assert_eq!(diffs, 5);
    let details = call.details();
    assert_eq!(
        details["files"][0]["diff"],
        "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    );
    assert_eq!((&details["additions"], &details["deletions"]), (&json!(3), &json!(3)));
    let paths: Vec<_> = ["src/a.rs", "new/b", "old.txt", "run.sh", "bin/run.sh", "same", "other"]
        .map(|path| root.join(path))
        .into();
    assert_eq!(call.expect_ok().files_modified, paths);
}

#[tokio::test]
async fn nothing_changes_unless_all_of_it_can() {
    let toolbox =
        toolbox().file("a", "one\ntwo\n").file("b", "x\ny\nx\ny\n").file("d/c", "").file("binary", b"a\0");
    let first = "*** Update File: a\n@@\n-one\n+1\n";
    for (rest, expected) in [
        (
            "*** Update File: b\n@@\n-z\n+q\n",
            "hunk 1 of b (patch line 7): its old lines are not in the file; nothing was changed\nthere is no similar text in the file; read the file again",
        ),
        (
            "*** Update File: b\n@@\n x\n-y\n+q\n",
            "hunk 1 of b (patch line 7): its old lines are in several places, on lines 1, 3; nothing was changed",
        ),
        ("*** Update File: nowhere\n@@\n-z\n+q\n", "nowhere does not exist"),
        ("*** Delete File: nowhere\n", "nowhere does not exist"),
        ("*** Delete File: d\n", "d is a directory; name a file in it"),
        ("*** Add File: b\n+q\n", "patch line 6: b already exists; use `*** Update File` to change it"),
        (
            "*** Update File: b\n*** Move to: a\n",
            "patch line 6: a already exists, so b cannot be moved there",
        ),
        (
            "*** Update File: a\n@@\n-one\n+2\n",
            "hunk 1 of a (patch line 7): its old lines are not in the file",
        ),
        ("*** Update File: binary\n@@\n-a\n+b\n", "binary is a binary file"),
        ("what\n", "patch line 6: each line of a hunk begins with a space"),
    ] {
        let call = patch(&toolbox, &format!("{first}{rest}")).await;
        assert!(call.result.outcome.is_err(), "{rest}");
        let text = call.text();
        assert!(text.contains(expected), "{rest}\n{text}");
        assert_eq!(call.file("a"), "one\ntwo\n", "{rest}");
        assert_eq!(call.asks.len(), 0, "{rest}");
    }
    let call = patch(&toolbox, "*** Update File: a\n@@\n-one\n+one\n").await;
    assert!(call.text().contains("nothing would change"), "{}", call.text());
}

#[tokio::test]
async fn changes_follow_one_another() {
    let toolbox = toolbox().file("a", "one\n").file("b", "two\n");
    for (body, text) in [
        ("*** Update File: a\n@@\n-one\n+1\n*** Update File: ./a\n@@\n-1\n+uno\n", "patched 1 file:\nM a"),
        ("*** Delete File: a\n*** Add File: a\n+anew\n", "patched 1 file:\nM a"),
        (
            "*** Update File: a\n*** Move to: c\n*** Update File: c\n@@\n-anew\n+moved\n",
            "patched 1 file:\nR a -> c",
        ),
        ("*** Delete File: b\n*** Update File: c\n*** Move to: b\n", "patched 2 files:\nM b\nD c"),
        ("*** Add File: n\n+x\n*** Update File: n\n*** Move to: m\n", "patched 1 file:\nA m"),
    ] {
        let call = patch(&toolbox, body).await;
        assert_eq!(call.text(), text, "{body}");
    }
    assert_eq!(toolbox.workspace().read("b"), "moved\n");
    assert_eq!(toolbox.workspace().read("m"), "x\n");
}

#[tokio::test]
async fn each_path_is_decided_on_its_own() {
    let permissions = json!({ "edit": [
        { "match": "*", "do": "ask" }, { "match": "free/*", "do": "allow" }, { "match": "never", "do": "deny" },
    ] });
    let toolbox = toolbox().build(|builder| builder.permissions(rules(&permissions)));
    let toolbox =
        toolbox.file("free/a", "x\n").file("b", "x\n").file("never", "x\n").file(".git/config", "x\n");
    let update = |path: &str| format!("*** Update File: {path}\n@@\n-x\n+y\n");
    let call = patch(&toolbox, &(update("free/a") + &update("never"))).await;
    call.expect_error(ToolErrorKind::Denied);
    assert_eq!((call.file("free/a"), call.asks.len()), ("x\n".to_owned(), 0));
    let call = patch(&toolbox, &(update("free/a") + &update("b") + &update(".git/config"))).await;
    call.expect_ok();
    let Question::Approve(ask) = call.asks[0].question() else { panic!("no question") };
    assert_eq!(call.asks.len(), 1);
    assert_eq!(
        (ask.kind.as_str(), &ask.patterns[..]),
        ("protected", &["b".to_owned(), ".git/config".to_owned()][..])
    );
    assert_eq!(call.file(".git/config"), "y\n");
    assert_eq!(patch(&toolbox, "*** Update File: free/a\n@@\n-y\n+z\n").await.asks.len(), 0);
}

#[tokio::test]
async fn what_may_not_be_read_is_not_quoted() {
    let toolbox = toolbox().file(".env", "KEY=hidden\nOTHER=1\n").file("a", "x\n");
    let missed = patch(&toolbox, "*** Update File: .env\n@@\n-KEX=hidde\n+y\n").await;
    let told = format!("{}{}", missed.text(), missed.asks[0].to_text());
    assert!(missed.result.outcome.is_err() && !told.contains("hidden"), "{told}");
    let made =
        patch(&toolbox, "*** Update File: .env\n@@\n-OTHER=1\n+OTHER=2\n*** Update File: a\n@@\n-x\n+y\n")
            .await;
    assert_eq!(made.file(".env"), "KEY=hidden\nOTHER=2\n");
    assert!(!format!("{:?}", made.expect_ok()).contains("hidden"));
    assert!(!made.asks[0].to_text().contains("hidden"));
}

#[tokio::test]
async fn what_another_hand_changed_is_read_again_first() {
    let toolbox = toolbox().file("a", "one\n").file("b", "x\n");
    let root = toolbox.workspace().path().to_owned();
    toolbox.call_tool("read", json!({ "file_path": "b" })).await.expect_ok();
    fs::write(root.join("b"), "x\ny\n").unwrap();
    let call = patch(&toolbox, "*** Update File: a\n@@\n-one\n+1\n*** Update File: b\n@@\n-x\n+z\n").await;
    assert!(
        call.text().contains("b was changed by something else since it was last read here"),
        "{}",
        call.text()
    );
    assert_eq!(call.file("a"), "one\n");
    let changed = root.join("a");
    let toolbox = TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .file("a", "one\n")
        .file("b", "x\n");
    let changed = if changed.exists() { toolbox.workspace().path().join("a") } else { changed };
    let meanwhile = ScriptedApprover::new([]).with_rule(
        move |_| {
            fs::write(&changed, "one\ntwo\n").unwrap();
            true
        },
        Answer::allow(),
    );
    let toolbox = toolbox.approve(meanwhile);
    let call = patch(&toolbox, "*** Update File: b\n@@\n-x\n+z\n*** Update File: a\n@@\n-one\n+1\n").await;
    assert!(
        call.text().starts_with("a was changed by something else during the approval prompt"),
        "{}",
        call.text()
    );
    assert_eq!((call.file("a"), call.file("b")), ("one\ntwo\n".to_owned(), "x\n".to_owned()));
}

#[tokio::test]
async fn other_formats_and_names() {
    let toolbox = toolbox().file("a", "one\r\ntwo\r\n");
    let call = toolbox.call(json!({ "patch": "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n" })).await;
    assert_eq!((call.text().as_str(), call.file("a").as_str()), ("patched 1 file:\nM a", "one\r\n2\r\n"));
    let call = patch(&toolbox, "*** Update File: @a\n@@\n-one \n+1\n").await;
    assert_eq!(
        call.text(),
        "patched 1 file:\nM a\n(hunk 1 of a was found on line 1 ignoring white space at the ends of lines)\n\
         (there is no `@a`; this is `a`)"
    );
}

#[tokio::test]
async fn a_hunk_is_not_put_elsewhere_than_it_says() {
    let toolbox = toolbox().file("a", "def f():\n    x = 1\n\ndef g():\n    x = 2\n");
    for (anchor, expected) in [
        (
            "def g():",
            "hunk 1 of a (patch line 3): its old lines are only on line 2, before the line after `@@`, which is line 4; nothing \
             was changed. Correct the old lines, or the line after `@@`",
        ),
        (
            "def nope():",
            "hunk 1 of a (patch line 3): the line after `@@` is not in the file: `def nope():`; nothing was changed. Name \
             a line of the file that is before the hunk, or none",
        ),
    ] {
        let call =
            patch(&toolbox, &format!("*** Update File: a\n@@ {anchor}\n-    x = 1\n+    x = 3\n")).await;
        assert_eq!(call.text(), expected);
        assert_eq!(call.file("a"), "def f():\n    x = 1\n\ndef g():\n    x = 2\n");
    }
}

#[tokio::test]
async fn a_hunk_that_is_not_on_its_line_is_told() {
    let toolbox = toolbox().file("a", "one\ntwo\nthree\nfour\n");
    let patch = "--- a/a\n+++ b/a\n@@ -400,1 +400,1 @@\n-two\n+2\n@@ -3 +3 @@\n-three\n+3\n@@ -4,0 +5 @@\n+five\n\
                 @@ -90,0 +91 @@\n+six\n";
    let call = toolbox.call(json!({ "input": patch })).await;
    assert_eq!(
        call.text(),
        "patched 1 file:\nM a\n(hunk 1 of a was found on line 2, not 400)\n(hunk 4 of a was found on line 4, not 90)"
    );
    assert_eq!(call.file("a"), "one\n2\n3\nfour\nfive\nsix\n");
}

#[tokio::test]
async fn a_file_is_deleted_as_a_diff_has_it_or_not_at_all() {
    let patch = "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n";
    for (content, said, is_there) in [
        ("one\ntwo\n", "patched 1 file:\nD a", false),
        (
            "one\ntwo\nthree\n",
            "patch line 1: a has more than the lines that the patch deletes; nothing was changed",
            true,
        ),
    ] {
        let toolbox = toolbox().file("a", content);
        assert_eq!(toolbox.call(json!({ "input": patch })).await.text(), said);
        assert_eq!(toolbox.workspace().path().join("a").exists(), is_there, "{content}");
    }
}

#[tokio::test]
async fn so_many_hunks_in_a_looser_form_are_told_one_by_one() {
    for (count, last) in [
        (20, "\n(hunk 20 of a was found on line 20 ignoring white space at the ends of lines)"),
        (22, "\n(2 more hunks were found in a looser form)"),
    ] {
        let file: String = (1..=count).map(|line| format!("{line} \n")).collect();
        let hunks: String = (1..=count).map(|line| format!("@@\n-{line}\n+line {line}\n")).collect();
        let call = patch(&toolbox().file("a", file), &format!("*** Update File: a\n{hunks}")).await;
        assert!(call.text().ends_with(last), "{}", call.text());
        assert_eq!(call.text().matches("\n(hunk").count(), 20, "{}", call.text());
    }
}

#[tokio::test]
async fn so_much_is_shown_of_what_changes() {
    let line = format!("{}\n", "x".repeat(99));
    let toolbox = toolbox().file("long", line.repeat(11_000)).file("short", line.repeat(18));
    let call = patch(&toolbox, "*** Delete File: long\n*** Delete File: short\n").await;
    let [long, short] = [0, 1].map(|at| &call.details()["files"][at]);
    assert_eq!((&long["diffTruncated"], &short["diffTruncated"]), (&json!(true), &json!(false)));
    let room = (1 << 20) - long["diff"].as_str().unwrap().rfind("\n[").unwrap();
    assert!(room < line.len() + 2, "{room} bytes are left");
    assert_eq!(short["diff"].as_str().unwrap().lines().count(), 3 + 18);
}

#[tokio::test]
async fn a_directory_that_a_command_names_is_where_paths_belong() {
    let toolbox = toolbox().file("a", "x\n").file("sub/a", "x\n");
    let input =
        "cd sub && apply_patch <<'P'\n*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\nP\n";
    let call = toolbox.call(json!({ "input": input })).await;
    assert_eq!(call.text(), "patched 1 file:\nM sub/a");
    assert_eq!((call.file("a"), call.file("sub/a")), ("x\n".to_owned(), "y\n".to_owned()));
}

#[tokio::test]
async fn a_command_before_a_patch_makes_no_directory() {
    let toolbox = toolbox().file("sub/a", "x\n").file("file", "");
    let body = "*** Begin Patch\n*** Add File: deep/new\n+x\n*** End Patch\nP\n";
    for (directory, made) in
        [("nope", None), ("sub/nope", None), ("file", None), ("sub", Some("sub/deep/new"))]
    {
        let call =
            toolbox.call(json!({ "input": format!("cd {directory} && apply_patch <<'P'\n{body}") })).await;
        match made {
            Some(path) => assert_eq!(call.file(path), "x\n"),
            None => {
                call.expect_error(ToolErrorKind::NotFound);
                assert!(call.asks.is_empty());
            }
        }
    }
    assert_eq!(toolbox.workspace().files(), ["file", "sub/a", "sub/deep/new"]);
    // Outside the workspace it is known once it was allowed.
    let outside = tempfile::tempdir().unwrap();
    let nope = outside.path().join("nope");
    let unified =
        format!("cd {} && git apply <<'P'\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\nP\n", nope.display());
    let call = toolbox.call(json!({ "input": unified })).await;
    let error = call.expect_error(ToolErrorKind::NotFound);
    assert!(error.message().contains("does not exist; nothing was changed"), "{error}");
    assert!(!nope.exists());
}

#[tokio::test]
async fn what_needs_leave_to_be_read_needs_it_to_get_another_name() {
    let permissions = json!({ "edit": "allow", "protected": [
        { "match": ".env", "do": "allow" }, { "match": ".env.local", "do": "allow" },
    ] });
    let hidden = "KEY=hidden\n";
    let allowed = |allow: bool| {
        let answer = if allow { Answer::allow() } else { Answer::deny() };
        TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
            .build(|builder| builder.permissions(rules(&permissions)))
            .approve(ScriptedApprover::always(answer))
            .file(".env", hidden)
    };
    let copied = "diff --git a/.env b/e.txt\nsimilarity index 100%\ncopy from .env\ncopy to e.txt\n";
    let moved = "*** Begin Patch\n*** Update File: .env\n*** Move to: e.txt\n*** End Patch";
    for input in [copied, moved] {
        let toolbox = allowed(false);
        let call = toolbox.call(json!({ "input": input })).await;
        call.expect_error(ToolErrorKind::Denied);
        let Question::Approve(ask) = call.asks[0].question() else { panic!("no question") };
        assert_eq!((call.asks.len(), ask.kind.as_str()), (1, "sensitive"));
        assert_eq!(call.file(".env"), hidden);
        assert!(!toolbox.workspace().path().join("e.txt").exists());
        let call = allowed(true).call(json!({ "input": input })).await;
        call.expect_ok();
        assert_eq!((call.asks.len(), call.file("e.txt").as_str()), (1, hidden));
    }
    // Under another name that needs leave, it may have been given before.
    let call = patch(&allowed(false), "*** Update File: .env\n*** Move to: .env.local\n").await;
    call.expect_error(ToolErrorKind::Denied);
    let call = patch(&allowed(true), "*** Update File: .env\n*** Move to: .env.local\n").await;
    assert_eq!((call.text().as_str(), call.asks.len()), ("patched 1 file:\nR .env -> .env.local", 1));
}

#[tokio::test]
async fn what_a_link_leads_to_is_not_taken_away() {
    let toolbox = toolbox().file("r", "x\n").file("d/e", "x\n");
    let root = toolbox.workspace().path().to_owned();
    std::os::unix::fs::symlink("r", root.join("l")).unwrap();
    std::os::unix::fs::symlink("d", root.join("to")).unwrap();
    for body in ["*** Delete File: l\n", "*** Update File: l\n*** Move to: m\n"] {
        let call = patch(&toolbox, body).await;
        assert!(
            call.text().starts_with(
                "l is a symbolic link to r, which would be deleted or moved; nothing was changed"
            ),
            "{}",
            call.text()
        );
        assert_eq!((call.file("r").as_str(), call.asks.len()), ("x\n", 0));
    }
    // A link on the way, or to what changes, is another thing.
    let call = patch(&toolbox, "*** Update File: l\n@@\n-x\n+y\n*** Delete File: to/e\n").await;
    assert_eq!(call.text(), "patched 2 files:\nM r\nD d/e");
}

#[tokio::test]
async fn what_a_session_saw_of_a_file_moves_along() {
    let toolbox = toolbox().tool(toolkit::tool_ref!(builtin_tools::fs::write)).file("a", "one\n");
    let root = toolbox.workspace().path().to_owned();
    toolbox.call_tool("read", json!({ "file_path": "a" })).await.expect_ok();
    patch(&toolbox, "*** Update File: a\n*** Move to: s/m\n").await.expect_ok();
    fs::write(root.join("s/m"), "of another hand\n").unwrap();
    let write = json!({ "file_path": "s/m", "content": "mine\n" });
    let call = toolbox.call_tool("write", write.clone()).await;
    assert!(call.text().contains("was changed since it was last read here"), "{}", call.text());
    assert_eq!(call.file("s/m"), "of another hand\n");
    // A read that shows nothing of it is none.
    let call = toolbox.call_tool("read", json!({ "file_path": "s/m", "offset": 99 })).await;
    assert!(call.text().contains("past the end"), "{}", call.text());
    assert!(toolbox.call_tool("write", write.clone()).await.result.outcome.is_err());
    toolbox.call_tool("read", json!({ "file_path": "s/m" })).await.expect_ok();
    toolbox.call_tool("write", write).await.expect_ok();
    // A new time of the same content is no change of it.
    toolbox.call_tool("read", json!({ "file_path": "s/m" })).await.expect_ok();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::open(root.join("s/m")).unwrap().set_modified(later).unwrap();
    patch(&toolbox, "*** Update File: s/m\n@@\n-mine\n+yours\n").await.expect_ok();
}

#[tokio::test]
async fn what_must_be_asked_for_to_be_read_is_asked_for_wherever_it_leads() {
    let outside = tempfile::tempdir().unwrap();
    let base = outside.path().canonicalize().unwrap();
    for file in ["plain", ".env", "asked"] {
        fs::write(base.join(file), "KEY=hidden\n").unwrap();
    }
    std::os::unix::fs::symlink(base.join(".env"), base.join("leads")).unwrap();
    let at = |name: &str| base.join(name).display().to_string();
    let permissions = json!({
        "edit": "allow", "external_directory": [{ "match": format!("{}/*", base.display()), "do": "allow" }],
        "protected": [{ "match": at(".env"), "do": "allow" }],
        "read": [{ "match": at("asked"), "do": "ask" }],
    });
    for (name, kinds) in
        [("plain", &[][..]), ("leads", &["sensitive"]), (".env", &["sensitive"]), ("asked", &["read"])]
    {
        for is_allowed in [false, true] {
            let answer = if is_allowed { Answer::allow() } else { Answer::deny() };
            let toolbox = TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
                .build(|builder| builder.permissions(rules(&permissions)))
                .approve(ScriptedApprover::always(answer));
            let input = format!(
                "diff --git \"{0}\" \"copied\"\nsimilarity index 100%\ncopy from {0}\ncopy to copied\n",
                at(name)
            );
            let call = toolbox.call(json!({ "input": input })).await;
            let asked: Vec<&str> = call
                .asks
                .iter()
                .map(|asked| match asked.question() {
                    Question::Approve(ask) => ask.kind.as_str(),
                    _ => "no permission",
                })
                .collect();
            assert_eq!(asked.first(), kinds.first(), "{name}: {}", call.text());
            let is_copied = toolbox.workspace().path().join("copied").exists();
            assert_eq!(is_copied, is_allowed || kinds.is_empty(), "{name}: {}", call.text());
        }
    }
}

#[tokio::test]
async fn a_link_that_leads_out_is_not_taken_for_what_it_leads_to() {
    let outside = tempfile::tempdir().unwrap();
    let base = outside.path().canonicalize().unwrap();
    fs::write(base.join("r"), "x\n").unwrap();
    std::os::unix::fs::symlink("r", base.join("l")).unwrap();
    let toolbox = toolbox();
    let root = toolbox.workspace().path().to_owned();
    std::os::unix::fs::symlink(base.join("r"), root.join("out")).unwrap();
    let linked = base.join("l").display().to_string();
    for (name, shown) in [("out", "out is a symbolic link"), (&linked, "that path is a symbolic link")] {
        let call = patch(&toolbox, &format!("*** Delete File: {name}\n")).await;
        assert!(call.text().starts_with(shown), "{name}: {}", call.text());
        assert_eq!(fs::read_to_string(base.join("r")).unwrap(), "x\n", "{name}");
    }
}

#[tokio::test]
async fn what_goes_unseen_is_not_counted() {
    let permissions = json!({ "edit": "allow", "protected": [{ "match": ".env", "do": "allow" }] });
    let toolbox = toolbox().build(|builder| builder.permissions(rules(&permissions)));
    let toolbox = toolbox.file(".env", "KEY=hidden\nA=1\nB=2\n").file("a", "x\n");
    let call = patch(&toolbox, "*** Delete File: .env\n*** Update File: a\n@@\n-x\n+y\n").await;
    assert_eq!(call.text(), "patched 2 files:\nD .env\nM a");
    let details = call.details();
    assert_eq!((&details["deletions"], details["files"][0].get("deletions")), (&json!(1), None));
    assert!(!format!("{:?}", call.expect_ok()).contains("hidden"));
}

#[tokio::test]
async fn the_change_of_a_file_in_another_encoding_can_be_read() {
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let latin = b"gr\xF6\xDFe und \xFCber\nvor \xE4lteren B\xE4umen\nx \xE7a\n";
    let toolbox = toolbox().file("utf16", utf16("\u{feff}größe\nyou\n")).file("latin", latin);
    let body = "*** Update File: utf16\n@@\n größe\n-you\n+thou\n\
                *** Update File: latin\n@@\n-größe und über\n-vor älteren Bäumen\n+a\n x ça\n";
    let call = patch(&toolbox, body).await;
    let details = call.details();
    for (at, diff) in [
        (0, "--- a/utf16\n+++ b/utf16\n@@ -1,2 +1,2 @@\n größe\n-you\n+thou\n"),
        (1, "--- a/latin\n+++ b/latin\n@@ -1,3 +1,2 @@\n-größe und über\n-vor älteren Bäumen\n+a\n x ça\n"),
    ] {
        assert_eq!(details["files"][at]["diff"], diff, "{}", call.text());
    }
    assert_eq!(fs::read(toolbox.workspace().path().join("latin")).unwrap(), b"a\nx \xE7a\n");
}

#[tokio::test]
async fn a_hunk_after_the_block_that_it_names_is_told() {
    let toolbox = toolbox()
        .file("a", "def f():\n    x = 1\n\ndef g():\n    x = 2\n")
        .file("b", "# A\n\nx\n\n# B\n\ny\n");
    let call = patch(&toolbox, "*** Update File: a\n@@ def f():\n-    x = 2\n+    x = 3\n").await;
    assert_eq!(
        call.text(),
        "patched 1 file:\nM a\n(hunk 1 of a was found on line 5, after the block that `@@` names, which begins on line 1)"
    );
    // Prose has no blocks.
    let call = patch(
        &toolbox,
        "*** Update File: b\n@@ # A\n-y\n+z\n*** Update File: a\n@@ def g():\n-    x = 3\n+    x\n",
    )
    .await;
    assert_eq!(call.text(), "patched 2 files:\nM b\nM a");
}

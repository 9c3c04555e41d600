use super::*;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{Answer, AskDetail, Question, ScriptedApprover, ToolErrorKind};

fn toolbox(answers: impl IntoIterator<Item = Answer>) -> TestToolbox {
    TestToolbox::new(toolkit::tool_ref!(write)).approve(ScriptedApprover::new(answers))
}

async fn call(toolbox: &TestToolbox, path: &str, content: &str) -> TestCall {
    toolbox.call(json!({ "file_path": path, "content": content })).await
}

/// The diff that the person saw.
fn diff_shown(call: &TestCall) -> &str {
    let Question::Approve(ask) = call.asks[0].question() else { panic!("no question") };
    let diff = ask.details.iter().find_map(|detail| match detail {
        AskDetail::Diff { diff, .. } => Some(diff.as_str()),
        _ => None,
    });
    diff.unwrap_or("none")
}

#[tokio::test]
async fn texts_and_diffs() {
    let toolbox = toolbox((0..20).map(|_| Answer::allow()))
        .file("old", "one\ntwo\n")
        .file("windows", "one\r\ntwo\r\n")
        .file("marked", "\u{feff}one\n");
    for (path, content, text, file, diff) in [
        (
            "new/deep/file",
            "one\ntwo\n",
            "made new/deep/file: 2 lines, 8 bytes",
            "one\ntwo\n",
            "--- /dev/null\n+++ b/new/deep/file\n@@ -0,0 +1,2 @@\n+one\n+two\n",
        ),
        (
            "old",
            "one\n2",
            "replaced old: 2 lines, 5 bytes (1 added, 1 removed)",
            "one\n2",
            "--- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\\ No newline at end of file\n",
        ),
        (
            "windows",
            "one\nthree\n",
            "replaced windows: 2 lines, 12 bytes (1 added, 1 removed)\n(line endings kept: CRLF)",
            "one\r\nthree\r\n",
            "--- a/windows\n+++ b/windows\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+three\r\n",
        ),
        (
            "marked",
            "two\n",
            "replaced marked: 1 line, 7 bytes (1 added, 1 removed)\n(encoding kept: UTF-8 with a byte order mark)",
            "\u{feff}two\n",
            "--- a/marked\n+++ b/marked\n@@ -1 +1 @@\n-\u{feff}one\n+\u{feff}two\n",
        ),
        ("empty", "", "made empty: 0 lines, 0 bytes", "", "--- /dev/null\n+++ b/empty\n"),
    ] {
        let call = call(&toolbox, path, content).await;
        assert_eq!(call.text(), text);
        assert_eq!(fs::read_to_string(toolbox.workspace().path().join(path)).unwrap(), file);
        assert_eq!(diff_shown(&call), diff, "{path}");
        let output = call.expect_ok();
        assert_eq!(output.details.as_ref().unwrap()["diff"], Value::from(diff));
        assert_eq!(output.files_modified, [toolbox.workspace().path().canonicalize().unwrap().join(path)]);
    }
}

#[tokio::test]
async fn what_is_no_file_is_not_written() {
    let toolbox = toolbox((0..9).map(|_| Answer::allow())).file("folder/file", "text").file("locked", "text");
    let place = toolbox.workspace().path().to_owned();
    assert!(std::process::Command::new("mkfifo").arg(place.join("pipe")).status().unwrap().success());
    symlink("pipe", place.join("to_pipe")).unwrap();
    for (path, expected) in [
        ("folder", "folder is a directory; name a file in it"),
        (".", ". is a directory; name a file in it"),
        ("pipe", "pipe is not a regular file but a pipe, a socket or a device"),
        ("to_pipe", "pipe is not a regular file but a pipe, a socket or a device"),
        ("folder/file/x", "folder/file/x does not exist: a part of it is a file, not a directory"),
    ] {
        assert_eq!(call(&toolbox, path, "x").await.text(), expected, "{path}");
    }
    assert_eq!(toolbox.workspace().read("folder/file"), "text");
}

#[tokio::test]
async fn mode_and_links_are_kept() {
    let toolbox = toolbox((0..9).map(|_| Answer::allow())).file("script", "old").file("sub/real", "old");
    let place = toolbox.workspace().path().to_owned();
    fs::set_permissions(place.join("script"), fs::Permissions::from_mode(0o751)).unwrap();
    symlink("sub/real", place.join("link")).unwrap();
    symlink("sub/absent", place.join("dangling")).unwrap();
    for path in ["script", "link", "dangling"] {
        call(&toolbox, path, "new").await.expect_ok();
        assert_eq!(toolbox.workspace().read(path), "new");
    }
    assert_eq!(fs::metadata(place.join("script")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(fs::read_link(place.join("link")).unwrap().to_str(), Some("sub/real"));
    assert_eq!(fs::read_link(place.join("dangling")).unwrap().to_str(), Some("sub/absent"));
    assert_eq!(toolbox.workspace().files(), ["dangling", "link", "script", "sub/absent", "sub/real"]);
}

#[tokio::test]
async fn a_no_leaves_all_as_it_is() {
    let toolbox = toolbox([Answer::deny(), Answer::deny(), Answer::deny()]).file("old", "text");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("there"), "text").unwrap();
    let there = outside.path().canonicalize().unwrap();
    for path in ["old", there.join("there").to_str().unwrap(), there.join("new/deep").to_str().unwrap()] {
        let call = call(&toolbox, path, "x").await;
        call.expect_error(ToolErrorKind::Denied);
    }
    assert_eq!(toolbox.workspace().files(), ["old"]);
    assert_eq!(fs::read_to_string(there.join("there")).unwrap(), "text");
    assert!(!there.join("new").exists());
}

#[tokio::test]
async fn outside_the_workspace_the_question_shows_nothing_of_what_is_there() {
    let toolbox = toolbox([Answer::allow(), Answer::deny()]);
    let outside = tempfile::tempdir().unwrap();
    let there = outside.path().canonicalize().unwrap().join("there");
    fs::write(&there, "a secret\n").unwrap();
    let path = there.to_str().unwrap();
    let first = call(&toolbox, path, "new\n").await;
    assert_eq!(diff_shown(&first), "none");
    assert!(!format!("{:?}", first.asks).contains("a secret"));
    assert_eq!(first.expect_ok().details.as_ref().unwrap()["additions"], 1);
    assert_eq!(fs::read_to_string(&there).unwrap(), "new\n");
    call(&toolbox, path, "other").await.expect_error(ToolErrorKind::Denied);
    assert_eq!(fs::read_to_string(&there).unwrap(), "new\n");
}

#[tokio::test]
async fn another_hand_is_noticed() {
    let toolbox = toolbox((0..9).map(|_| Answer::allow()))
        .tool(toolkit::tool_ref!(crate::fs::read))
        .caller(|caller| caller.with_session("s"))
        .file("f", "one\n");
    let path = toolbox.workspace().path().join("f");
    toolbox.call_tool("read", json!({ "file_path": "f" })).await.expect_ok();
    call(&toolbox, "f", "two\n").await.expect_ok();
    // What the session did itself is no other hand.
    call(&toolbox, "f", "three\n").await.expect_ok();
    fs::write(&path, "another\n").unwrap();
    let call_ = call(&toolbox, "f", "four\n").await;
    assert!(
        call_.text().starts_with("f was changed by another hand since it was last read here"),
        "{}",
        call_.text()
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "another\n");
    toolbox.call_tool("read", json!({ "file_path": "f" })).await.expect_ok();
    call(&toolbox, "f", "four\n").await.expect_ok();
}

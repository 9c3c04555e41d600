use super::*;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{
    ToolErrorKind,
    approval::{Answer, AskDetail, Question, ScriptedApprover},
};

fn toolbox(answers: impl IntoIterator<Item = Answer>) -> TestToolbox {
    let toolbox = TestToolbox::new(toolkit::tool_ref!(write)).approve(ScriptedApprover::new(answers));
    // These tests are not about files that must be read first.
    toolbox.build(toolkit::Builder::for_one_call)
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
        ("folder/file/x", "folder/file/x cannot exist: a part of its path is a file, not a directory"),
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
    assert_eq!(first.expect_ok().details.as_ref().unwrap().get("additions"), None);
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
    // Changes of the session itself do not count.
    call(&toolbox, "f", "three\n").await.expect_ok();
    fs::write(&path, "another\n").unwrap();
    let call_ = call(&toolbox, "f", "four\n").await;
    assert!(call_.text().starts_with("f was changed since it was last read here"), "{}", call_.text());
    assert_eq!(fs::read_to_string(&path).unwrap(), "another\n");
    toolbox.call_tool("read", json!({ "file_path": "f" })).await.expect_ok();
    call(&toolbox, "f", "four\n").await.expect_ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_writes_at_once_each_lands_whole() {
    const WRITERS: usize = 64;
    let content = |writer: usize| format!("{writer}\n").repeat(1_000);
    for sessions in [1, WRITERS] {
        let workspace = tempfile::tempdir().unwrap();
        let toolkit = Toolkit::empty()
            .tool(toolkit::tool_ref!(write))
            .approver(ScriptedApprover::always(Answer::allow()))
            .default_workspace(workspace.path())
            .build()
            .unwrap();
        let mut calls = Vec::new();
        for writer in 0..WRITERS {
            let session = (writer % sessions).to_string();
            let toolbox = toolkit.toolbox(&Caller::new().with_session(session)).await;
            let arguments = json!({ "file_path": "f", "content": content(writer) });
            calls.push(tokio::spawn(async move {
                toolbox.call(ToolCall::new("1", "write", arguments)).await.error().map(ToString::to_string)
            }));
        }
        let mut landed = 0;
        for call in calls {
            match call.await.unwrap() {
                None => landed += 1,
                // Another session's changes count, and nobody overwrites them unseen.
                Some(error) => assert!(
                    sessions > 1
                        && (error.contains("changed by something else")
                            || error.contains("exists now")
                            || error.contains("was not read in this session")),
                    "{error}"
                ),
            }
        }
        assert!(if sessions == 1 { landed == WRITERS } else { landed > 0 }, "{sessions}: {landed}");
        let left = fs::read_to_string(workspace.path().join("f")).unwrap();
        assert!((0..WRITERS).any(|writer| left == content(writer)));
        assert_eq!(fs::read_dir(workspace.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn a_person_can_read_the_change_of_a_file_in_any_encoding() {
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let latin = |text: &str| encoding_rs::WINDOWS_1252.encode(text).0.into_owned();
    let toolbox = toolbox((0..3).map(|_| Answer::allow()))
        .file("utf16", utf16("\u{feff}größe\nyou\n"))
        .file("latin", latin("größe\nüber\n"))
        .file("old", latin("größe\nüber\n"));
    for (path, content, file, expected) in [
        (
            "utf16",
            "größe\nthere\n",
            utf16("\u{feff}größe\nthere\n"),
            "--- a/utf16\n+++ b/utf16\n@@ -1,2 +1,2 @@\n \u{feff}größe\n-you\n+there\n",
        ),
        (
            "latin",
            "größe\nßß\n",
            latin("größe\nßß\n"),
            "--- a/latin\n+++ b/latin\n@@ -1,2 +1,2 @@\n größe\n-über\n+ßß\n",
        ),
        // It gets another encoding.
        (
            "old",
            "größe\n日\n",
            "größe\n日\n".into(),
            "--- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n größe\n-über\n+日\n",
        ),
    ] {
        let call = call(&toolbox, path, content).await;
        assert_eq!(diff_shown(&call), expected);
        assert_eq!(call.details()["diff"], expected);
        assert_eq!(fs::read(toolbox.workspace().path().join(path)).unwrap(), file);
    }
}

#[tokio::test]
async fn leave_to_write_tells_nothing_of_what_was_there() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("f");
    fs::write(&path, "hidden\nX=1\n").unwrap();
    let toolbox = toolbox((0..9).map(|_| Answer::allow())).file(".env", "KEY=hidden\nX=1\n");
    for path in [".env", path.to_str().unwrap()] {
        let call = call(&toolbox, path, "X=1\n").await;
        let told = format!("{:?} {:?}", call.expect_ok(), call.asks);
        assert!(!told.contains("hidden") && !call.text().contains("removed"), "{told}");
        assert!(call.text().ends_with(": 1 line, 4 bytes"), "{}", call.text());
    }
    assert_eq!(fs::read_to_string(path).unwrap(), "X=1\n");
    // Of a new one all that is in it was in the call.
    let call = call(&toolbox, ".env.local", "X=1\n").await;
    assert!(call.details()["diff"].as_str().unwrap().contains("+X=1"), "{}", call.details());
}

#[tokio::test]
async fn another_hand_is_noticed_where_nothing_was_known_before_the_question() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().canonicalize().unwrap().join("f");
    let toolbox = toolbox((0..20).map(|_| Answer::allow()))
        .tool(toolkit::tool_ref!(crate::fs::read))
        .file(".env", "old\n");
    fs::write(&path, "old\n").unwrap();
    for (name, path) in
        [(path.to_str().unwrap(), path.clone()), (".env", toolbox.workspace().path().join(".env"))]
    {
        toolbox.call_tool("read", json!({ "file_path": name })).await.expect_ok();
        fs::write(&path, "of another hand\n").unwrap();
        let refused = call(&toolbox, name, "new\n").await;
        assert!(refused.text().contains("changed since it was last read"), "{}", refused.text());
        assert_eq!(fs::read_to_string(&path).unwrap(), "of another hand\n");
        toolbox.call_tool("read", json!({ "file_path": name })).await.expect_ok();
        call(&toolbox, name, "new\n").await.expect_ok();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
        // Its own change is no other hand's.
        call(&toolbox, name, "newer\n").await.expect_ok();
    }
}

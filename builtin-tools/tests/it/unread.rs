//! The session's knowledge of a file decides whether it may replace or remove it.

#![cfg(all(feature = "fs", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs::{self, File, FileTimes};
use std::path::PathBuf;
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{
    ToolErrorKind,
    approval::{Answer, ScriptedApprover},
};

fn toolbox() -> TestToolbox {
    TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::write))
        .tool(toolkit::tool_ref!(builtin_tools::fs::edit))
        .tool(toolkit::tool_ref!(builtin_tools::fs::read))
        .tool(toolkit::tool_ref!(builtin_tools::fs::grep))
        .tool(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .approve(ScriptedApprover::always(Answer::allow()))
}

async fn read(toolbox: &TestToolbox, arguments: Value) {
    toolbox.call_tool("read", arguments).await.expect_ok();
}

async fn write(toolbox: &TestToolbox, path: &str, content: &str) -> TestCall {
    toolbox.call_tool("write", json!({ "file_path": path, "content": content })).await
}

async fn delete(toolbox: &TestToolbox, path: &str) -> TestCall {
    let input = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n");
    toolbox.call_tool("apply_patch", json!({ "input": input })).await
}

const UNREAD: &str = "exists, and it was not read in this session; nothing was written. Read all of it first, or use `edit` to \
                      change a part of it";
const PART: &str = "exists, and only a part of it was read in this session; nothing was written. Read all of it first, or use \
                    `edit` to change a part of it";

/// Ten lines.
const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

#[tokio::test]
async fn what_was_not_read_is_not_replaced() {
    let toolbox = toolbox().file("f", "one\n").file("empty", "").file("long", LINES);
    let call = write(&toolbox, "f", "two\n").await;
    assert_eq!(call.expect_error(ToolErrorKind::Failed).message(), format!("f {UNREAD}"));
    assert_eq!((call.file("f"), call.asks.len()), ("one\n".to_owned(), 0));
    // The lines that a search shows are not all of the file.
    toolbox.call_tool("grep", json!({ "pattern": "one" })).await.expect_ok();
    write(&toolbox, "f", "two\n").await.expect_error(ToolErrorKind::Failed);
    read(&toolbox, json!({ "file_path": "f" })).await;
    write(&toolbox, "f", "two\n").await.expect_ok();
    // A file that the session wrote itself is known.
    write(&toolbox, "f", "three\n").await.expect_ok();
    write(&toolbox, "new", "one\n").await.expect_ok();
    write(&toolbox, "new", "two\n").await.expect_ok();
    // There is nothing to lose.
    write(&toolbox, "empty", "one\n").await.expect_ok();
}

#[tokio::test]
async fn what_was_read_in_part_is_not_replaced() {
    let toolbox = toolbox().file("f", LINES).file("g", LINES).file("h", LINES);
    read(&toolbox, json!({ "file_path": "f", "limit": 4 })).await;
    let call = write(&toolbox, "f", "x\n").await;
    assert_eq!(call.expect_error(ToolErrorKind::Failed).message(), format!("f {PART}"));
    // The pages together are all of it.
    read(&toolbox, json!({ "file_path": "f", "offset": 8 })).await;
    assert_eq!(write(&toolbox, "f", "x\n").await.text(), format!("f {PART}"));
    read(&toolbox, json!({ "file_path": "f", "offset": 5, "limit": 3 })).await;
    write(&toolbox, "f", "x\n").await.expect_ok();
    // Pages of two versions are not.
    read(&toolbox, json!({ "file_path": "g", "limit": 5 })).await;
    fs::write(toolbox.workspace().path().join("g"), LINES.replace('1', "one")).unwrap();
    read(&toolbox, json!({ "file_path": "g", "offset": 6 })).await;
    assert_eq!(write(&toolbox, "g", "x\n").await.text(), format!("g {PART}"));
    // To change a part of it makes nothing of the rest known.
    read(&toolbox, json!({ "file_path": "h", "limit": 5 })).await;
    let edit = json!({ "file_path": "h", "old_string": "2\n", "new_string": "two\n" });
    toolbox.call_tool("edit", edit).await.expect_ok();
    assert_eq!(write(&toolbox, "h", "x\n").await.text(), format!("h {PART}"));
    read(&toolbox, json!({ "file_path": "h" })).await;
    let edit = json!({ "file_path": "h", "old_string": "two\n", "new_string": "2\n" });
    toolbox.call_tool("edit", edit).await.expect_ok();
    write(&toolbox, "h", "x\n").await.expect_ok();
}

#[tokio::test]
async fn what_was_not_read_is_not_removed_by_a_patch() {
    let toolbox = toolbox().file("f", LINES).file("g", LINES).file("h", LINES).file("i", LINES);
    let refused = |call: &TestCall, path: &str| {
        let said = format!(
            "patch line 2: {path} was not read in this session, or only a part of it, so it must not be deleted; read all of it \
             first; nothing was changed"
        );
        assert_eq!(call.expect_error(ToolErrorKind::Failed).message(), said);
        assert!(call.workspace().contains(path));
    };
    refused(&delete(&toolbox, "f").await, "f");
    read(&toolbox, json!({ "file_path": "f", "limit": 4 })).await;
    refused(&delete(&toolbox, "f").await, "f");
    let input = "*** Begin Patch\n*** Delete File: f\n*** Add File: f\n+x\n*** End Patch\n";
    refused(&toolbox.call_tool("apply_patch", json!({ "input": input })).await, "f");
    read(&toolbox, json!({ "file_path": "f" })).await;
    delete(&toolbox, "f").await.expect_ok();
    assert!(!toolbox.workspace().contains("f"));
    // A diff that has all lines of a file knows them.
    let lines = LINES.replace('\n', "\n-");
    let input = format!("--- a/g\n+++ /dev/null\n@@ -1,10 +0,0 @@\n-{}\n", lines.trim_end_matches("\n-"));
    toolbox.call_tool("apply_patch", json!({ "input": input })).await.expect_ok();
    assert!(!toolbox.workspace().contains("g"));
    // Nothing is lost where it is moved or changed by lines that it has.
    let input = "*** Begin Patch\n*** Update File: h\n*** Move to: j\n*** Update File: i\n@@\n-1\n+one\n*** End Patch\n";
    toolbox.call_tool("apply_patch", json!({ "input": input })).await.expect_ok();
    refused(&delete(&toolbox, "j").await, "j");
}

#[tokio::test]
async fn a_host_for_one_call_cannot_have_read() {
    let toolbox = toolbox().file("f", "one\n").file("g", "one\n").build(toolkit::Builder::for_one_call);
    write(&toolbox, "f", "two\n").await.expect_ok();
    delete(&toolbox, "g").await.expect_ok();
}

/// Changes a file so that its size and its time are what they were.
fn change_unseen(path: &PathBuf, content: &str) {
    let time = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, content).unwrap();
    File::options().write(true).open(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
}

#[tokio::test]
async fn a_change_that_keeps_size_and_time_is_seen() {
    let toolbox = toolbox().file("f", LINES).file("g", LINES);
    let place = |name: &str| toolbox.workspace().path().join(name);
    for (name, arguments) in
        [("f", json!({ "file_path": "f" })), ("g", json!({ "file_path": "g", "offset": 2, "limit": 3 }))]
    {
        read(&toolbox, arguments).await;
        change_unseen(&place(name), &LINES.replace("10", "xx"));
        let patch = format!("*** Begin Patch\n*** Update File: {name}\n@@\n-2\n+two\n*** End Patch\n");
        for (tool, arguments) in [
            ("write", json!({ "file_path": name, "content": "x\n" })),
            ("edit", json!({ "file_path": name, "old_string": "2\n", "new_string": "two\n" })),
            ("apply_patch", json!({ "input": patch })),
        ] {
            let call = toolbox.call_tool(tool, arguments).await;
            let text = call.text();
            assert!(text.starts_with(&format!("{name} was changed")), "{tool}: {text}");
            assert!(text.contains("since it was last read here"), "{tool}: {text}");
        }
        assert_eq!(fs::read_to_string(place(name)).unwrap(), LINES.replace("10", "xx"));
    }
}

#[tokio::test]
async fn a_time_alone_is_no_change() {
    let toolbox = toolbox().file("f", LINES).file("g", LINES);
    let path = |name: &str| toolbox.workspace().path().join(name);
    read(&toolbox, json!({ "file_path": "f" })).await;
    read(&toolbox, json!({ "file_path": "g", "offset": 2, "limit": 3 })).await;
    for name in ["f", "g"] {
        // Another program that saves the file unchanged, as a new file of its name.
        fs::copy(path(name), path("copy")).unwrap();
        fs::rename(path("copy"), path(name)).unwrap();
        let edit = json!({ "file_path": name, "old_string": "2\n", "new_string": "two\n" });
        toolbox.call_tool("edit", edit).await.expect_ok();
    }
    fs::write(path("f"), fs::read(path("f")).unwrap()).unwrap();
    write(&toolbox, "f", "x\n").await.expect_ok();
}

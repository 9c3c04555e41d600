//! `edit`, called as a model calls it.

#![cfg(all(feature = "fs", unix))]
#![allow(clippy::format_collect, reason = "texts of a test are short")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::testing::{TestCall, TestToolbox};
use toolkit::{
    ToolErrorKind,
    approval::{Answer, AskDetail, Question, ScriptedApprover},
    permission::{PermissionSettings, Permissions},
};

fn toolbox() -> TestToolbox {
    TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::edit))
        .tool(toolkit::tool_ref!(builtin_tools::fs::read))
        .approve(ScriptedApprover::always(Answer::allow()))
}

fn allowing(rules: &Value) -> Permissions {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(rules.clone()).unwrap();
    Permissions::new([settings])
}

async fn edit(toolbox: &TestToolbox, path: &str, old: &str, new: &str) -> TestCall {
    toolbox.call(json!({ "file_path": path, "old_string": old, "new_string": new })).await
}

/// The diff that the person saw.
fn diff_shown(call: &TestCall) -> String {
    let Question::Approve(ask) = call.asks[0].question() else { panic!("no question") };
    let diffs = ask.details.iter().filter_map(|detail| match detail {
        AskDetail::Diff { diff, .. } => Some(diff.as_str()),
        _ => None,
    });
    diffs.collect()
}

#[tokio::test]
async fn an_edit_is_asked_with_its_diff_and_reported() {
    let toolbox = toolbox().file("src/a.rs", "one\r\ntwo\r\nthree\r\n");
    let path = toolbox.workspace().path().join("src/a.rs");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    let call = edit(&toolbox, "src/a.rs", "one\ntwo", "one\n2\nmore").await;
    let diff = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,3 +1,4 @@\n one\r\n-two\r\n+2\r\n+more\r\n three\r\n";
    assert_eq!(
        call.text(),
        "edited src/a.rs: replaced 1 place, on line 1 (+2 -1 lines)\nold_string is not in the file as it was given; \
         found on line 1 ignoring line endings, and only the differing text was changed"
    );
    assert_eq!(call.file("src/a.rs"), "one\r\n2\r\nmore\r\nthree\r\n");
    assert_eq!(diff_shown(&call), diff);
    assert_eq!(
        call.details(),
        &json!({
            "filePath": "src/a.rs", "created": false, "additions": 2, "deletions": 1,
            "replacements": [{ "count": 1, "line": 1, "overlooked": "line endings" }],
            "diff": diff, "diffTruncated": false,
        })
    );
    let output = call.expect_ok();
    assert_eq!(output.title.as_deref(), Some("Edited src/a.rs (+2 -1)"));
    assert_eq!(output.files_modified, [path.canonicalize().unwrap()]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn carriage_returns_that_do_not_come_into_the_file_are_said() {
    let said = "\n(new lines end with LF, like the lines that they replace, not with the CRLF of the new text; `write` changes the \
                endings of a file)";
    for (file, old, new, after, is_said) in [
        ("a\nb\n", "b", "c\r\nd", "a\nc\nd\n", true),
        ("a\nb\n", "b", "c\nd", "a\nc\nd\n", false),
        ("a\nb\n", "a\n", "a\r\n", "a\r\nb\n", false),
        ("a\r\nb\r\n", "b", "c\r\nd", "a\r\nc\r\nd\r\n", false),
        ("a\r\nb\r\n", "b", "c\nd", "a\r\nc\r\nd\r\n", false),
        ("a", "a", "b\r\nc", "b\r\nc", false),
        ("a\r\nb\n", "a\r\nb\n", "a\r\nB\nc\n", "a\r\nB\nc\n", false),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n", true),
    ] {
        let call = edit(&toolbox().file("f", file), "f", old, new).await;
        assert_eq!(
            (call.file("f"), call.text().contains(said)),
            (after.to_owned(), is_said),
            "{file:?} {new:?}"
        );
    }
    // Of several edits each brings its own.
    for (second, is_said) in [("d\r\nD", true), ("d\nD", false)] {
        let edits = json!([
            { "old_string": "a\n", "new_string": "a\r\n" },
            { "old_string": "d", "new_string": second },
            { "old_string": "e", "new_string": "E" },
        ]);
        let toolbox = toolbox().file("f", "a\nb\nc\nd\ne\n");
        let call = toolbox.call(json!({ "file_path": "f", "edits": edits })).await;
        let after = "a\r\nb\nc\nd\nD\nE\n".to_owned();
        assert_eq!((call.file("f"), call.text().contains(said)), (after, is_said), "{second:?}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let toolbox = toolbox()
        .file("a", "fn one() {\n    let x = 1;\n}\n\nfn two() {\n    let x = 2;\n}\n")
        .file("b/c", "")
        .file("binary", b"a\0b");
    symlink("a", toolbox.workspace().path().join("link")).unwrap();
    for (arguments, expected) in [
        (
            json!({ "file_path": "a", "old_string": "\tlet y = 1;\n", "new_string": "" }),
            "old_string is not in a, nor is it in a looser form; nothing was changed\nthe nearest text is on line 2\n\
             line 2 differs in indentation (4 spaces there, 1 tab asked) and after it:\n  there:     let x = 1;\n  asked: \tlet \
             y = 1;",
        ),
        (
            json!({ "file_path": "a", "old_string": "fn one() {\n  let x = 1;\n}", "new_string": "" }),
            "old_string is not in a, nor is it in a looser form; nothing was changed\nthe nearest text is on lines 1 to 3\n\
             line 2 differs in indentation (4 spaces there, 2 spaces asked):\n  there:     let x = 1;\n  asked:   let x = 1;",
        ),
        (
            json!({ "file_path": "a", "old_string": "     2→    let x = 1;", "new_string": "x" }),
            "old_string is not in a, nor is it in a looser form; nothing was changed\nits lines begin with line numbers as \
             `read` shows them, which the file does not have\nthe nearest text is on line 2\nline 2 differs in indentation (4 spaces \
             there, 5 spaces asked) and after it:\n  there:     let x = 1;\n  asked:      2→    let x = 1;",
        ),
        (
            json!({ "file_path": "a", "old_string": "let x = 7;", "new_string": "let x = 2;" }),
            "old_string is not in a, nor is it in a looser form; nothing was changed\nnew_string is already in the file, on \
             line 6: was this edit made before?\nthe nearest text is on line 2\nline 2 differs:\n  there:     let x = 1;\n  \
             asked: let x = 7;",
        ),
        (
            json!({ "file_path": "a", "old_string": "qqqq", "new_string": "" }),
            "old_string is not in a, nor is it in a looser form; nothing was changed\nthere is no similar text in the file; read \
             the file again",
        ),
        (
            json!({ "file_path": "a", "old_string": "let x", "new_string": "" }),
            "old_string is in 2 places of a: on lines 2, 6; add lines around it until it is in one place, or set \
             `replace_all`",
        ),
        (
            json!({ "file_path": "a", "old_string": "x", "new_string": "x" }),
            "old_string and new_string are identical, so nothing would change",
        ),
        (
            json!({ "file_path": "a", "old_string": "", "new_string": "x" }),
            "`old_string` is empty, and a exists: name the text to replace, or use `write` to replace the whole file",
        ),
        (
            json!({ "file_path": "b/c", "old_string": "", "new_string": "x" }),
            "`old_string` is empty, and b/c exists: name the text to replace, or use `write` to replace the whole file",
        ),
        (
            json!({ "file_path": "b", "old_string": "x", "new_string": "" }),
            "b is a directory; name a file in it",
        ),
        (
            json!({ "file_path": "b", "old_string": "", "new_string": "x" }),
            "b is a directory; name a file in it",
        ),
        (
            json!({ "file_path": "binary", "old_string": "a", "new_string": "" }),
            "binary is a binary file, and this tool changes text",
        ),
        (
            json!({ "file_path": "a", "edits": [{ "old_string": "one", "new_string": "1" },
                    { "old_string": "fn one", "new_string": "fn 1" }] }),
            "edits[0].old_string and edits[1].old_string share text on line 1 of a; make one edit of the two",
        ),
        (
            json!({ "file_path": "a", "edits": [{ "old_string": "one", "new_string": "1" },
                    { "old_string": "zzzz", "new_string": "y" }] }),
            "edits[1].old_string is not in a, nor is it in a looser form; nothing was changed\nthere is no similar text in the file; read the file again",
        ),
        (
            json!({ "file_path": "a", "old_string": "x", "new_string": "y",
                    "edits": [{ "old_string": "x", "new_string": "y" }] }),
            "give either `old_string` and `new_string`, or `edits`, not both",
        ),
        (json!({ "file_path": "a", "old_string": "x" }), "`new_string` is missing: the text that replaces"),
        (json!({ "file_path": "a" }), "`old_string` and `new_string` are missing; give both, or `edits`"),
    ] {
        let call = toolbox.call(arguments.clone()).await;
        assert!(call.result.outcome.is_err(), "{arguments}");
        assert!(call.text().starts_with(expected), "{arguments}\n{}", call.text());
    }
    let absent = edit(&toolbox, "nowhere", "a", "b").await;
    absent.expect_error(ToolErrorKind::NotFound);
    let a = fs::read_to_string(toolbox.workspace().path().join("a")).unwrap();
    assert!(a.starts_with("fn one() {\n    let x = 1;"), "{a}");
}

#[tokio::test]
async fn links_stay_and_files_are_made() {
    let toolbox = toolbox().file("a", "one\n");
    let root = toolbox.workspace().path().to_owned();
    symlink("a", root.join("link")).unwrap();
    edit(&toolbox, "link", "one", "two").await.expect_ok();
    assert!(root.join("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(toolbox.workspace().read("a"), "two\n");
    let made = edit(&toolbox, "new/deep/b", "", "x\ny").await;
    assert_eq!(made.text(), "created new/deep/b (2 lines, 3 bytes)");
    assert_eq!(made.file("new/deep/b"), "x\ny");
    assert_eq!(
        diff_shown(&made),
        "--- /dev/null\n+++ b/new/deep/b\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n"
    );
    // A name that was probably meant is said.
    let repaired = edit(&toolbox, "@a", "two", "three").await;
    assert!(repaired.text().ends_with("there is no `@a`; this is `a`"), "{}", repaired.text());
}

#[tokio::test]
async fn what_another_hand_changed_is_read_again_first() {
    let toolbox = toolbox().file("a", "one\ntwo\n");
    let path = toolbox.workspace().path().join("a");
    toolbox.call_tool("read", json!({ "file_path": "a" })).await.expect_ok();
    // Its own edits are none of another hand.
    edit(&toolbox, "a", "one", "1").await.expect_ok();
    edit(&toolbox, "a", "two", "2").await.expect_ok();
    fs::write(&path, "1\n2\nthree\n").unwrap();
    let stale = edit(&toolbox, "a", "2", "two").await;
    assert!(
        stale.text().contains("a was changed by something else since it was last read here"),
        "{}",
        stale.text()
    );
    assert_eq!(stale.file("a"), "1\n2\nthree\n");
    toolbox.call_tool("read", json!({ "file_path": "a" })).await.expect_ok();
    assert_eq!(edit(&toolbox, "a", "2", "two").await.file("a"), "1\ntwo\nthree\n");
}

/// Answers that take until something else was done.
fn meanwhile(work: impl Fn() + Send + Sync + 'static) -> ScriptedApprover {
    ScriptedApprover::new([]).with_rule(
        move |_| {
            work();
            true
        },
        Answer::allow(),
    )
}

#[tokio::test]
async fn a_change_while_the_person_thinks_is_not_overwritten() {
    let toolbox = TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::edit)).file("a", "one\ntwo\n");
    let path = toolbox.workspace().path().join("a");
    let toolbox = toolbox.approve(meanwhile(move || fs::write(&path, "one\ntwo\nthree\n").unwrap()));
    let call = edit(&toolbox, "a", "one", "1").await;
    assert!(
        call.text().starts_with("a was changed by something else during the approval prompt"),
        "{}",
        call.text()
    );
    assert_eq!(call.file("a"), "one\ntwo\nthree\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_edits_of_a_session_all_land() {
    let content: String = (0..64).map(|number| format!("line {number};\n")).collect();
    for asks in [true, false] {
        let toolbox = toolbox().file("a", &content);
        let toolbox = if asks {
            toolbox
        } else {
            toolbox.build(|builder| builder.permissions(allowing(&json!({ "edit": "allow" }))))
        };
        let toolbox = Arc::new(toolbox.toolbox().await).clone();
        let calls = (0..64).map(|number| {
            let arguments = json!({ "file_path": "a", "old_string": format!("line {number};"), "new_string": format!("LINE {number}\nmore;") });
            let toolbox = Arc::clone(&toolbox);
            tokio::spawn(async move { toolbox.call(ToolCall::new(format!("{number}"), "edit", arguments)).await })
        });
        for call in calls.collect::<Vec<_>>() {
            let result = call.await.unwrap();
            assert!(result.outcome.is_ok(), "{}", result.text());
        }
        let path = toolbox.caller().workspace_dir().join("a");
        let expected: String = (0..64).map(|number| format!("LINE {number}\nmore;\n")).collect();
        assert_eq!(fs::read_to_string(path).unwrap(), expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_sessions_no_edit_is_silently_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    fs::write(&path, (0..64).map(|number| format!("line {number};\n")).collect::<String>()).unwrap();
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(builtin_tools::fs::edit))
        .permissions(allowing(&json!({ "edit": "allow" })))
        .build()
        .unwrap();
    let mut calls = Vec::new();
    for session in ["one", "two"] {
        let caller = Caller::new().with_session(session).with_workspace(directory.path());
        let toolbox = Arc::new(toolkit.toolbox(&caller).await);
        for number in (0..64).filter(|number| (number % 2 == 0) == (session == "one")) {
            let toolbox = Arc::clone(&toolbox);
            let arguments = json!({ "file_path": "a", "old_string": format!("line {number};"), "new_string": format!("{session} {number};") });
            calls.push((
                number,
                session,
                tokio::spawn(async move {
                    toolbox.call(ToolCall::new(format!("{session}{number}"), "edit", arguments)).await
                }),
            ));
        }
    }
    let mut results = Vec::new();
    for (number, session, call) in calls {
        results.push((number, session, call.await.unwrap()));
    }
    let content = fs::read_to_string(&path).unwrap();
    for (number, session, result) in results {
        let landed = content.contains(&format!("{session} {number};\n"));
        assert_eq!(landed, result.outcome.is_ok(), "{}", result.text());
        assert!(landed || result.text().contains("was changed by something else"), "{}", result.text());
        assert!(landed || content.contains(&format!("line {number};\n")));
    }
    assert_eq!(content.lines().count(), 64);
}

#[tokio::test]
async fn what_may_not_be_read_is_not_quoted() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    fs::write(outside.path(), "token = hidden\n").unwrap();
    let there = outside.path().canonicalize().unwrap();
    let toolbox = toolbox().file(".env", "KEY=hidden\nOTHER=hidden\n");
    for path in [".env", there.to_str().unwrap()] {
        let missed = edit(&toolbox, path, "KEX=hidde", "x").await;
        assert!(missed.result.outcome.is_err());
        let asked = missed.asks[0].to_text();
        assert!(!format!("{}{asked}", missed.text()).contains("hidden"), "{}\n{asked}", missed.text());
    }
    let made = edit(&toolbox, ".env", "KEY=", "NEW=").await;
    assert_eq!(made.file(".env"), "NEW=hidden\nOTHER=hidden\n");
    let output = made.expect_ok();
    assert!(!format!("{output:?}").contains("hidden"), "{output:?}");
    assert_eq!(diff_shown(&made), "@@ @@\n-KEY=\n+NEW=\n");
    let denied = TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::edit))
        .build(|builder| {
            builder
                .permissions(allowing(&json!({ "read": [{ "match": "a", "do": "deny" }], "edit": "allow" })))
        })
        .file("a", "one");
    let call = edit(&denied, "a", "one", "two").await;
    call.expect_error(ToolErrorKind::Denied);
    assert_eq!(call.file("a"), "one");
}

#[tokio::test]
async fn other_encodings_stay() {
    let utf16: Vec<u8> = "\u{FEFF}größe\r\nzwei\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin = b"gr\xF6\xDFe\nzwei sch\xF6ne\n".to_vec();
    let toolbox = toolbox().file("utf16", &utf16).file("latin", &latin);
    edit(&toolbox, "utf16", "größe\nzwei", "größe\nüber→").await.expect_ok();
    let expected: Vec<u8> = "\u{FEFF}größe\r\nüber→\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let root = toolbox.workspace().path();
    assert_eq!(fs::read(root.join("utf16")).unwrap(), expected);
    edit(&toolbox, "latin", "zwei schöne", "drei süße").await.expect_ok();
    assert_eq!(fs::read(root.join("latin")).unwrap(), b"gr\xF6\xDFe\ndrei s\xFC\xDFe\n");
    let refused = edit(&toolbox, "latin", "drei", "→").await;
    assert!(refused.text().contains("latin is written in windows-1252"), "{}", refused.text());
}

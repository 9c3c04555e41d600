//! A process that dies at each step of a patch leaves each file old or new, and one in which a step fails brings back what
//! was changed before.

#![cfg(all(feature = "fs", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::prelude::*;
use toolkit::testing::at_fault_points;
use toolkit::{
    CancellationToken, ToolErrorKind,
    approval::{Answer, CallbackApprover, ScriptedApprover},
};

/// In the child: at which step it happens, what happens, and where.
const AT: &str = "TOOLKIT_TEST_PATCH_AT";
const WHAT: &str = "TOOLKIT_TEST_PATCH_WHAT";
const WHERE: &str = "TOOLKIT_TEST_PATCH_WHERE";
/// More than there are steps.
const MAX_STEPS: usize = 100;

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-old a\n+new a\n*** Add File: deep/b\n+new b\n\
                     *** Update File: c\n*** Move to: moved/c\n@@\n-old c\n+new c\n*** Update File: e\n@@\n-old e\n+new e\n\
                     *** Delete File: d\n*** End Patch\n";
/// The files as they are before and after.
const FILES: [(&str, Option<&str>, Option<&str>); 6] = [
    ("a", Some("old a\n"), Some("new a\n")),
    ("deep/b", None, Some("new b\n")),
    ("c", Some("old c\n"), None),
    ("moved/c", None, Some("new c\n")),
    ("e", Some("old e\n"), Some("new e\n")),
    ("d", Some("old d\n"), None),
];

async fn apply(base: &Path, patch: &str) -> ToolResult {
    call(base, "apply_patch", json!({ "input": patch })).await
}

async fn call(base: &Path, tool: &str, arguments: Value) -> ToolResult {
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .tool(toolkit::tool_ref!(builtin_tools::fs::edit))
        .tool(toolkit::tool_ref!(builtin_tools::fs::read))
        .tool(toolkit::tool_ref!(builtin_tools::fs::write))
        .approver(ScriptedApprover::always(Answer::allow()))
        .default_workspace(base.join("inside"))
        .data_dir(base.join("data"))
        .for_one_call()
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", tool, arguments)).await
}

/// The child's work; nothing if this is no child.
#[tokio::test]
async fn child() {
    let Ok(at) = std::env::var(AT) else { return };
    let at: usize = at.parse().unwrap();
    let what = std::env::var(WHAT).unwrap();
    let base = std::env::var(WHERE).unwrap();
    let (passed, place, what_patch) = (AtomicUsize::new(0), base.clone(), what.clone());
    at_fault_points(move |_step| {
        if passed.fetch_add(1, Ordering::SeqCst) + 1 == at {
            match &*what {
                "die" | "die of many" => std::process::abort(),
                // Another hand makes it fail from here on.
                _ => {
                    fs::write(Path::new(&place).join("inside/e"), "another hand\n").unwrap();
                    fs::write(Path::new(&place).join("inside/d"), "another hand\n").unwrap();
                }
            }
        }
    });
    let patch = if what_patch == "die of many" { many() } else { PATCH.to_owned() };
    let result = apply(Path::new(&base), &patch).await;
    println!("RESULT {}", json!(result.text()));
}

/// A workspace after the child, whether it died, and what it said.
fn run_child(what: &str, at: usize) -> (tempfile::TempDir, bool, String) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("inside")).unwrap();
    for (path, before, _) in FILES {
        if let Some(before) = before {
            fs::write(directory.path().join("inside").join(path), before).unwrap();
        }
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "patch_faults::child", "--nocapture"])
        .envs([
            (AT, at.to_string()),
            (WHAT, what.to_owned()),
            (WHERE, directory.path().to_str().unwrap().to_owned()),
        ])
        .output()
        .unwrap();
    let is_dead = output.status.signal().is_some();
    assert!(is_dead || output.status.success(), "{what} {at}: {output:?}");
    let said = String::from_utf8_lossy(&output.stdout).lines().find_map(|line| {
        let (_, text) = line.split_once("RESULT ")?;
        serde_json::from_str::<String>(text).ok()
    });
    (directory, is_dead, said.unwrap_or_default())
}

fn content(directory: &tempfile::TempDir, path: &str) -> Option<String> {
    fs::read_to_string(directory.path().join("inside").join(path)).ok()
}

#[tokio::test]
async fn killed_at_any_step_each_file_is_old_or_new() {
    let next = [
        ("apply_patch", json!({ "input": "*** Begin Patch\n*** Add File: next\n+x\n*** End Patch" })),
        ("read", json!({ "file_path": "." })),
        ("read", json!({ "file_path": "nowhere" })),
        ("write", json!({ "file_path": "next", "content": "x" })),
        ("edit", json!({ "file_path": "next", "old_string": "", "new_string": "x" })),
    ];
    let (mut died, mut mixed) = (0, 0);
    for at in 1..MAX_STEPS {
        let (directory, is_dead, _) = run_child("die", at);
        if !is_dead {
            break;
        }
        died += 1;
        let moved = (content(&directory, "c"), content(&directory, "moved/c"));
        for (path, before, after) in FILES {
            let now = content(&directory, path);
            // Between its move and its change it has the old content in the new place.
            let is_moved = path == "moved/c" && moved.0.is_none() && now.as_deref() == Some("old c\n");
            assert!(
                now.as_deref() == before || now.as_deref() == after || is_moved,
                "{path} at {at}: {now:?}"
            );
        }
        assert!(moved.0.is_some() != moved.1.is_some(), "{moved:?}");
        // The next call that reads or changes a file says what the patch that was interrupted left, once.
        let is_old = FILES.iter().all(|(path, before, _)| content(&directory, path).as_deref() == *before);
        let is_new = FILES.iter().all(|(path, _, after)| content(&directory, path).as_deref() == *after);
        let is_mixed = !is_old && !is_new;
        let (tool, arguments) = next[mixed % next.len()].clone();
        let said = call(directory.path(), tool, arguments).await.text();
        assert_eq!(said.contains("an earlier patch was interrupted"), is_mixed, "{at}: {said}");
        for (path, before, after) in FILES.iter().filter(|_| is_mixed) {
            let now = content(&directory, path);
            let is_old = said.contains(&format!("\n{path} was as before that patch"));
            let is_new = said.contains(&format!("\n{path} was as that patch makes it"));
            assert_eq!(
                (is_old, is_new),
                (now.as_deref() == *before, now.as_deref() == *after),
                "{at} {path}: {said}"
            );
        }
        mixed += usize::from(is_mixed);
        assert!(!apply(directory.path(), PATCH).await.text().contains("interrupted"));
    }
    assert!((20..MAX_STEPS - 1).contains(&died) && mixed > 10, "{died} steps, {mixed} of them in between");
}

/// A patch that makes 60 files.
fn many() -> String {
    let files =
        (0..60).fold(String::new(), |text, file| text + &format!("*** Add File: many/{file:02}\n+x\n"));
    format!("*** Begin Patch\n{files}*** End Patch\n")
}

#[tokio::test]
async fn what_many_files_have_is_told_in_short_and_after_a_call_that_nobody_waited_for() {
    let (directory, is_dead, _) = run_child("die of many", 301);
    assert!(is_dead);
    let made = fs::read_dir(directory.path().join("inside/many")).unwrap().count();
    assert!((5..55).contains(&made), "{made}");
    // A call that is given up while a person thinks has told nobody.
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(builtin_tools::fs::write))
        .approver(CallbackApprover::from_async(move |_| {
            token.cancel();
            std::future::pending::<Answer>()
        }))
        .default_workspace(directory.path().join("inside"))
        .data_dir(directory.path().join("data"))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let write = ToolCall::new("1", "write", json!({ "file_path": "next", "content": "x" }));
    let given_up = toolbox.call_with(write, cancel).await;
    assert_eq!(given_up.error().map(ToolError::kind), Some(ToolErrorKind::Aborted));
    let said = call(directory.path(), "read", json!({ "file_path": "a" })).await.text();
    let (_, note) = said.split_once("an earlier patch was interrupted").unwrap();
    assert_eq!(note.lines().count(), 1 + 20 + 1, "{note}");
    let (old, new) = (60 - made, made);
    let rest = format!("\nand 40 more; of all {old} were as before it, {new} as it makes them)");
    assert!(note.ends_with(&rest), "{note}");
    // Of the fewer kind first.
    let first = if old < new { "was as before that patch" } else { "was as that patch makes it" };
    assert!(note.lines().nth(1).unwrap().ends_with(first), "{note}");
    assert!(
        !call(directory.path(), "read", json!({ "file_path": "a" })).await.text().contains("interrupted")
    );
}

#[test]
fn where_a_step_fails_what_was_changed_before_is_brought_back() {
    let mut failed = 0;
    for at in 1..MAX_STEPS {
        let (directory, _, said) = run_child("fail", at);
        let other = Some("another hand\n");
        let is_applied = said.starts_with("patched 5 files");
        for (path, before, after) in FILES {
            let now = content(&directory, path);
            let expected = if is_applied { after } else { before };
            assert!(now.as_deref() == expected || now.as_deref() == other, "{path} at {at}: {now:?}\n{said}");
        }
        if is_applied {
            break;
        }
        failed += 1;
        // Another hand's content is never lost.
        assert!(
            content(&directory, "e").as_deref() == other || content(&directory, "d").as_deref() == other,
            "{at}\n{said}"
        );
        // A change that another process made after the patch stays, and the report says so.
        let is_left = said.contains(
            "these earlier changes of the patch could not be undone:\ne: e was changed by something else",
        );
        let is_honest = said.contains("nothing was changed")
            || said.contains("the earlier changes of the patch were undone: all files are unchanged")
            || is_left && content(&directory, "e").as_deref() == other;
        assert!(is_honest && said.contains("changed by something else"), "{at}: {said}");
    }
    assert!(failed > 10, "{failed} steps");
}

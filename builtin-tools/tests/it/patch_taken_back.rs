//! Files that a failing patch restores are as they were, down to modes, times and other names; and its needs of file systems.

#![cfg(all(feature = "fs", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit::prelude::*;
use toolkit::testing::{FileSystems, at_fault_points, take_file_systems_for};

/// Fault points and file systems are those of the whole process.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

async fn apply(base: &Path, patch: &str) -> ToolResult {
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .approver(ScriptedApprover::always(Answer::allow()))
        .default_workspace(base.join("inside"))
        .data_dir(base.join("data"))
        .for_one_call()
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", "apply_patch", json!({ "input": patch }))).await
}

/// Identity, mode, time and number of names.
fn state(path: &Path) -> (u64, u32, std::time::SystemTime, u64) {
    let metadata = fs::symlink_metadata(path).unwrap();
    (metadata.ino(), metadata.mode(), metadata.modified().unwrap(), metadata.nlink())
}

/// All names below a directory.
fn tree(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        names.push(path.display().to_string());
        if path.is_dir() {
            names.extend(tree(&path));
        }
    }
    names.sort();
    names
}

/// The files that a patch gets, each of which has a mode of its own and another name, and the patch. The one that goes last is
/// the one at which it fails.
const EXACT: [&str; 4] = ["a", "c", "d", "e"];
const EXACT_PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-old a\n+new a\n*** Add File: deep/er/b\n+new b\n\
                           *** Add File: deep/er/b2\n+new b\n*** Update File: c\n*** Move to: moved/to/c\n@@\n-old c\n+new c\n\
                           *** Delete File: d\n*** Delete File: e\n*** End Patch\n";

#[tokio::test]
async fn what_is_brought_back_is_the_very_file() {
    let _alone = ALONE.lock().await;
    for file_systems in [FileSystems::AsTheyAre, FileSystems::WithoutFlags, FileSystems::OnePerDirectory] {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("inside");
        fs::create_dir_all(directory.path().join("links")).unwrap();
        fs::create_dir(&inside).unwrap();
        for name in EXACT {
            let path = inside.join(name);
            fs::write(&path, format!("old {name}\n")).unwrap();
            fs::hard_link(&path, directory.path().join("links").join(name)).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
            File::open(&path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000)).unwrap();
        }
        let states = || EXACT.map(|name| state(&inside.join(name)));
        let before = (states(), tree(&inside));
        let (last, took) = (inside.join("e"), AtomicUsize::new(0));
        // Another hand changes the last file, which then is not the one that was to be removed.
        take_file_systems_for(file_systems);
        let places_taken = if file_systems == FileSystems::OnePerDirectory { 3 } else { 2 };
        at_fault_points(move |step| {
            if step == "take the name away" && took.fetch_add(1, Ordering::SeqCst) + 1 == places_taken {
                fs::write(&last, "longer than before\n").unwrap();
            }
        });
        let said = apply(directory.path(), EXACT_PATCH).await.text();
        at_fault_points(|_| {});
        take_file_systems_for(FileSystems::AsTheyAre);
        assert!(said.starts_with("e was changed by something else"), "{file_systems:?}: {said}");
        assert!(said.ends_with("undone: all files are unchanged"), "{file_systems:?}: {said}");
        assert_eq!(tree(&inside), before.1, "{file_systems:?}");
        for (number, name) in EXACT.iter().enumerate().filter(|(_, name)| **name != "e") {
            let path = inside.join(name);
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("old {name}\n"), "{file_systems:?}");
            let (now, old) = (state(&path), before.0[number]);
            // Where two cannot change places, what was replaced has to be written anew.
            let is_anew = file_systems == FileSystems::WithoutFlags && matches!(*name, "a" | "c");
            if is_anew {
                assert_eq!(now.1, old.1, "{name} with {file_systems:?}");
            } else {
                assert_eq!(now, old, "{name} with {file_systems:?}");
            }
        }
    }
}

#[tokio::test]
async fn files_are_written_in_the_order_of_the_patch() {
    let _alone = ALONE.lock().await;
    let added = "*** Add File: n\n+x\n";
    let changed = "*** Update File: a\n@@\n-old\n+new\n";
    for (body, order) in [
        ([added, changed], ["give it its name", "exchange"]),
        ([changed, added], ["exchange", "give it its name"]),
    ] {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("inside")).unwrap();
        fs::write(directory.path().join("inside/a"), "old\n").unwrap();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let passed = Arc::clone(&steps);
        at_fault_points(move |step| passed.lock().unwrap().push(step));
        let patch = format!("*** Begin Patch\n{}*** End Patch", body.concat());
        let said = apply(directory.path(), &patch).await.text();
        at_fault_points(|_| {});
        assert!(said.starts_with("patched 2 files"), "{said}");
        steps.lock().unwrap().retain(|step| order.contains(step));
        assert_eq!(*steps.lock().unwrap(), order, "{body:?}");
    }
}

#[tokio::test]
async fn where_the_first_file_fails_there_is_nothing_to_take_back() {
    let _alone = ALONE.lock().await;
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    fs::create_dir(&inside).unwrap();
    for name in ["a", "b"] {
        fs::write(inside.join(name), "old\n").unwrap();
    }
    let first = inside.join("a");
    at_fault_points(move |step| {
        if step == "exchange" {
            fs::write(&first, "of another hand\n").unwrap();
        }
    });
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-old\n+new\n*** Delete File: b\n*** End Patch";
    let said = apply(directory.path(), patch).await.text();
    at_fault_points(|_| {});
    assert!(said.starts_with("a was changed by something else"), "{said}");
    assert!(said.ends_with("\nnothing was changed"), "{said}");
    let content = |name: &str| fs::read_to_string(inside.join(name)).unwrap();
    assert_eq!((content("a").as_str(), content("b").as_str()), ("of another hand\n", "old\n"));
}

#[tokio::test]
async fn a_file_that_moves_between_file_systems_keeps_its_mode() {
    let _alone = ALONE.lock().await;
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("run.sh"), "echo a\n").unwrap();
    fs::set_permissions(inside.join("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    take_file_systems_for(FileSystems::OnePerDirectory);
    let patch = "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/run.sh\n@@\n-echo a\n+echo b\n*** End Patch";
    let said = apply(directory.path(), patch).await.text();
    take_file_systems_for(FileSystems::AsTheyAre);
    assert_eq!(said, "patched 1 file:\nR run.sh -> bin/run.sh");
    assert_eq!(tree(&inside).len(), 2, "{:?}", tree(&inside));
    let moved = inside.join("bin/run.sh");
    assert_eq!(fs::read_to_string(&moved).unwrap(), "echo b\n");
    assert_eq!(fs::metadata(moved).unwrap().mode() & 0o777, 0o751);
}

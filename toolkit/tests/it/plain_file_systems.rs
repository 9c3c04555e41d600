//! Files on file systems that can neither exchange two names nor rename only where nothing is, as some on a network. That a
//! process may die at each step there is looked at in `workspace_files`.

#![cfg(all(unix, feature = "testing"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};
use toolkit::prelude::*;
use toolkit::testing::{FileSystems, at_fault_points, take_file_systems_for};
use toolkit::{
    approval::{Answer, ScriptedApprover},
    files::{Expected, Workspace},
};

/// The assumed kind of file system holds for the whole process.
static ALONE: Mutex<()> = Mutex::const_new(());

/// A workspace on such a file system.
struct Places {
    directory: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Places {
    async fn new() -> Self {
        let alone = ALONE.lock().await;
        take_file_systems_for(FileSystems::WithoutFlags);
        at_fault_points(|_| {});
        Self { directory: tempfile::tempdir().unwrap(), _alone: alone }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    /// Changes the file at `f`, or makes the one at `some/new/f`, if it is still what it was before `step`, at which another
    /// hand puts its own there. What came of it.
    async fn change(&self, what: &str, step: &'static str) -> String {
        let path = self.path(if what == "make" { "some/new/f" } else { "f" });
        let toolkit = Toolkit::empty()
            .tool(toolkit::tool_ref!(change))
            .approver(ScriptedApprover::always(Answer::allow()))
            .default_workspace(self.directory.path())
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        at_fault_points(move |now| {
            if now == step {
                put(&path, "another");
            }
        });
        toolbox.call(ToolCall::new("1", "change", json!({ "what": what }))).await.text()
    }

    fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }
}

/// Puts a file in the place of another, as editors do.
fn put(path: &Path, content: &str) {
    let beside = path.with_extension("beside");
    fs::write(&beside, content).unwrap();
    fs::rename(beside, path).unwrap();
}

/// Changes a file that is as it was when the call began.
#[tool(permission = "edit", asks)]
async fn change(ctx: &ToolContext, what: &str) -> Result<String, ToolError> {
    let workspace: Workspace = ctx.workspace();
    let target = workspace.target(if what == "make" { "some/new/f" } else { "f" }, |ask| ask).await?;
    let to = workspace.target("moved", |ask| ask).await?;
    let what = what.to_owned();
    ctx.blocking(move |_| {
        let expected =
            target.read(1_000)?.map_or(Expected::Absent, |content| Expected::Version(content.version));
        match &*what {
            "remove" => target.remove(&expected)?,
            "rename" => target.rename_to(&to, &expected)?,
            _ => drop(target.write(b"new", &expected)?),
        }
        Ok("done".to_owned())
    })
    .await
}

const CHANGED: &str = "was changed by something else meanwhile";

#[tokio::test]
async fn a_file_is_replaced_unless_another_hand_changed_it() {
    for (step, expected, left) in [
        ("none", "done", "new"),
        ("create", CHANGED, "another"),
        ("write", CHANGED, "another"),
        ("sync", CHANGED, "another"),
    ] {
        let places = Places::new().await;
        fs::write(places.path("f"), "old").unwrap();
        fs::set_permissions(places.path("f"), fs::Permissions::from_mode(0o640)).unwrap();
        let said = places.change("replace", step).await;
        assert!(said.contains(expected), "{step}: {said}");
        assert_eq!(places.read("f"), left, "{step}");
        assert_eq!(places.names(""), ["f"], "{step}");
        let mode = fs::metadata(places.path("f")).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode == 0o640, step == "none", "{step}: {mode:o}");
    }
}

#[tokio::test]
async fn nothing_is_made_over_what_is_there_by_now() {
    for (step, expected, left) in
        [("none", "done", "new"), ("sync", CHANGED, "another"), ("give it its name", CHANGED, "another")]
    {
        let places = Places::new().await;
        let said = places.change("make", step).await;
        assert!(said.contains(expected), "{step}: {said}");
        assert_eq!(places.read("some/new/f"), left, "{step}");
        assert_eq!(places.names("some/new"), ["f"], "{step}");
    }
}

#[tokio::test]
async fn what_is_removed_or_moved_is_what_was_meant() {
    for (what, step, expected, left) in [
        ("remove", "none", "done", &[][..]),
        ("remove", "take the name away", CHANGED, &["f"]),
        ("rename", "none", "done", &["moved"]),
        ("rename", "rename", CHANGED, &["f"]),
    ] {
        let places = Places::new().await;
        fs::write(places.path("f"), "old").unwrap();
        let said = places.change(what, step).await;
        assert!(said.contains(expected), "{what} {step}: {said}");
        assert_eq!(places.names(""), left, "{what} {step}");
        for name in left {
            assert_eq!(places.read(name), if step == "none" { "old" } else { "another" }, "{what} {step}");
        }
    }
}

//! Changes by another process between two steps of a change: they stay, or the change is made anew.

#![cfg(all(unix, feature = "testing"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use std::fs;
use std::path::Path;
use toolkit::prelude::*;
use toolkit::testing::at_fault_points;
use toolkit::{
    approval::{Answer, ScriptedApprover},
    files::Expected,
};

/// Writes, removes or moves `f`.
#[tool(permission = "edit", asks)]
async fn change(ctx: &ToolContext, what: &str) -> Result<String, ToolError> {
    let workspace = ctx.workspace();
    let target = workspace.target("f", |ask| ask).await?;
    let to = workspace.target("moved", |ask| ask).await?;
    let what = what.to_owned();
    ctx.blocking(move |_| {
        let content = target.read(100)?.map(|content| Expected::Version(content.version));
        match &*what {
            "whatever" => drop(target.write(b"new", &Expected::Any)?),
            "remove" => target.remove(&content.unwrap_or(Expected::Any))?,
            "move" => target.rename_to(&to, &content.unwrap_or(Expected::Any))?,
            _ => drop(target.write(b"new", &content.unwrap_or(Expected::Absent))?),
        }
        Ok("done".to_owned())
    })
    .await
}

/// Puts a file there as editors do, under another identity.
fn put(path: &Path, content: &str) {
    fs::write(path.with_extension("beside"), content).unwrap();
    fs::rename(path.with_extension("beside"), path).unwrap();
}

/// One test, since what happens at a step is of the whole process.
#[tokio::test]
async fn another_hand_at_any_step() {
    const CHANGED: &str = "f was changed by something else meanwhile";
    /// The step before which something happens, what, and how often at most.
    type Doings = &'static [(&'static str, &'static str)];
    let cases: &[(&str, &str, Doings, &str, Option<&str>)] = &[
        // The content before, the change, the other process's change, the report, the content after.
        ("old", "version", &[], "done", Some("new")),
        ("old", "version", &[("create", "another")], CHANGED, Some("another")),
        ("old", "version", &[("write", "another")], CHANGED, Some("another")),
        ("old", "version", &[("exchange", "another")], CHANGED, Some("another")),
        (
            "old",
            "version",
            &[("exchange", "another"), ("look at what was replaced", "the latest")],
            CHANGED,
            Some("the latest"),
        ),
        ("old", "version", &[("look at what was replaced", "the latest")], "done", Some("the latest")),
        ("old", "version", &[("sync", "gone")], CHANGED, None),
        ("old", "version", &[("exchange", "gone")], CHANGED, None),
        ("old", "version", &[("sync", "old")], CHANGED, Some("old")),
        (
            "old",
            "version",
            &[("exchange", "another"), ("look at what was replaced", "gone")],
            CHANGED,
            Some("another"),
        ),
        ("old", "version", &[("create", "no directory")], "f does not exist", None),
        ("old", "whatever", &[("sync", "another")], "done", Some("new")),
        ("old", "whatever", &[("sync", "gone")], "done", Some("new")),
        ("old", "whatever", &[("exchange", "another")], "done", Some("new")),
        ("old", "whatever", &[("exchange", "gone")], "done", Some("new")),
        ("", "version", &[("give it its name", "another")], CHANGED, Some("another")),
        ("", "whatever", &[("give it its name", "another")], "done", Some("new")),
        ("old", "remove", &[("take the name away", "another")], CHANGED, Some("another")),
        ("old", "remove", &[("take the name away", "gone")], "f does not exist", None),
        ("old", "move", &[("rename", "another")], CHANGED, Some("another")),
        ("old", "move", &[("rename", "taken")], "moved was changed by something else meanwhile", Some("old")),
        ("old", "move", &[("rename", "gone")], "f does not exist", None),
    ];
    for (before, what, doings, expected, after) in cases {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("inside");
        fs::create_dir(&inside).unwrap();
        let path = inside.join("f");
        if !before.is_empty() {
            fs::write(&path, before).unwrap();
        }
        let toolkit = Toolkit::empty()
            .tool(toolkit::tool_ref!(change))
            .approver(ScriptedApprover::always(Answer::allow()))
            .default_workspace(&inside)
            .build()
            .unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let left = std::sync::Mutex::new(doings.to_vec());
        at_fault_points({
            let path = path.clone();
            move |step| {
                let mut left = left.lock().unwrap();
                let Some(&(_, doing)) = left.first().filter(|(at, _)| *at == step) else { return };
                left.remove(0);
                match doing {
                    "gone" => fs::remove_file(&path).unwrap(),
                    "no directory" => fs::remove_dir_all(path.parent().unwrap()).unwrap(),
                    "taken" => fs::write(path.with_file_name("moved"), "taken").unwrap(),
                    content => put(&path, content),
                }
            }
        });
        let arguments = serde_json::json!({ "what": what });
        let said = toolbox.call(ToolCall::new("1", "change", arguments)).await.text();
        at_fault_points(|_| {});
        let case = format!("{before:?} {what} {doings:?}");
        assert!(said.contains(expected), "{case}: {said}");
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), *after, "{case}");
        let names = fs::read_dir(&inside).into_iter().flatten().flatten();
        let unfinished = names.filter(|entry| entry.file_name().to_str().unwrap().starts_with(".toolkit-"));
        assert_eq!(unfinished.count(), 0, "{case}");
    }
}

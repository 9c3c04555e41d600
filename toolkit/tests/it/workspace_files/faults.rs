//! A process that dies at each step of a change leaves the old file or the new one.

use crate::workspace_files::Places;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolkit::prelude::*;
use toolkit::testing::{FileSystems, at_fault_points, take_file_systems_for};
use toolkit::{
    approval::{Answer, ScriptedApprover},
    files::Expected,
};

/// In the child: at which step it dies, what it does, and where.
const AT: &str = "TOOLKIT_TEST_FAULT_AT";
const WHAT: &str = "TOOLKIT_TEST_FAULT_WHAT";
const WHERE: &str = "TOOLKIT_TEST_FAULT_WHERE";
/// Set where the file system can neither exchange names nor rename only where nothing is.
const WITHOUT_FLAGS: &str = "TOOLKIT_TEST_FAULT_WITHOUT_FLAGS";

/// More than there are steps in any change.
const MAX_STEPS: usize = 40;

const OLD: &str = "the old content\n";

fn new() -> String {
    "the new content\n".repeat(10_000)
}

/// Changes `file`.
#[tool(permission = "edit", asks)]
async fn change(ctx: &ToolContext, what: &str) -> Result<String, ToolError> {
    let workspace = ctx.workspace();
    let path = if what == "make" { "some/new/file" } else { "file" };
    let target = workspace.target(path, |ask| ask).await?;
    let to = workspace.target("moved", |ask| ask).await?;
    let what = what.to_owned();
    ctx.blocking(move |_| {
        match &*what {
            "remove" => target.remove(&Expected::Any)?,
            "rename" => target.rename_to(&to, &Expected::Any)?,
            _ => drop(target.write(new().as_bytes(), &Expected::Any)?),
        }
        Ok("done".to_owned())
    })
    .await
}

async fn change_in(inside: PathBuf, what: &str) -> String {
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(change))
        .approver(ScriptedApprover::always(Answer::allow()))
        .data_dir(inside.with_file_name("data"))
        .default_workspace(inside)
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", "change", serde_json::json!({ "what": what }))).await.text()
}

/// The child's work; nothing if this is no child.
#[tokio::test]
async fn child() {
    let Ok(at) = std::env::var(AT) else { return };
    let at: usize = at.parse().unwrap();
    let passed = AtomicUsize::new(0);
    at_fault_points(move |_step| {
        if passed.fetch_add(1, Ordering::SeqCst) + 1 == at {
            std::process::abort();
        }
    });
    if std::env::var_os(WITHOUT_FLAGS).is_some() {
        take_file_systems_for(FileSystems::WithoutFlags);
    }
    let what = std::env::var(WHAT).unwrap();
    let text = change_in(std::env::var(WHERE).unwrap().into(), &what).await;
    assert_eq!(text, "done");
}

/// Runs the child, and returns true if it died.
fn run_child(places: &Places, what: &str, at: usize, without_flags: bool) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "workspace_files::faults::child"])
        .envs([(AT, at.to_string()), (WHAT, what.to_owned()), (WHERE, places.path("inside"))])
        .envs(without_flags.then_some((WITHOUT_FLAGS, "1")))
        .output()
        .unwrap();
    let is_dead = output.status.signal().is_some();
    assert!(is_dead || output.status.success(), "{what} {at}: {output:?}");
    is_dead
}

/// The remaining files, without those that are not complete.
fn left(places: &Places) -> Vec<String> {
    let mut names = places.names("inside");
    names.retain(|name| !is_incomplete(name));
    names
}

/// The number of files that are not complete.
fn incomplete(places: &Places) -> usize {
    let count = |directory: &str| {
        let names = fs::read_dir(places.base.join(directory)).into_iter().flatten();
        names.filter(|entry| is_incomplete(entry.as_ref().unwrap().file_name().to_str().unwrap())).count()
    };
    count("inside") + count("inside/some/new")
}

fn is_incomplete(name: &str) -> bool {
    name.starts_with(".toolkit-") && name.split('.').next_back() == Some("tmp")
}

#[tokio::test]
async fn a_file_is_old_or_new() {
    for (what, steps, without_flags) in [
        ("replace", 7, false),
        ("make", 6, false),
        ("remove", 2, false),
        ("rename", 1, false),
        ("replace", 5, true),
        ("make", 7, true),
        ("remove", 3, true),
        ("rename", 2, true),
    ] {
        let (mut died, mut is_left) = (0, false);
        for at in 1..MAX_STEPS {
            let places = Places::new();
            places.write("inside/file", OLD);
            if !run_child(&places, what, at, without_flags) {
                break;
            }
            died += 1;
            // The next start of a host removes what is left.
            is_left |= incomplete(&places) > 0;
            Toolkit::empty().data_dir(places.base.join("data")).build().unwrap().sweep();
            assert_eq!(incomplete(&places), 0, "{what} {at}");
            let read = |path: &str| fs::read_to_string(places.base.join("inside").join(path)).ok();
            let file = read("file");
            match what {
                "replace" => {
                    assert!(file.as_deref() == Some(OLD) || file == Some(new()), "{at}");
                    assert_eq!(left(&places), ["file"], "{at}");
                }
                "make" => {
                    assert_eq!(file.as_deref(), Some(OLD), "{at}");
                    let made = read("some/new/file");
                    assert!(made.is_none() || made == Some(new()), "{at}");
                }
                // A file without a name may be left under one of its own.
                "remove" => assert!(file.is_none() || file.as_deref() == Some(OLD), "{at}"),
                _ => {
                    let moved = read("moved");
                    // Where it cannot be renamed at once, it has both names for a moment.
                    let is_both = file.is_some() && moved.is_some();
                    assert!(file == moved || !is_both, "{at}");
                    assert!(!is_both || without_flags && died == 2, "{at}");
                    assert_eq!(file.or(moved).as_deref(), Some(OLD), "{at}");
                }
            }
            // The next one works, whatever is left of this.
            if what == "replace" || what == "make" {
                assert_eq!(change_in(places.base.join("inside"), what).await, "done", "{what} {at}");
                let path = if what == "make" { "some/new/file" } else { "file" };
                assert_eq!(read(path), Some(new()), "{at}");
            }
        }
        assert!(died >= steps && died < MAX_STEPS, "{what}: {died} steps");
        assert_eq!(is_left, what != "rename", "{what}");
    }
}

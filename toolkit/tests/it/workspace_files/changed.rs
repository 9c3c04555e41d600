//! A host's hook sees what a file has before it changes, and what it is to get.

use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use toolkit::prelude::*;
use toolkit::{
    AllowAll, CallOptions, Toolkit,
    files::{Expected, FileChange},
    tool_ref,
};

/// Changes a file.
#[tool(asks)]
async fn change(ctx: &ToolContext, how: String, path: PathBuf) -> Result<(), ToolError> {
    let files = ctx.workspace();
    let target = files.target(&path, |ask| ask).await?;
    match &*how {
        "write" => drop(target.write(b"new", &Expected::Any)?),
        "take" => drop(target.take_away(&Expected::Any)?),
        "rename" => target.rename_to(&files.target("moved", |ask| ask).await?, &Expected::Any)?,
        _ => target.remove(&Expected::Any)?,
    }
    Ok(())
}

/// The call, the path, and the content before and after.
type Seen = Arc<Mutex<Vec<(String, PathBuf, Option<Vec<u8>>, Option<Vec<u8>>)>>>;

async fn run(directory: &Path, calls: &[(&str, &str)], fails: bool) -> (Seen, Vec<bool>) {
    let seen = Seen::default();
    let hook = {
        let seen = Arc::clone(&seen);
        move |change: &FileChange<'_>| {
            assert_eq!((change.tool, change.caller.agent.as_deref()), ("change", Some("ada")));
            let before = change.before.map(|before| before.bytes.to_vec());
            let after = change.after.map(<[&[u8]]>::concat);
            seen.lock().unwrap().push((change.call_id.to_owned(), change.path.to_owned(), before, after));
            if fails { Err(ToolError::failed("no room for a copy")) } else { Ok(()) }
        }
    };
    let toolkit =
        Toolkit::empty().tool(tool_ref!(change)).approver(AllowAll).change_hook(hook).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_agent("ada").with_workspace(directory)).await;
    let mut failed = Vec::new();
    for (how, path) in calls {
        let call = ToolCall::new(*how, "change", json!({"how": how, "path": path}));
        failed.push(toolbox.call(call).await.is_error());
    }
    (seen, failed)
}

#[tokio::test]
async fn each_way_to_change_a_file_is_seen_first() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    for name in ["a", "b", "c", "d"] {
        fs::write(base.join(name), name).unwrap();
    }
    let calls = [("write", "a"), ("take", "b"), ("remove", "c"), ("rename", "d"), ("write", "deep/new")];
    let (seen, failed) = run(&base, &calls, false).await;
    assert_eq!(failed, [false; 5]);
    let expected = [
        ("write", "a", Some("a"), Some("new")),
        ("take", "b", Some("b"), None),
        ("remove", "c", Some("c"), None),
        ("rename", "d", Some("d"), None),
        ("rename", "moved", None, Some("d")),
        ("write", "deep/new", None, Some("new")),
    ]
    .map(|(call, path, before, after)| {
        let bytes = |text: &str| text.as_bytes().to_vec();
        (call.to_owned(), base.join(path), before.map(bytes), after.map(bytes))
    });
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_hook_that_fails_keeps_the_file_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    for name in ["a", "b", "c", "d"] {
        fs::write(base.join(name), name).unwrap();
    }
    let calls = [("write", "a"), ("take", "b"), ("remove", "c"), ("rename", "d"), ("write", "deep/new")];
    let (_, failed) = run(&base, &calls, true).await;
    assert_eq!(failed, [true; 5]);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(fs::read_to_string(base.join(name)).unwrap(), name);
    }
    assert!(!base.join("moved").exists() && !base.join("deep").exists());
}

/// Has another tool change a file.
#[tool(auto_execute)]
async fn change_by_another(ctx: &ToolContext, path: PathBuf) -> Result<(), ToolError> {
    ctx.call("change", json!({"how": "write", "path": path})).await.map(drop)
}

#[tokio::test]
async fn a_hook_of_one_call_holds_for_what_it_calls_and_for_no_other_call() {
    let directory = tempfile::tempdir().unwrap();
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let noting = |name: &'static str| {
        let seen = Arc::clone(&seen);
        move |change: &FileChange<'_>| {
            seen.lock().unwrap().push(format!("{name} {}", change.call_id));
            if name == "refuses" { Err(ToolError::failed("it is not saved")) } else { Ok(()) }
        }
    };
    let toolkit = Toolkit::empty()
        .tool(tool_ref!(change))
        .tool(tool_ref!(change_by_another))
        .approver(AllowAll)
        .change_hook(noting("all"))
        .build()
        .unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_workspace(directory.path())).await;
    let by_another = |id: &str| ToolCall::new(id, "change_by_another", json!({"path": "a"}));
    let guarded = CallOptions::new().change_hook(noting("refuses"));
    let (refused, done) =
        tokio::join!(toolbox.call_with(by_another("1"), guarded), toolbox.call(by_another("2")));
    assert!(refused.text().contains("it is not saved"), "{}", refused.text());
    assert!(!done.is_error(), "{}", done.text());
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, ["all 2/1", "refuses 1/1"], "a change that is refused is not seen any further");
}

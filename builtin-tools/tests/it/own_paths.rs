//! The toolkit's own directories on the way of a call: found once, and anew for each call.

#![cfg(all(feature = "fs", unix))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use toolkit::testing::own_path_resolutions;
use toolkit::{Caller, ToolCall, Toolbox, Toolkit};

async fn toolbox(workspace: &Path, data: &Path) -> Toolbox {
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(builtin_tools::fs::read))
        .tool(toolkit::tool_ref!(builtin_tools::fs::write))
        .data_dir(data)
        .build()
        .unwrap();
    toolkit.toolbox(&Caller::new().with_session("s").with_workspace(workspace)).await
}

async fn read(toolbox: &Toolbox, path: &str) -> Result<String, String> {
    let result = toolbox.call(ToolCall::new("c", "read", json!({ "file_path": path }))).await;
    match &result.outcome {
        Ok(_) => Ok(result.text()),
        Err(error) => Err(error.message().to_owned()),
    }
}

#[tokio::test]
async fn a_read_finds_them_once() {
    let place = tempfile::tempdir().unwrap();
    let (work, data) = (place.path().join("work"), place.path().join("data"));
    fs::create_dir_all(work.join("deep/deeper")).unwrap();
    fs::create_dir(&data).unwrap();
    fs::write(work.join("deep/deeper/f"), "text\n").unwrap();
    symlink("deep", work.join("link")).unwrap();
    let toolbox = toolbox(&work, &data).await;
    let context = toolbox.context("read").unwrap();
    for path in ["deep/deeper/f", "deep", "link/deeper/f", "./deep/../deep/deeper/f"] {
        let before = own_path_resolutions(&context);
        assert!(read(&toolbox, path).await.is_ok(), "{path}");
        assert_eq!(own_path_resolutions(&context) - before, 1, "{path}");
    }
}

#[tokio::test]
async fn a_link_that_leads_elsewhere_by_now_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let work = place.path().join("work");
    for name in ["one", "two"] {
        fs::create_dir_all(work.join(name)).unwrap();
        fs::write(work.join(name).join("f"), format!("text of {name}\n")).unwrap();
    }
    // The data directory is a link into the workspace, which something else changes.
    let data = place.path().join("data");
    symlink(work.join("one"), &data).unwrap();
    let toolbox = toolbox(&work, &data).await;
    for _ in 0..2 {
        let denied = read(&toolbox, "one/f").await.unwrap_err();
        assert!(denied.contains("permission.sensitive"), "{denied}");
        assert!(read(&toolbox, "two/f").await.unwrap().contains("text of two"));
    }
    fs::remove_file(&data).unwrap();
    symlink(work.join("two"), &data).unwrap();
    assert!(read(&toolbox, "one/f").await.unwrap().contains("text of one"));
    let denied = read(&toolbox, "two/f").await.unwrap_err();
    assert!(denied.contains("permission.sensitive"), "{denied}");
    // The target is renamed, and the link follows.
    fs::rename(work.join("two"), work.join("three")).unwrap();
    fs::remove_file(&data).unwrap();
    symlink(work.join("three"), &data).unwrap();
    assert!(read(&toolbox, "three/f").await.is_err());
}

#[tokio::test]
async fn a_workspace_that_is_a_link_is_followed_anew() {
    let place = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(place.path().join(name)).unwrap();
        fs::write(place.path().join(name).join("f"), format!("text of {name}\n")).unwrap();
    }
    let (work, data) = (place.path().join("work"), place.path().join("data"));
    symlink("one", &work).unwrap();
    let toolbox = toolbox(&work, &data).await;
    assert!(read(&toolbox, "f").await.unwrap().contains("text of one"));
    fs::remove_file(&work).unwrap();
    symlink("two", &work).unwrap();
    assert!(read(&toolbox, "f").await.unwrap().contains("text of two"));
}

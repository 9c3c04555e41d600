//! Many writers of one file, in one process.

use crate::workspace_files::Places;
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{
    approval::{Answer, ScriptedApprover},
    files::{Expected, FileVersion, ReadState, Target},
};

const WRITERS: usize = 64;

/// Adds a line to a file, as it is when its turn has come.
#[tool(permission = "edit", asks)]
async fn add_line(ctx: &ToolContext, line: &str, locked: bool) -> Result<String, ToolError> {
    let target = Arc::new(ctx.workspace().target("file", |ask| ask).await?);
    let mut tries = 0;
    loop {
        tries += 1;
        let lock = if locked { Some(target.lock().await) } else { None };
        let (target, line) = (Arc::clone(&target), line.to_owned());
        let written = ctx.blocking(move |_| {
            let _until_written = lock;
            let old = target.read(1 << 20)?.ok_or_else(|| ToolError::not_found("gone"))?;
            let new = [&old.bytes, line.as_bytes(), b"\n"].concat();
            target.write(&new, &Expected::Version(old.version))
        });
        match written.await {
            Ok(_) => return Ok(tries.to_string()),
            Err(error) if !locked && error.message().contains("changed by something else") => {}
            Err(error) => return Err(error),
        }
    }
}

async fn all_land(sessions: usize, toolkits: usize, locked: bool) {
    let places = Places::new();
    places.write("inside/file", "");
    let mut calls = Vec::new();
    for number in 0..toolkits {
        let toolkit = Toolkit::empty()
            .tool(toolkit::tool_ref!(add_line))
            .approver(ScriptedApprover::always(Answer::allow()))
            .loop_guard(toolkit::inspection::LoopGuard::off())
            .default_workspace(places.base.join("inside"))
            .build()
            .unwrap();
        for writer in (number..WRITERS).step_by(toolkits) {
            let session = format!("{}", writer % sessions);
            let toolbox = toolkit.toolbox(&Caller::new().with_session(session)).await;
            calls.push(tokio::spawn(async move {
                let arguments = serde_json::json!({ "line": format!("line {writer}"), "locked": locked });
                let result = toolbox.call(ToolCall::new(writer.to_string(), "add_line", arguments)).await;
                assert!(result.error().is_none(), "{}", result.text());
                result.text().parse::<u32>().unwrap()
            }));
        }
    }
    for call in calls {
        let tries = call.await.unwrap();
        assert!(!locked || tries == 1, "{tries}");
    }
    let text = places.read("inside/file");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> = (0..WRITERS).map(|writer| format!("line {writer}")).collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    assert_eq!(places.names("inside"), ["file"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_session_all_land() {
    all_land(1, 1, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_sessions_and_toolkits_all_land() {
    all_land(WRITERS, 4, true).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_lock_none_is_lost_unnoticed() {
    all_land(WRITERS, 4, false).await;
}

/// Has two targets held in both orders.
#[tool(permission = "edit", asks)]
async fn hold_both(ctx: &ToolContext, backwards: bool) -> Result<(), ToolError> {
    let workspace = ctx.workspace();
    let one = workspace.target("one", |ask| ask).await?;
    let other = workspace.target("other", |ask| ask).await?;
    for _ in 0..200 {
        let _lock = if backwards {
            Target::lock_all([&other, &one, &other]).await
        } else {
            Target::lock_all([&one, &other]).await
        };
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_each_other() {
    let places = Places::new();
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(hold_both))
        .approver(ScriptedApprover::always(Answer::allow()))
        .default_workspace(places.base.join("inside"))
        .build()
        .unwrap();
    let mut calls = Vec::new();
    for number in 0..8 {
        let toolbox = toolkit.toolbox(&Caller::new().with_session(number.to_string())).await;
        calls.push(tokio::spawn(async move {
            let arguments = serde_json::json!({ "backwards": number % 2 == 0 });
            toolbox.call(ToolCall::new("1", "hold_both", arguments)).await
        }));
    }
    for call in calls {
        assert!(call.await.unwrap().error().is_none());
    }
}

#[tokio::test]
async fn a_session_knows_what_it_saw_last() {
    let places = Places::new();
    places.write("inside/file", "one");
    let workspace = places.workspace();
    let path = places.base.join("inside/file");
    let now = |workspace: &toolkit::files::Workspace| workspace.try_open("file").unwrap().version();
    assert_eq!(workspace.seen(&path, &now(&workspace)), ReadState::Never);
    workspace.saw(&path, now(&workspace));
    assert_eq!(workspace.seen(&path, &now(&workspace)), ReadState::Same);
    places.write("inside/file", "another");
    assert_eq!(workspace.seen(&path, &now(&workspace)), ReadState::Changed);
    // By its content it is the same, whenever it was written.
    let metadata = std::fs::metadata(&path).unwrap();
    workspace.saw(&path, FileVersion::of(b"another", &metadata));
    std::fs::write(&path, "another").unwrap();
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!(workspace.seen(&path, &FileVersion::of(b"another", &metadata)), ReadState::Same);
    assert_eq!(workspace.seen(&path, &FileVersion::of(b"anothe2", &metadata)), ReadState::Changed);
    // So it is though it was looked at without its content meanwhile.
    workspace.saw(&path, FileVersion::of(b"another", &metadata));
    workspace.saw(&path, now(&workspace));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    std::fs::File::open(&path).unwrap().set_modified(later).unwrap();
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!(workspace.seen(&path, &FileVersion::of(b"another", &metadata)), ReadState::Same);
    assert_eq!(workspace.seen(&path, &FileVersion::of(b"anothe2", &metadata)), ReadState::Changed);
    // The latest look with another time counts.
    workspace.saw(&path, now(&workspace));
    assert_eq!(workspace.seen(&path, &FileVersion::of(b"anothe2", &metadata)), ReadState::Same);
    // Another session has seen nothing.
    assert_eq!(places.workspace().seen(&path, &now(&workspace)), ReadState::Never);
    workspace.forget(&path);
    assert_eq!(workspace.seen(&path, &now(&workspace)), ReadState::Never);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_belongs_to_a_file_is_kept() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let places = Places::new();
    places.write("inside/file", "old");
    let path = places.base.join("inside/file");
    // Only root may give a file away, and not every file system has attributes; what cannot be set is not looked for.
    let is_given = chown(&path, Some(12_345), Some(54_321)).is_ok();
    let is_noted = setxattr(&path, "user.note", b"text", XattrFlags::empty()).is_ok();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o4_754)).unwrap();
    let arguments = serde_json::json!({ "path": "file", "text": "new" });
    let (text, _) =
        crate::workspace_files::asked(&places, "put", arguments, [Answer::allow()], |builder| builder).await;
    assert_eq!((text.as_str(), places.read("inside/file").as_str()), ("file", "new"));
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!(metadata.mode() & 0o7_777, 0o4_754);
    if is_given {
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 54_321));
    }
    if is_noted {
        let mut buffer = [0; 16];
        let length = getxattr(&path, "user.note", &mut buffer[..]).unwrap();
        assert_eq!(&buffer[..length], b"text");
    }
}

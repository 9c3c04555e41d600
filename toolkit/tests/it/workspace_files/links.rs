//! Links of every shape, paths that go up, and directories that count as within.

use crate::workspace_files::{Places, asked, content};
use serde_json::json;
use std::fs;
use toolkit::prelude::*;
use toolkit::{
    approval::Answer,
    files::{FileKind, OpenError, OpenedPath},
};

fn places() -> Places {
    let places = Places::new();
    places
        .write("outside/secret", "canary")
        .write("inside/file", "file")
        .write("inside/folder/deep", "deep")
        .write("inside/..foo", "dots")
        .write("inside/.env", "KEY")
        .link("../outside", "inside/to_outside")
        .link("../outside/secret", "inside/to_secret")
        .link("to_secret", "inside/chain")
        .link("/", "inside/to_root")
        .link("../outside/absent", "inside/dangling_outside")
        .link("absent", "inside/dangling")
        .link("circle", "inside/circle")
        .link("folder", "inside/to_folder")
        .link("../inside/file", "inside/out_and_in")
        .link(".env", "inside/plain.txt");
    places
}

/// Paths that lead outside, whether or not anything is there.
fn outside(places: &Places) -> Vec<String> {
    let root = format!("to_root{}", places.path("outside/secret"));
    let mut paths: Vec<String> = [
        "../outside/secret",
        "../outside/absent",
        "folder/../../outside/secret",
        "to_outside/secret",
        "to_outside/absent",
        "to_secret",
        "chain",
        "dangling_outside",
        "to_folder/../../outside/secret",
        "to_outside/../inside/../outside/secret",
        "..",
        "/",
        &root,
    ]
    .map(str::to_owned)
    .into();
    paths.extend([places.path("outside/secret"), places.path("outside/absent"), places.path("inside2")]);
    paths
}

#[tokio::test]
async fn what_leads_outside_is_not_opened_unasked() {
    let places = places();
    let workspace = places.workspace();
    for path in outside(&places) {
        let opened = workspace.try_open(&path);
        assert!(matches!(opened, Err(OpenError::NeedsLeave)), "{path}: {opened:?}");
        assert!(content(&workspace, &path).await.starts_with("denied: "), "{path}");
    }
    for path in [".env", "plain.txt"] {
        assert!(matches!(workspace.try_open(path), Err(OpenError::NeedsLeave)), "{path}");
    }
    for (path, expected) in [
        ("file", "file"),
        ("..foo", "dots"),
        ("to_folder/deep", "deep"),
        ("out_and_in", "file"),
        ("../inside/file", "file"),
        ("./folder/../file", "file"),
    ] {
        let file = workspace.try_open(path).unwrap();
        assert_eq!(std::io::read_to_string(file.into_file()).unwrap(), expected, "{path}");
        assert_eq!(content(&workspace, path).await, expected, "{path}");
    }
    assert!(matches!(workspace.try_open("absent"), Err(OpenError::Absent)));
    assert!(matches!(workspace.try_open("dangling"), Err(OpenError::Absent)));
    assert!(matches!(workspace.try_open("circle"), Err(OpenError::Unusable(_))));
    assert!(matches!(workspace.try_open("folder"), Err(OpenError::Kind(FileKind::Directory))));
    assert!(matches!(workspace.try_open("file/x"), Err(OpenError::Absent)));
}

#[tokio::test]
async fn nothing_is_written_outside_unasked() {
    let places = places();
    for path in outside(&places) {
        let arguments = json!({ "path": path, "text": "x" });
        let (text, titles) = asked(&places, "put", arguments, [Answer::deny()], |builder| builder).await;
        assert!(text.contains("not allowed"), "{path}: {text}");
        assert_eq!(titles.len(), 1, "{path}");
    }
    assert_eq!(places.names("outside"), ["secret"]);
    assert_eq!(places.read("outside/secret"), "canary");
}

#[tokio::test]
async fn what_is_allowed_is_what_is_opened() {
    let places = places();
    let (text, titles) =
        asked(&places, "open", json!({ "path": "to_secret" }), [Answer::allow()], |builder| builder).await;
    assert_eq!(text, "canary");
    assert!(titles[0].starts_with("read to_secret, which is outside"), "{titles:?}");
    let arguments = json!({ "path": "to_outside/new/deep", "text": "x" });
    let (text, _) = asked(&places, "put", arguments, [Answer::allow()], |builder| builder).await;
    assert_eq!(text, places.path("outside/new/deep"));
    assert_eq!(places.read("outside/new/deep"), "x");
    // A link is followed, and stays one.
    let arguments = json!({ "path": "to_secret", "text": "new" });
    asked(&places, "put", arguments, [Answer::allow()], |builder| builder).await;
    assert_eq!(places.read("outside/secret"), "new");
    assert!(fs::symlink_metadata(places.path("inside/to_secret")).unwrap().is_symlink());
}

#[tokio::test]
async fn further_directories_count_as_within() {
    let places = places();
    let further = places.base.join("outside");
    let build = |builder: toolkit::Builder| builder.further_directories([further.clone()]);
    for (path, expected) in [
        (places.path("outside/secret"), "canary".to_owned()),
        ("to_secret".to_owned(), "canary".to_owned()),
        ("../outside/absent".to_owned(), "not_found: ../outside/absent does not exist".to_owned()),
        (
            "../outside/secre".to_owned(),
            format!(
                "not_found: ../outside/secre does not exist; there is `{}`",
                places.path("outside/secret")
            ),
        ),
    ] {
        let (text, titles) = asked(&places, "open", json!({ "path": path }), [], build).await;
        assert_eq!((text, titles.len()), (expected, 0), "{path}");
    }
    let arguments = json!({ "path": places.path("outside/new"), "text": "x" });
    let (text, titles) = asked(&places, "put", arguments, [Answer::allow()], build).await;
    assert_eq!(text, places.path("outside/new"));
    assert_eq!(titles, [format!("write {} (permission.edit)", places.path("outside/new"))]);
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let places = places();
    assert!(std::process::Command::new("mkfifo").arg(places.path("inside/pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(places.path("inside/socket")).unwrap();
    let workspace = places.workspace();
    for path in ["pipe", "socket"] {
        assert_eq!(
            content(&workspace, path).await,
            format!("failed: {path} is not a regular file but a pipe, a socket or a device")
        );
    }
    assert!(matches!(workspace.try_open("pipe"), Err(OpenError::Kind(FileKind::Special))));
    let arguments = json!({ "path": "/dev/zero" });
    let (text, _) = asked(&places, "open", arguments, [Answer::allow()], |builder| builder).await;
    assert_eq!(text, "failed: /dev/zero is not a regular file but a pipe, a socket or a device");
}

#[tokio::test]
async fn a_directory_is_listed_and_its_files_opened_by_handle() {
    let places = places();
    let Ok(OpenedPath::Directory(directory)) = places.workspace().open("to_folder").await else {
        panic!("a directory")
    };
    assert_eq!((directory.shown(), directory.path()), ("folder", &*places.base.join("inside/folder")));
    // Wherever it is by now, it is the same one.
    fs::rename(places.path("inside/folder"), places.path("inside/elsewhere")).unwrap();
    places.link("../outside", "inside/folder");
    let (entries, has_more) = directory.entries(10, || true).unwrap();
    assert_eq!((entries.len(), has_more), (1, false));
    assert_eq!(entries[0].name, "deep");
    let file = directory.try_open("deep".as_ref()).unwrap();
    assert_eq!(std::io::read_to_string(file.into_file()).unwrap(), "deep");
    for name in ["secret", "../../outside/secret", "..", ".", ""] {
        assert!(directory.try_open(name.as_ref()).is_err(), "{name}");
    }
}

/// Counts aloud, for longer than a model listens.
#[tool(read_only)]
async fn count() -> String {
    (1..=5_000).flat_map(|number: u32| [number.to_string(), "\n".to_owned()]).collect()
}

#[tokio::test]
async fn a_session_opens_its_own_whole_outputs_and_no_other_does() {
    let places = places();
    // Whoever runs the program may have put a link above them.
    fs::create_dir(places.path("outside/data")).unwrap();
    places.link("outside/data", "data");
    let toolkit = Toolkit::empty()
        .tool(toolkit::tool_ref!(count))
        .tool(toolkit::tool_ref!(crate::workspace_files::open))
        .data_dir(places.base.join("data"))
        .default_workspace(places.base.join("inside"))
        .build()
        .unwrap();
    let own = toolkit.toolbox(&Caller::new().with_session("own")).await;
    let counted = own.call(ToolCall::new("1", "count", "{}")).await;
    let kept = counted.output().unwrap().metadata["truncation"]["kept"]["path"].clone();
    let open = |toolbox: toolkit::Toolbox, path: serde_json::Value| async move {
        toolbox.call(ToolCall::new("2", "open", json!({ "path": path }))).await.text()
    };
    let text = open(own.clone(), kept.clone()).await;
    assert!(text.starts_with("1\n2\n3\n"), "{text:.200}");
    let above = std::path::Path::new(kept.as_str().unwrap()).parent().unwrap();
    for path in [above.join("other.txt"), above.to_owned(), above.join("../other/1.txt")] {
        assert!(open(own.clone(), json!(path)).await.starts_with("denied: "), "{}", path.display());
    }
    let other = toolkit.toolbox(&Caller::new().with_session("other")).await;
    assert!(open(other, kept).await.starts_with("denied: "));
}

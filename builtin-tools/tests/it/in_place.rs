//! Files that no new file can take the place of, and files whose owner cannot be kept: each test runs itself again where the
//! system refuses that.

#![cfg(all(feature = "fs", target_os = "linux"))]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use toolkit::approval::{Answer, ScriptedApprover};
use toolkit::testing::TestToolbox;

/// Says that the test runs where it is about.
const AGAIN: &str = "TOOLKIT_IN_PLACE_TEST";

const NOTE: &str = "was written in place, as no new file can replace it: it is mounted by itself, or its directory cannot be \
                    written to)";

fn toolbox() -> TestToolbox {
    TestToolbox::new(toolkit::tool_ref!(builtin_tools::fs::write))
        .tool(toolkit::tool_ref!(builtin_tools::fs::edit))
        .tool(toolkit::tool_ref!(builtin_tools::fs::apply_patch))
        .build(toolkit::Builder::for_one_call)
        .approve(ScriptedApprover::always(Answer::allow()))
}

/// Runs a test of this program behind a command.
#[track_caller]
fn again(command: &[&str], test: &str) {
    let output = Command::new(command[0])
        .args(&command[1..])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("in_place::{test}"), "--nocapture"])
        .env(AGAIN, "1")
        .output()
        .expect("this test needs setpriv and unshare");
    let printed = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}{error}");
}

fn is_here() -> bool {
    std::env::var_os(AGAIN).is_some()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// The copies that are in the data directory.
fn copies(toolbox: &TestToolbox) -> usize {
    fs::read_dir(toolbox.workspace().data_dir().join("replaced")).map_or(0, Iterator::count)
}

/// Writes a file by each of the tools.
async fn write_all(toolbox: &TestToolbox, path: &str) {
    let file = toolbox.workspace().path().join(path);
    let identity = |path: &Path| (fs::metadata(path).unwrap().dev(), fs::metadata(path).unwrap().ino());
    let before = identity(&file);
    let change =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n-three\n+four and more\n*** End Patch\n");
    for (tool, arguments, expected) in [
        ("write", json!({ "file_path": path, "content": "two\n" }), "two\n"),
        ("edit", json!({ "file_path": path, "old_string": "two", "new_string": "three" }), "three\n"),
        ("apply_patch", json!({ "input": change }), "four and more\n"),
        ("write", json!({ "file_path": path, "content": "5" }), "5"),
    ] {
        let call = toolbox.call_tool(tool, arguments).await;
        assert!(call.text().ends_with(&format!("({path} {NOTE}")), "{tool}: {}", call.text());
        assert_eq!(fs::read_to_string(&file).unwrap(), expected);
        assert_eq!((identity(&file), copies(toolbox)), (before, 0), "{tool}");
    }
}

/// Not a test of its own: what the next one runs there.
#[tokio::test]
async fn where_the_directory_is_read_only() {
    if !is_here() {
        return;
    }
    let toolbox = toolbox().file("d/f", "one\n").file("d/run.sh", "one\n");
    let directory = toolbox.workspace().path().join("d");
    fs::set_permissions(directory.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    assert!(fs::write(directory.join("new"), "").is_err());
    write_all(&toolbox, "d/f").await;
    write_all(&toolbox, "d/run.sh").await;
    assert_eq!(fs::metadata(directory.join("run.sh")).unwrap().mode() & 0o777, 0o755);
    // One that is not there cannot be made, and nothing can be removed.
    let made = toolbox.call_tool("write", json!({ "file_path": "d/new", "content": "" })).await;
    assert!(
        made.text().starts_with("cannot write d/new: the current user has no permission"),
        "{}",
        made.text()
    );
    let patch =
        "*** Begin Patch\n*** Update File: d/f\n@@\n-5\n+6\n*** Delete File: d/run.sh\n*** End Patch\n";
    let call = toolbox.call_tool("apply_patch", json!({ "input": patch })).await;
    assert!(call.text().contains("were undone"), "{}", call.text());
    assert_eq!((call.file("d/f"), copies(&toolbox)), ("5".to_owned(), 0));
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_file_in_a_directory_that_is_read_only_is_written_in_place() {
    let as_root = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
    let command: &[&str] = if is_root() { &as_root } else { &["env"] };
    again(command, "where_the_directory_is_read_only");
}

/// Not a test of its own: what the next one runs there.
#[tokio::test]
async fn where_a_file_is_mounted() {
    if !is_here() {
        return;
    }
    let toolbox = toolbox().file("f", "").file("source", "one\n");
    let root = toolbox.workspace().path();
    let mounted =
        Command::new("mount").arg("--bind").args([root.join("source"), root.join("f")]).status().unwrap();
    assert!(mounted.success());
    write_all(&toolbox, "f").await;
    assert_eq!(fs::read_to_string(root.join("source")).unwrap(), "5");
    // Nothing of what was tried first is left beside it.
    let mut names: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "tmp"));
    assert_eq!(names, <[PathBuf; 0]>::default());
    assert!(Command::new("umount").arg(root.join("f")).status().unwrap().success());
}

#[test]
fn a_file_that_is_mounted_by_itself_is_written_in_place() {
    again(&["unshare", "-rm"], "where_a_file_is_mounted");
}

/// Not a test of its own: what the next one runs there.
#[tokio::test]
async fn where_files_have_a_limit() {
    if !is_here() {
        return;
    }
    let toolbox = toolbox().file("f", "").file("source", "one\n");
    let root = toolbox.workspace().path();
    let mounted =
        Command::new("mount").arg("--bind").args([root.join("source"), root.join("f")]).status().unwrap();
    assert!(mounted.success());
    let content = "x".repeat(100 << 10);
    let call = toolbox.call_tool("write", json!({ "file_path": "f", "content": content })).await;
    assert!(call.text().starts_with("cannot write f: File too large"), "{}", call.text());
    assert_eq!((call.file("f"), copies(&toolbox)), ("one\n".to_owned(), 0));
    let call = toolbox.call_tool("write", json!({ "file_path": "new", "content": content })).await;
    assert!(call.text().starts_with("cannot write new: File too large"), "{}", call.text());
    assert!(!root.join("new").exists());
    assert!(Command::new("umount").arg(root.join("f")).status().unwrap().success());
}

#[test]
fn a_file_that_gets_too_large_has_its_old_content_again() {
    // The shell ignores the signal here; that the command does is for its own tests.
    let limit = "trap '' XFSZ; ulimit -f 64 && exec \"$@\"";
    again(&["unshare", "-rm", "bash", "-c", limit, "bash"], "where_files_have_a_limit");
}

/// Not a test of its own: what the next one runs there.
#[tokio::test]
async fn where_the_owner_cannot_be_kept() {
    if !is_here() {
        return;
    }
    let toolbox = toolbox().file("f", "one\n");
    let file = toolbox.workspace().path().join("f");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    chown(&file, Some(1_234), Some(1_235)).unwrap();
    let status = Command::new("setpriv")
        .args(["--bounding-set=-chown"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "in_place::with_the_owner_of_another", "--nocapture"])
        .env(AGAIN, &file)
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    assert_eq!(fs::read_to_string(&file).unwrap(), "two\n");
    assert_eq!(fs::metadata(&file).unwrap().uid(), 0);
}

/// Not a test of its own: what the one before runs there.
#[tokio::test]
async fn with_the_owner_of_another() {
    let Some(file) = std::env::var_os(AGAIN).map(PathBuf::from).filter(|file| file.is_absolute()) else {
        return;
    };
    let directory = file.parent().unwrap().to_owned();
    let toolbox = toolbox().caller(|caller| caller.with_workspace(directory));
    let call = toolbox.call_tool("write", json!({ "file_path": file, "content": "two\n" })).await;
    let note = "(f was owned by user 1234 and group 1235, and is owned by user 0 and group 0 now: the owner could not be kept)";
    assert!(call.text().ends_with(note), "{}", call.text());
}

#[test]
fn an_owner_that_could_not_be_kept_is_told() {
    // Only root can give a file away.
    if is_root() {
        again(&["env"], "where_the_owner_cannot_be_kept");
    }
}

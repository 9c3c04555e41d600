//! The `toolkit` command itself, with the builtin tools.

#![cfg(feature = "fs")]

use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn toolkit(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_toolkit")).args(args).current_dir(directory).output().expect("it starts")
}

/// Standard output of a run that succeeded.
#[track_caller]
fn ok(directory: &Path, args: &[&str]) -> String {
    let output = toolkit(directory, args);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn read_is_there() {
    let here = Path::new(".");
    assert!(ok(here, &["list", "--group", "fs"]).lines().any(|line| line.starts_with("read")));
    let page = ok(here, &["describe", "read"]);
    for part in
        ["builtin_tools", "file_path  string, required", "offset  integer, optional, at least 1, default 1"]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
    let help = ok(here, &["call", "read", "--help"]);
    // The second line is a whole one: the description is wrapped once.
    for part in [
        "Usage: toolkit call [OPTIONS] read --file-path <STRING>",
        "\nJPEG, GIF, WebP) and lists directories.\n",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
    assert!(ok(here, &["completions", "bash"]).contains("--file-path"));
}

#[test]
fn read_reads_from_the_workspace() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    for args in [
        &["call", "read", "--file-path", "a.txt", "--offset", "2", "--limit", "1"][..],
        &["call", "read", "--file_path=a.txt", "--offset=2", "--limit=1"],
        &["call", "read", "--path", "a.txt", "--offset", "2", "--limit", "1"],
        &["call", "--args", r#"{"path": "a.txt", "offset": 2, "limit": 1}"#, "read"],
        &["call", "--args", r#"{"path": "a.txt", "offset": 2}"#, "read", "--limit", "1"],
    ] {
        let text = ok(&inner, args);
        assert!(text.contains("two") && !text.contains("one") && !text.contains("three"), "{args:?}: {text}");
    }
    let text = ok(directory.path(), &["--workspace", "inner", "call", "read", "--file-path", "a.txt"]);
    assert!(text.contains("three"), "{text}");

    for (args, code) in [
        (&["call", "read", "--file-path", "none.txt"][..], 1),
        (&["call", "read", "--file-path", "a.txt", "--offset", "0"], 4),
        (&["call", "read", "--file-path", "a.txt", "--offset", "-1", "--limit", "x"], 4),
        (&["call", "raed", "--file-path", "a.txt"], 3),
        (&["call", "read", "--file-pth", "a.txt"], 2),
    ] {
        let output = toolkit(&inner, args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    }
}

#[test]
fn json_results_name_the_tool() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a.txt"), "one\n").unwrap();
    let text = ok(directory.path(), &["call", "-o", "json", "read", "--file-path", "a.txt"]);
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&result["name"], &result["isError"]), (&json!("read"), &json!(false)));
}

/// `inner/`, and beside it a file.
#[cfg(unix)]
fn inside_and_outside() -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let inner = directory.path().canonicalize().expect("a path").join("inner");
    fs::create_dir(&inner).expect("a directory");
    fs::write(directory.path().join("outer.txt"), "far away\n").expect("a file");
    (directory, inner)
}

#[cfg(unix)]
#[test]
fn what_is_outside_the_workspace_is_asked_for_on_the_terminal() {
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;
    let (_directory, inner) = inside_and_outside();
    for (reply, expected) in [("y\n", "far away"), ("n\n", "not allowed: read ")] {
        let command = format!("{} call read --file-path ../outer.txt", env!("CARGO_BIN_EXE_toolkit"));
        // Gives the command a terminal of its own, and carries its own input and output there.
        let mut terminal = Command::new("script")
            .args(["--quiet", "--command", &command, "/dev/null"])
            .current_dir(&inner)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` of util-linux is needed");
        let (mut keyboard, mut screen) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
        let mut seen = String::new();
        while !seen.contains("to the model") {
            let mut buffer = [0; 1024];
            let count = screen.read(&mut buffer).unwrap();
            assert_ne!(count, 0, "nobody was asked: {seen}");
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        assert!(seen.contains("outside the workspace") && seen.contains("outer.txt"), "{seen}");
        assert!(!seen.contains("far away"), "{seen}");
        keyboard.write_all(reply.as_bytes()).unwrap();
        screen.read_to_string(&mut seen).unwrap();
        terminal.wait().unwrap();
        assert!(seen.contains(expected), "{seen}");
    }
}

#[cfg(unix)]
#[test]
fn without_a_terminal_what_is_outside_is_denied_naming_the_setting() {
    let (_directory, inner) = inside_and_outside();
    for path in ["../outer.txt", "../absent.txt", "/etc/hosts"] {
        let output = Command::new("setsid")
            .args(["--wait", env!("CARGO_BIN_EXE_toolkit"), "call", "read", "--file-path", path])
            .current_dir(&inner)
            .output()
            .expect("`setsid` of util-linux is needed");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(5), "{path}: {error}");
        for part in ["outside the workspace", "permission.external_directory", "terminal"] {
            assert!(error.contains(part), "{path}: {part} in {error}");
        }
        assert!(!error.contains("does not exist"), "{error}");
    }
}

#[test]
fn a_person_replaces_a_file_without_reading_it_first() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("f"), "one\n").unwrap();
    let args = ["--set", "permission.edit=allow", "call", "write", "--file-path", "f", "--content", "two\n"];
    let text = ok(directory.path(), &args);
    assert!(text.starts_with("replaced f"), "{text}");
    assert_eq!(fs::read_to_string(directory.path().join("f")).unwrap(), "two\n");
}

#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("f"), "one\n").unwrap();
    let content = "x".repeat(100 << 10);
    // Blocks of 512 bytes or 1 KiB, as the shell has it.
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 64 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_toolkit")])
        .args(["--set", "permission.edit=allow", "call", "write", "--file-path", "f", "--content", &content])
        .current_dir(directory.path())
        .output()
        .expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(error.contains("cannot write f: File too large"), "{error}");
    assert_eq!(fs::read_to_string(directory.path().join("f")).unwrap(), "one\n");
    let names: Vec<_> =
        fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["f"]);
}

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
    assert!(
        ok(here, &["call", "read", "--help"])
            .contains("Usage: toolkit call [OPTIONS] read --file-path <STRING>")
    );
    assert!(ok(here, &["completions", "bash"]).contains("--file-path"));
}

#[test]
fn read_reads_from_the_workspace_and_beyond_it() {
    let directory = tempfile::tempdir().unwrap();
    let (inner, outer) = (directory.path().join("inner"), directory.path().join("outer.txt"));
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("a.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(&outer, "outside\n").unwrap();
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
    // A person who types a path may read it.
    assert!(ok(&inner, &["call", "read", "--file-path", "../outer.txt"]).contains("outside"));
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

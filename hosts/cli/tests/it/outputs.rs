//! Long outputs, and questions where nobody can be asked.

use crate::fixture;

use fixture::{command, finish};
use std::fs;

#[test]
fn what_was_cut_can_be_read_in_the_next_call() {
    let data = tempfile::tempdir().expect("a directory");
    let run = |args: &[&str]| finish(command(args).env("TOOLKIT_DATA_DIR", data.path()));
    let short = run(&["call", "lines", "--count", "2000"]).ok();
    assert_eq!(short.lines().count(), 2000);
    assert!(!data.path().join("tool-output").exists());

    let long = run(&["call", "-o", "json", "lines", "--count", "2001"]).json();
    let kept = &long["metadata"]["truncation"]["kept"]["path"];
    let kept = kept.as_str().unwrap_or_else(|| panic!("{long}"));
    assert!(long["content"][0]["text"].as_str().expect("text").contains(kept));
    let whole = run(&["call", "open", "--path", kept]).ok();
    assert!(whole.starts_with("line 1\n"));
    assert_eq!(fs::read_to_string(kept).expect("a file").lines().count(), 2001);
}

#[test]
fn old_outputs_are_swept_by_the_next_call() {
    let data = tempfile::tempdir().expect("a directory");
    let run = |args: &[&str]| finish(command(args).env("TOOLKIT_DATA_DIR", data.path()));
    let long = run(&["call", "-o", "json", "lines", "--count", "2001"]).json();
    let kept = long["metadata"]["truncation"]["kept"]["path"].as_str().expect("a path").to_owned();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(8 * 24);
    fs::File::options().write(true).open(&kept).expect("a file").set_modified(old).expect("a time");
    run(&["call", "say", "--text", "x"]).ok();
    assert!(!fs::exists(kept).expect("a path"));
}

#[test]
fn without_a_terminal_the_answer_is_no() {
    // Away from the terminal that the tests may have been started on.
    let mut setsid = std::process::Command::new("setsid");
    let run = finish(setsid.arg("--wait").arg(fixture::program()).args(["call", "deploy"]));
    let error = run.fails(5);
    assert!(error.contains("Put the site online") && error.contains("terminal"), "{error}");
}

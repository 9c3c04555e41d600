//! The expansions of the macros give clippy's pedantic set nothing to report.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "runs clippy, which compiles for a minute: cargo xtask ci"]
fn the_expansion_is_clean() {
    let output = clippy(&[]);
    assert!(output.0, "{}", output.1);
}

/// The same run with a mistake in it, lest the other pass because nothing is checked.
#[test]
#[ignore = "runs clippy, which compiles for a minute: cargo xtask ci"]
fn a_finding_is_found() {
    let output = clippy(&["--cfg", "seeded"]);
    assert!(!output.0, "{}", output.1);
    assert!(output.1.contains("clippy::unreadable_literal"), "{}", output.1);
}

/// Runs clippy on the crate beside; returns whether it passed, and its output.
fn clippy(more: &[&str]) -> (bool, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args(["clippy", "--package", "ui-tests-pedantic", "--no-deps", "--offline", "--locked", "--quiet"])
        .args(["--", "-D", "warnings", "-W", "clippy::pedantic"])
        .args(more)
        .output()
        .expect("cargo runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

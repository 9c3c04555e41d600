//! Processes of tests that end in the middle of their work.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

/// Names the point at which a process ends, and the pass of it.
const FAIL_POINT: &str = "TOOLKIT_FAIL_POINT";

/// The command that runs one test of this program in a process of its own: it finds its directory in the variable.
pub(crate) fn of_test(test: &str, variable: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(variable, directory).env_remove(FAIL_POINT);
    command
}

/// Runs a process to its end, or to a point that it is killed at. Returns true if it came to its end.
#[allow(dead_code, reason = "the long tests kill at random times")]
pub(crate) fn run(test: &str, variable: &str, directory: &Path, point: Option<&str>) -> bool {
    let mut killed = of_test(test, variable, directory);
    if let Some(point) = point {
        killed.env(FAIL_POINT, point);
    }
    let output = killed.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    output.status.success()
}

//! Runs the cases, which are the examples of this package: cargo builds them together with this test, out of crates that are compiled
//! already, and a case that does not compile fails the build.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn every_case_runs() {
    let cases = cases();
    assert!(cases.len() >= 30, "only {} cases", cases.len());
    let failures: Vec<String> = cases.iter().filter_map(|case| failure(case)).collect();
    assert!(
        failures.is_empty(),
        "{} of {} cases failed:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// Returns the names of the cases.
fn cases() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(directory).expect("the examples can be listed");
    let paths = files.map(|file| file.expect("an example can be read").path());
    paths.map(|path| path.file_stem().expect("a file has a name").to_string_lossy().into_owned()).collect()
}

fn failure(case: &str) -> Option<String> {
    let program = examples().join(case);
    if !program.exists() {
        return Some(format!(
            "{case}: not built: run `cargo test -p ui-tests-pass`, which builds the examples"
        ));
    }
    let output = Command::new(&program).output().expect("an example starts");
    let said = String::from_utf8_lossy(&output.stderr);
    (!output.status.success()).then(|| format!("{case}: {}\n{said}", output.status))
}

/// Returns the directory of the built examples, which is beside that of this program.
fn examples() -> PathBuf {
    let program = std::env::current_exe().expect("this program has a path");
    program.ancestors().nth(2).expect("a target directory").join("examples")
}

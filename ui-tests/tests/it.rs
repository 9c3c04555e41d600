//! Runs the cases and holds what their expectations must look like.
//!
//! `TRYBUILD=overwrite cargo test -p ui-tests` writes the expectations anew; read each before it is kept.

use std::fs;
use std::path::{Path, PathBuf};

/// Cases that must not compile. trybuild checks all of them with a single run of cargo, unless one of them has to pass, too: programs that
/// must compile are the examples of `ui-tests/pass`.
#[test]
fn compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("fail/*/*.rs");
    // Errors outside the macro's view.
    cases.compile_fail("unseen/*.rs");
}

/// The limits of every expectation, whatever its case is about.
#[test]
fn expectations() {
    let mut faults = Vec::new();
    let cases = failing();
    assert!(cases.len() >= 85, "only {} cases", cases.len());
    for case in &cases {
        let source = fs::read_to_string(case).expect("a case can be read");
        let Ok(expected) = fs::read_to_string(case.with_extension("stderr")) else {
            faults.push(format!("{}: has no expectation", case.display()));
            continue;
        };
        faults.extend(
            faults_of(&source, &expected).into_iter().map(|fault| format!("{}: {fault}", case.display())),
        );
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// A fault that a macro cannot see is reported by rustc in its own way; only the number of errors is held.
#[test]
fn unseen() {
    for case in files(&root().join("unseen"), "rs") {
        let source = fs::read_to_string(&case).expect("a case can be read");
        let expected = fs::read_to_string(case.with_extension("stderr")).expect("a case has an expectation");
        let found = expected.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(announced(&source), Some(found), "{}", case.display());
    }
}

#[test]
fn every_expectation_has_its_case() {
    let mut topics = folders(&root().join("fail"));
    topics.push(root().join("unseen"));
    for topic in topics {
        for file in files(&topic, "stderr") {
            assert!(file.with_extension("rs").is_file(), "{} has no case", file.display());
        }
    }
}

#[test]
fn faulty_expectations_are_found() {
    let long = format!("error: {}", "x".repeat(101));
    for (source, expected, fault) in [
        ("// errors: 1", "error: one\n", None),
        ("// errors: 1", "error[E0277]: one\n --> a\n", None),
        ("// errors: 2", "error: one\n", Some("2 errors are announced, 1 found")),
        ("use x;", "error: one\n", Some("the first line does not say how many errors there are")),
        (
            "// errors: 1",
            "error: one\n = note: this error originates in the attribute macro `tool`\n",
            Some("the macro is blamed"),
        ),
        ("// errors: 1", "error: one\nwarning: two\n", Some("a warning beside the errors")),
        ("// errors: 1", "error: one\n --> $CARGO/serde\n", Some("a path of this machine")),
        ("// errors: 1", long.as_str(), Some("a headline of 101 characters")),
    ] {
        let found = faults_of(source, expected);
        assert_eq!(found.first().map(String::as_str), fault, "{expected}");
    }
}

fn faults_of(source: &str, expected: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let headlines: Vec<&str> = expected.lines().filter(|line| line.starts_with("error")).collect();
    match announced(source) {
        None => faults.push("the first line does not say how many errors there are".to_owned()),
        Some(count) if count != headlines.len() => {
            faults.push(format!("{count} errors are announced, {} found", headlines.len()));
        }
        Some(_) => {}
    }
    for headline in headlines {
        let text = headline.split_once(": ").map_or(headline, |(_, text)| text);
        let length = text.chars().count();
        if length > 100 {
            faults.push(format!("a headline of {length} characters"));
        }
    }
    for (forbidden, fault) in [
        ("originates in the attribute macro", "the macro is blamed"),
        ("\nwarning", "a warning beside the errors"),
        ("$CARGO", "a path of this machine"),
        ("/home/", "a path of this machine"),
        ("__TOOLKIT", "an identifier of the expansion"),
    ] {
        if expected.contains(forbidden) {
            faults.push(fault.to_owned());
        }
    }
    faults
}

/// How many errors the first line of a case says there are.
fn announced(source: &str) -> Option<usize> {
    source.lines().next()?.strip_prefix("// errors: ")?.parse().ok()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn failing() -> Vec<PathBuf> {
    folders(&root().join("fail")).iter().flat_map(|folder| files(folder, "rs")).collect()
}

fn folders(root: &Path) -> Vec<PathBuf> {
    entries(root).into_iter().filter(|path| path.is_dir()).collect()
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    entries(folder)
        .into_iter()
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder can be listed").path())
        .collect();
    paths.sort();
    paths
}

//! The features with which shared crates are compiled: a crate that the README's command compiles with other features than the tests
//! is compiled once more, which took minutes in all. The adapters are left out: their frameworks need features of nine crates that
//! would bring further crates into the tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::{self, Result, Workspace};

/// The build of all tests.
const TESTS: &[&str] = &["--workspace", "--all-features"];

/// The build of `cargo run`.
const RUN: &[&str] = &["--edges=no-dev"];

/// Returns the crates that `cargo run` compiles with other features than the build of the tests.
pub(crate) fn apart(workspace: &Workspace) -> Result<Vec<String>> {
    let differing = differing(&tree(workspace, TESTS)?, &tree(workspace, RUN)?).into_iter();
    let fault = |(package, features)| {
        format!(
            "tests/Cargo.toml:1: `cargo run` compiles `{package}` with the features {features}, the tests with others, so it is compiled \
             twice: add the features that it lacks here"
        )
    };
    Ok(differing.map(fault).collect())
}

fn tree(workspace: &Workspace, selection: &[&str]) -> Result<String> {
    let mut command = workspace.command(&["cargo", "tree", "--locked", "--prefix=none", "--format={p} {f}"]);
    command.args(selection);
    let output = command.output().map_err(|error| workspace::cannot_start(&command, &error))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the crates of `other` that `one` has with other features, with their features in `other`.
fn differing(one: &str, other: &str) -> Vec<(String, String)> {
    let (one, other) = (features(one), features(other));
    let mut differing = Vec::new();
    for (package, variants) in other {
        let Some(known) = one.get(&package) else { continue };
        differing.extend(variants.difference(known).map(|features| (package.clone(), features.clone())));
    }
    differing
}

/// Each crate from a registry, with the sets of features that it is compiled with: those of procedural macros and build scripts are apart.
fn features(tree: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut crates: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in tree.lines().map(|line| line.trim_end_matches(" (*)")) {
        let mut words = line.split(' ').filter(|word| *word != "(proc-macro)");
        let (Some(name), Some(version)) = (words.next(), words.next()) else { continue };
        let features = words.next().unwrap_or_default();
        // A crate of this repository stands with its path.
        if !features.starts_with('(') {
            crates.entry(format!("{name} {version}")).or_default().insert(format!("[{features}]"));
        }
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_with_other_features_is_a_fault() {
        let tests = "own v0.1.0 (/here) default\ntokio v1.0.0 fs,net\ntokio v1.0.0 fs,net (*)\nsyn v2.0.0 full\nmio v1.0.0 \nmacros v1.0.0 (proc-macro) a";
        let same = "own v0.1.0 (/here) other\ntokio v1.0.0 fs,net\nmio v1.0.0 \nmacros v1.0.0 (proc-macro) a";
        assert_eq!(differing(tests, same), []);
        let unknown = "rig v1.0.0 all";
        assert_eq!(differing(tests, unknown), []);
        let fewer = "tokio v1.0.0 fs,net\ntokio v1.0.0 fs";
        assert_eq!(differing(tests, fewer), [("tokio v1.0.0".to_owned(), "[fs]".to_owned())]);
        let none = "tokio v1.0.0 ";
        assert_eq!(differing(tests, none), [("tokio v1.0.0".to_owned(), "[]".to_owned())]);
    }
}

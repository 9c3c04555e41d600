//! The features with which shared crates are compiled: a crate that the README's command compiles with other features than the tests
//! is compiled once more, which took minutes in all. The adapters are left out: their frameworks need features of nine crates that
//! would bring further crates into the tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::workspace::{Result, Workspace};

/// The build of all tests.
const TESTS: &[&str] = &["--workspace", "--all-features"];

/// The build of `cargo run`.
const RUN: &[&str] = &["--edges=no-dev"];

/// Builds of programs that use the library and nothing else, in which procedural macros should share crates with the program.
const ALONE: &[&[&str]] = &[
    &["--package=agent-toolkit", "--edges=normal,build"],
    &["--package=agent-toolkit", "--edges=normal,build", "--no-default-features"],
];

/// Returns the crates that `cargo run` compiles with other features than the build of the tests, and those that a program compiles twice.
pub(crate) fn apart(workspace: &Workspace) -> Result<Vec<String>> {
    let differing = differing(&tree(workspace, TESTS)?, &tree(workspace, RUN)?).into_iter();
    let fault = |(package, features)| {
        format!(
            "tests/Cargo.toml:1: `cargo run` compiles `{package}` with the features {features}, the tests with others, so it is compiled \
             twice: add the features that it lacks here"
        )
    };
    let mut faults: Vec<String> = differing.map(fault).collect();
    for selection in ALONE {
        faults.extend(twice(&tree(workspace, selection)?).into_iter().map(|package| {
            format!(
                "toolkit-macros/Cargo.toml:1: a program that uses the library compiles `{package}` twice, with other features for the macros: \
                 name it in both places with the same features"
            )
        }));
    }
    Ok(faults)
}

/// Returns the features with which the build of the tests compiles each crate from a registry.
pub(crate) fn features_of_tests(workspace: &Workspace) -> Result<BTreeMap<String, Vec<String>>> {
    let all = features(&tree(workspace, TESTS)?).into_iter();
    let union = |variants: BTreeSet<String>| -> Vec<String> {
        let names: BTreeSet<&str> = variants
            .iter()
            .flat_map(|variant| variant.trim_matches(['[', ']']).split(','))
            .filter(|name| !name.is_empty())
            .collect();
        names.into_iter().map(str::to_owned).collect()
    };
    Ok(all.map(|(package, variants)| (package, union(variants))).collect())
}

fn tree(workspace: &Workspace, selection: &[&str]) -> Result<String> {
    workspace.cargo_tree(&[&["--format={p} {f}"], selection].concat())
}

/// Returns the crates of a tree that are there with several sets of features.
fn twice(tree: &str) -> Vec<String> {
    let crates = features(tree).into_iter();
    crates.filter(|(_, variants)| variants.len() > 1).map(|(package, _)| package).collect()
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
        assert_eq!(twice(same), Vec::<String>::new());
        assert_eq!(twice(fewer), ["tokio v1.0.0"]);
        let none = "tokio v1.0.0 ";
        assert_eq!(differing(tests, none), [("tokio v1.0.0".to_owned(), "[]".to_owned())]);
    }
}

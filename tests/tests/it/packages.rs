//! The files that would be published of each crate: the crate, and nothing else.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::Value;
use std::fs;
use toolkit_tests::{cargo, repository, run};

/// The files that may be in a package, by the beginnings of paths.
const EXPECTED: &[&str] = &[
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "build.rs",
    "console/",
    "examples/",
    "src/",
    "templates/",
    "tests/",
];

/// The packages of the workspace that are published.
fn published() -> Vec<Value> {
    let metadata = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let metadata = run(cargo(&repository()).args(metadata)).success();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    // `publish = false` is an empty list of registries.
    packages.iter().filter(|package| !package["publish"].is_array()).cloned().collect()
}

#[test]
fn packages_hold_the_crate_and_its_licences() {
    let packages = published();
    assert!(packages.len() >= 11, "{}", packages.len());
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        assert!(package["description"].is_string() && package["license"].is_string(), "{name}");
        let list = ["package", "--list", "--allow-dirty", "--offline", "-p", name];
        let list = run(cargo(&repository()).args(list)).success();
        for file in list.lines() {
            let is_expected = EXPECTED.iter().any(|expected| {
                if expected.ends_with('/') { file.starts_with(expected) } else { file == *expected }
            });
            assert!(is_expected, "{name} would publish {file}");
        }
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(list.lines().any(|file| file == licence), "{name} would publish no {licence}");
        }
    }
}

/// The registry refuses a package whose dependencies it does not have.
#[test]
fn the_documented_order_publishes_dependencies_first() {
    let page = fs::read_to_string(repository().join("docs/publishing.md")).unwrap();
    let order: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    let packages = published();
    let names: Vec<&str> = packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let place = |name: &str| order.iter().position(|other| *other == name);
        let own = place(name).unwrap_or_else(|| panic!("`{name}` is not in docs/publishing.md"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let needed = dependency["name"].as_str().unwrap();
            if names.contains(&needed) && dependency["kind"] != "dev" && needed != name {
                assert!(place(needed) < Some(own), "`{name}` comes before `{needed}`");
            }
        }
    }
    assert_eq!(order.len(), names.len(), "{order:?}");
}

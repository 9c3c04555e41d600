//! What would be published of each crate: the crate, and nothing else.

use serde_json::Value;
use toolkit_tests::{cargo, repository, run};

/// What may stand in a package, by the beginnings of paths.
const EXPECTED: &[&str] = &[
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "build.rs",
    "examples/",
    "src/",
    "templates/",
    "tests/",
];

#[test]
fn packages_hold_the_crate_and_its_licences() {
    let metadata = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let metadata = run(cargo(&repository()).args(metadata)).success();
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let mut packages = 0;
    for package in metadata["packages"].as_array().unwrap() {
        // `publish = false` is an empty list of registries.
        if package["publish"].is_array() {
            continue;
        }
        packages += 1;
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
    assert!(packages >= 11, "{packages}");
}

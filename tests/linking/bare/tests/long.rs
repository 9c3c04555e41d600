//! Tools of linked crates are there in optimised builds too, where the linker drops what nothing mentions. That tools of crates that
//! nothing links are not there is tested in the profile of the tests: optimisation adds none.

use std::path::Path;
use std::process::Command;
use toolkit_tests::{cargo, repository, run};

/// Builds a program with link-time optimisation, runs it, and returns its output.
///
/// The profile compiles the crates below the program for either kind, so they are compiled once.
fn output_with(lto: &str, program: &str) -> String {
    // The directory of all profiles, so that a second run finds what the first one built.
    let target = Path::new(env!("CARGO_BIN_EXE_bare_linked")).ancestors().nth(2).expect("a target directory");
    let mut build = cargo(&repository());
    build.args(["rustc", "--offline", "--locked", "--package", "toolkit-linking-bare", "--bin", program]);
    build.args(["--profile", "lto", "--target-dir"]).arg(target);
    run(build.args(["--", "-C"]).arg(format!("lto={lto}"))).success();
    run(&mut Command::new(target.join("lto").join(program))).success()
}

#[test]
#[ignore = "builds with link-time optimisation, which takes minutes: cargo xtask long"]
fn link_time_optimisation_keeps_the_tools_of_linked_crates() {
    for lto in ["thin", "fat"] {
        assert_eq!(output_with(lto, "bare_linked"), toolkit_linking_bare::LINKED, "{lto}");
    }
}

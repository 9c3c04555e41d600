//! Tools of linked crates are there in optimised builds too, where the linker drops what nothing mentions.

use std::path::Path;
use std::process::Command;
use toolkit_tests::{cargo, repository, run};

fn with_profile(profile: &str) {
    // The directory of all profiles, so that a second run finds what the first one built.
    let program = Path::new(env!("CARGO_BIN_EXE_bare_linked"));
    let target = program.ancestors().nth(2).expect("a target directory");
    let mut build = cargo(&repository());
    build.args(["build", "--offline", "--locked", "--package", "toolkit-linking-bare", "--bins"]);
    run(build.args(["--profile", profile]).arg("--target-dir").arg(target)).success();
    let says = |program: &str| run(&mut Command::new(target.join(profile).join(program))).success();
    assert_eq!(says("bare_linked"), toolkit_linking_bare::LINKED, "{profile}");
    let unlinked = says("bare_unlinked");
    assert!(unlinked.contains(toolkit_linking_bare::UNLINKED), "{profile}: {unlinked}");
}

#[test]
#[ignore = "builds with thin LTO, which takes minutes: cargo xtask ci"]
fn thin_lto() {
    with_profile("thin");
}

#[test]
#[ignore = "builds with fat LTO, which takes minutes: cargo xtask ci"]
fn fat_lto() {
    with_profile("fat");
}

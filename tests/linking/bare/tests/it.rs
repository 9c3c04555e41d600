//! Tools of linked crates are there, and those of crates that nothing mentions are not.

use std::path::Path;
use std::process::Command;
use toolkit_tests::run;

#[test]
fn in_the_profile_of_this_test() {
    let says = |program| run(&mut Command::new(Path::new(program))).success();
    assert_eq!(says(env!("CARGO_BIN_EXE_bare_linked")), toolkit_linking_bare::LINKED);
    let unlinked = says(env!("CARGO_BIN_EXE_bare_unlinked"));
    assert!(unlinked.contains(toolkit_linking_bare::UNLINKED), "{unlinked}");
    assert!(unlinked.starts_with(toolkit_linking_bare::NOTHING_LINKED), "{unlinked}");
}

//! The fuzzer's seeds, and what it found.

#![cfg(feature = "fuzzing")]

use std::fs;
use std::path::Path;

#[test]
fn what_holds_of_any_command_holds_of_the_seeds() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/verdict");
    let mut count = 0;
    for entry in fs::read_dir(seeds).expect("the seeds are in the repository") {
        let path = entry.expect("it can be listed").path();
        shell_verdict::fuzzing::verdict(&fs::read(path).expect("it can be read"));
        count += 1;
    }
    assert!(count >= 15, "only {count} seeds");
}

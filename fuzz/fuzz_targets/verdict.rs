//! What is made of any command.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| shell_verdict::fuzzing::verdict(data));

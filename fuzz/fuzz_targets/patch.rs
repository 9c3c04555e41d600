//! Fuzzes `apply_patch` with any patch and file.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| builtin_tools::fs::fuzzing::patch(data));

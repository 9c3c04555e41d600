//! Fuzzes `edit` with any file.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| builtin_tools::fs::fuzzing::edit(data));

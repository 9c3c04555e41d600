//! Fuzzes the verdict on any command.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Once;

fuzz_target!(|data: &[u8]| {
    static ONCE: Once = Once::new();
    // The fuzzer's own hook ends the program at each panic: also at those of the parser, which are caught. One that is not
    // caught ends it all the same.
    ONCE.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    shell_verdict::fuzzing::verdict(data)
});

//! A cloned repository whose `toolkit.json5` is not its user's friend, and the command within it.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod files;
mod nothing;
mod repository;

use crate::fixture::{Run, program};
use std::path::PathBuf;

/// The command, and the same with the tools of the tests.
pub(crate) fn programs() -> [PathBuf; 2] {
    [env!("CARGO_BIN_EXE_toolkit").into(), program()]
}

/// No character that does anything but be read.
#[track_caller]
pub(crate) fn assert_plain(run: &Run) {
    for text in [&run.out, &run.err] {
        let odd = text.chars().find(|char| {
            char.is_control() && *char != '\n'
                || ('\u{202a}'..='\u{202e}').contains(char)
                || ('\u{2066}'..='\u{2069}').contains(char)
        });
        assert_eq!(odd, None, "{text:?}");
    }
}

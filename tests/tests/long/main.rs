//! Tests that take minutes, or the whole machine: `cargo xtask ci` runs them, `cargo xtask test` does not.

mod history;
mod soak;

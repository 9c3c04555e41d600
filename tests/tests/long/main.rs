//! Tests that take minutes, or the whole machine: `cargo xtask long` runs them, `cargo xtask ci` most of them, `cargo xtask test` does not.

mod history;
mod soak;

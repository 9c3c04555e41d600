//! Tests that take minutes: `cargo xtask ci` runs them, `cargo xtask test` does not.

#[path = "../it/bench.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod bench;
mod outside;

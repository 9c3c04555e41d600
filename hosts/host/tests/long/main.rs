//! Tests that take minutes: `cargo xtask long` runs them, `cargo xtask test` does not.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

#[path = "../it/bench.rs"]
#[allow(dead_code, reason = "these tests share a part of it")]
mod bench;
mod outside;

//! Tests that take minutes: `cargo xtask ci` runs them, `cargo xtask test` does not.

#[cfg(unix)]
mod guide;
#[cfg(all(target_os = "linux", feature = "mcp"))]
mod large;

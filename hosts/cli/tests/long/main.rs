//! Tests that take minutes: `cargo xtask long` runs them, `cargo xtask test` does not.

#[cfg(all(target_os = "linux", feature = "gateway"))]
mod cron;
#[path = "../it/cron_rule.rs"]
mod cron_rule;
#[cfg(unix)]
mod guide;
#[cfg(all(target_os = "linux", feature = "mcp"))]
mod large;

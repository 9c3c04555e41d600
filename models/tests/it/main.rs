//! The clients against servers that a test scripts.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::needless_pass_by_value, reason = "each caller makes its JSON in place")]
#![expect(clippy::large_futures, reason = "a connection has its buffer with it")]

mod clients;
mod configuration;
mod conversations;
mod failures;
mod json_calls;
mod meter;
mod properties;
mod quirks;
mod scripted;
mod servers;
mod streams;

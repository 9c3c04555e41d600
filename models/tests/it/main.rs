//! The clients against servers that a test scripts.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod clients;
mod configuration;
mod conversations;
mod failures;
mod properties;
mod quirks;
mod scripted;
mod servers;
mod streams;

//! `message`, over a service with an outbox in memory.
#![cfg(feature = "messaging")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod asking;
mod dry_run;
mod errors;
mod files;
mod outbox;
mod schema;
mod sending;

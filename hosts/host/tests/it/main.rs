//! Integration tests of this crate, in one program: each module is one subject.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod agents;
mod background;
mod bench;
#[cfg(feature = "web")]
mod metered;
mod servers;

//! Integration tests of this crate, in one program: each module is one subject.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod acp;
mod acp_crashes;
mod approvals;
mod calls;
mod cancel;
mod common;
mod context;
mod conversations;
mod crashes;
mod damage;
mod delegate;
mod delegated_rules;
mod finish;
mod kill;
mod limits;
mod lists;
mod loops;
mod prefix;
mod properties;
mod questions;
mod retention;
mod rewind;
mod secrets;
mod segments;
mod steering;
mod stores;
mod transcripts;
mod watched_store;

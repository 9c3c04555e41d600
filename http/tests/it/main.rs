//! Integration tests of this crate, in one program: each module is one subject.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod addresses;
mod dns;
mod forward;
mod hostile;
mod limits;
mod property;
mod proxies;
mod redirects;
mod resolving;
mod server;
mod urls;

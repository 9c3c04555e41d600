//! Tests of the crate.

#[cfg(feature = "conformance")]
mod conformance;
mod registered;
mod text;

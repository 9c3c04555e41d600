//! Tests of the crate.

mod registered;

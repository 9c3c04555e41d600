//! Tests of the crate.

mod registered;
mod text;

//! Compile-fail cases for a crate of tools without the feature `runtime` are in `fail/`; `tests/it.rs` runs them.

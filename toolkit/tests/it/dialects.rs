//! Definitions, calls and results in the dialects of providers.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod calls;
mod closing;
mod deferring;
mod gemini;
mod golden;
mod hostile;
mod names;
mod properties;
mod random;
mod references;
mod rendering;
mod root;
mod schemas;
mod streams;
mod subset;

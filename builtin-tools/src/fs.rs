//! Files.

#[allow(dead_code, reason = "used by the tools that change files")]
mod diff;
mod lines;
mod read;
#[allow(dead_code, reason = "used by the tools that change files")]
mod text;

pub use read::read;

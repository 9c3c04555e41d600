//! Files.

#[allow(dead_code, reason = "used by the tools that change files")]
mod diff;
mod progress;
mod read;
#[allow(dead_code, reason = "used by the tools that change files")]
mod text;
mod write;

pub use read::read;
pub use write::write;

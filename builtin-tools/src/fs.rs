//! Files.

#[allow(dead_code, reason = "used by the tools that change files")]
mod diff;
mod edit;
mod fold;
mod lines;
mod nearest;
mod read;
mod splice;
#[allow(dead_code, reason = "used by the tools that change files")]
mod text;

pub use edit::edit;
pub use read::read;

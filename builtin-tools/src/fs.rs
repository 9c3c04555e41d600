//! Files.

#[allow(dead_code, reason = "used by the tools that change files")]
mod diff;
mod glob;
mod grep;
mod place;
mod progress;
mod read;
mod skill;
#[allow(dead_code, reason = "used by the tools that change files")]
mod text;
mod walk;
mod write;

pub use glob::glob;
pub use grep::{GrepOutput, grep};
pub use read::read;
pub use skill::skill;
pub use write::write;

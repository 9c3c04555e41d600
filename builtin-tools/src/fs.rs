//! Files.

mod glob;
mod grep;
mod lines;
mod place;
mod read;
mod skill;
mod walk;

pub use glob::glob;
pub use grep::{GrepOutput, grep};
pub use read::read;
pub use skill::skill;

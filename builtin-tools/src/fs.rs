//! Files.

mod apply_patch;
mod content;
mod diff;
mod edit;
mod fold;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod lines;
mod nearest;
mod read;
mod splice;
#[allow(dead_code, reason = "used by the tools that change files")]
mod text;

pub use edit::{Edit, edit};
pub use read::read;

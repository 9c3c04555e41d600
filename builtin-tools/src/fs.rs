//! Files.

mod apply_patch;
mod content;
mod diff;
mod edit;
mod fold;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod nearest;
mod progress;
mod read;
mod splice;
#[allow(dead_code, reason = "used by the tools that change files")]
mod text;
mod write;

pub use apply_patch::apply_patch;
pub use edit::{Edit, edit};
pub use read::read;
pub use write::write;

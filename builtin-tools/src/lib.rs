//! The builtin tools, one cargo feature a group.
//!
//! A host brings them in by naming this crate:
//!
//! ```
//! # fn main() {
//! toolkit::link!(core: builtin_tools);
//! # }
//! ```
//!
//! | feature | tools |
//! |---|---|
//! | `fs` | [`read`](fs::read) |
//!
//! What can be configured of the tools is in [`config`], whichever of them are switched on.

pub mod config;
#[cfg(feature = "fs")]
pub mod fs;

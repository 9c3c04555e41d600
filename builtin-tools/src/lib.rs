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
//! # Reserved names
//!
//! Where this crate is core, as above, no plugin, server or client can have a tool of one of these names, nor an alias; and no
//! plugin can have one as its id. That holds for tools that are switched off too: `read`.

#[cfg(feature = "fs")]
pub mod fs;

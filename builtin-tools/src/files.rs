//! Files that tools write: notes on them, and the rules by which one may be replaced.

pub(crate) mod hard_links;
#[cfg(any(feature = "canvas", feature = "media"))]
pub(crate) mod saved;
pub(crate) mod unread;
pub(crate) mod written;

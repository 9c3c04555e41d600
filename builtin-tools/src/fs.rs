//! Files.

mod lines;
mod read;

pub use read::read;

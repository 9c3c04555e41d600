//! Files.

mod edit;
mod fold;
mod lines;
mod nearest;
mod read;
mod splice;

pub use read::read;

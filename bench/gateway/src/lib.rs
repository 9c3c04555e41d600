//! The process of a gateway with a directory of its own, and a connection to it, for the programs that measure it.

pub mod connection;
pub mod process;

/// The result of a program that measures.
pub type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

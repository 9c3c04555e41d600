//! What is configured: in files, by the environment, on the command line.

mod origin;

pub use origin::{ConfigOrigin, ConfigOrigins, ConfigSource};

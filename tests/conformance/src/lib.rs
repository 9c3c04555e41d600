//! The server for the conformance tests of the Model Context Protocol: tools, written with the macro, and prompts, resources and
//! completions in a separate handler, as a user of `rmcp` writes them.

mod handler;
mod tools;

pub use handler::Fixture;
pub use tools::toolkit;

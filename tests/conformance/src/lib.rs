//! What the conformance tests of the Model Context Protocol want a server to have: tools, written with the macro, and beside them
//! prompts, resources and completions in a handler of its own, as somebody has them who uses `rmcp`.

mod handler;
mod tools;

pub use handler::Fixture;
pub use tools::toolkit;

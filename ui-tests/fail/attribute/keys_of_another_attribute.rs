// errors: 5
use toolkit::prelude::*;
/// Reads a file.
#[tool(default = 5)]
fn read(value: u32) {
    let _ = value;
}

/// Lists files.
#[tool]
fn list(#[arg(read_only)] value: u32) {
    let _ = value;
}

struct Files;

#[toolkit::tools(read_only)]
impl Files {
    /// Counts files.
    #[tool]
    fn count(&self) -> u32 {
        1
    }
}

#[toolkit::args(range(1..))]
struct Query {
    text: String,
}

#[toolkit::tool_factory(read_only)]
fn tools() -> Vec<toolkit::Tool> {
    Vec::new()
}

fn main() {}

// errors: 2
use toolkit::prelude::*;

#[derive(Debug, Clone, serde::Deserialize)]
#[toolkit::args]
struct Query {
    /// The text.
    #[arg(default = "whale")]
    text: String,
}

/// The place of a word.
#[derive(Debug, serde::Serialize)]
// Another comment.
#[toolkit::args]
struct Place {
    /// The line.
    line: u32,
}

/// Looks for a text.
#[tool(read_only)]
async fn look(#[args] query: Query) -> Place {
    drop(query);
    Place { line: 1 }
}

fn main() {}

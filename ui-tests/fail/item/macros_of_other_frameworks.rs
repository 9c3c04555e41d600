// errors: 4
use toolkit::prelude::*;

struct Notes;

#[toolkit::tool_router]
impl Notes {
    /// Counts the notes.
    #[tool(read_only)]
    fn count(&self, /** The group. */ group: &str) -> usize {
        group.len()
    }
}

#[derive(ToolArgs)]
struct Search {
    #[arg(default = 3)]
    limit: u32,
}

/// Searches.
#[tool(read_only)]
fn search(#[args] search: Search) -> u32 {
    search.limit
}

#[tool_args]
struct Other {
    limit: u32,
}

/// Searches another way.
#[tool(read_only)]
fn search_other(#[args] search: Other) -> u32 {
    search.limit
}

#[serde(rename_all = "camelCase")]
#[toolkit::args]
struct Third {
    limit_of_all: u32,
}

/// Searches a third way.
#[tool(read_only)]
fn search_third(#[args] search: Third) -> u32 {
    search.limit_of_all
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
enum Mode {
    Fast,
    Slow,
}

#[toolkit::args]
struct Query {
    #[serde(default)]
    mode: Mode,
}

/// Searches.
#[tool]
fn search(#[args] query: Query) -> bool {
    matches!(query.mode, Mode::Fast | Mode::Slow)
}

fn main() {}

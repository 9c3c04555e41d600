// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
struct Query {
    text: String,
}

/// Finds words.
#[tool]
fn find(#[args] query: &Query) -> String {
    query.text.clone()
}

/// Looks.
#[tool]
fn look(#[args] query: Option<Query>) -> String {
    query.map(|query| query.text).unwrap_or_default()
}

fn main() {}

// errors: 3
use toolkit::prelude::*;

#[toolkit::args]
struct Query {
    a: Strng,
    #[arg(default)]
    b: Strin,
    #[arg(range(1..))]
    c: Numbr,
}

/// Searches.
#[tool]
fn search(#[args] query: Query) {
    let _ = (query.a, query.b, query.c);
}

fn main() {}

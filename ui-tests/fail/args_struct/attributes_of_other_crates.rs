// errors: 6
use toolkit::prelude::*;

#[toolkit::args]
struct Query {
    #[schema(minimum = 1, maximum = 5)]
    a: u32,
    #[clap(long, default_value_t = 5)]
    b: u32,
    #[description = "A number."]
    c: u32,
    #[default(5)]
    d: u32,
    #[param(required)]
    e: u32,
    #[cfg_attr(unix, arg(default))]
    f: u32,
}

/// Searches.
#[tool]
fn search(#[args] query: Query) -> String {
    let Query { a, b, c, d, e, f } = query;
    format!("{a}{b}{c}{d}{e}{f}")
}

fn main() {}

// errors: 3
use toolkit::prelude::*;

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

struct Servers;

fn main() {
    let _ = Toolkit::empty().tools(Servers);
    let _ = Toolkit::empty().tools((tool_ref!(add), tool_ref!(add)));
    let _ = Toolkit::empty().tools([add]);
}

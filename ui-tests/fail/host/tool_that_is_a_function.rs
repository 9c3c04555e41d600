// errors: 2
use toolkit::prelude::*;

/// Runs.
#[tool(read_only)]
async fn run() {}

/// Walks.
#[tool(read_only)]
fn walk() {}

fn main() {
    let _ = Toolkit::empty().tool(run);
    let _ = Toolkit::empty().tools([walk]);
}

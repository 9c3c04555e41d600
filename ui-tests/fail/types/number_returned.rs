// errors: 1
use toolkit::prelude::*;

/// Counts lines.
#[tool]
async fn count(path: String) -> usize {
    path.len()
}

fn main() {
    drop(count(String::new()));
}

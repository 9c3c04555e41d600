// errors: 1
use toolkit::prelude::*;

#[derive(Debug)]
enum Outcome {
    Found,
    Missing,
}

/// Looks for a file.
#[tool]
async fn look(path: String) -> Outcome {
    if path.is_empty() { Outcome::Missing } else { Outcome::Found }
}

fn main() {}

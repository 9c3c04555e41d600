// errors: 1
use toolkit::prelude::*;

struct Failure;

type Fallible<T> = Result<T, Failure>;

/// Reads a file.
#[tool]
fn read(path: String) -> Fallible<String> {
    if path.is_empty() { Err(Failure) } else { Ok(path) }
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

struct Failure;

/// Reads a file.
#[tool]
async fn read(path: String) -> Result<String, Failure> {
    if path.is_empty() { Err(Failure) } else { Ok(path) }
}

fn main() {
    drop(read(String::new()));
}

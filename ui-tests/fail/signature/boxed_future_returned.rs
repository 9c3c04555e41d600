// errors: 1
use toolkit::prelude::*;

use std::pin::Pin;

/// Reads a file.
#[tool]
fn read(path: String) -> Pin<Box<dyn Future<Output = String> + Send>> {
    Box::pin(async move { path })
}

fn main() {}

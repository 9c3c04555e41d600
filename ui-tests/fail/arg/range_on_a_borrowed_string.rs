// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read(#[arg(range(1..=10))] path: Option<&str>) -> String {
    path.unwrap_or_default().to_owned()
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read<'a>(path: &'a str) -> String {
    path.to_owned()
}

fn main() {
    drop(read(""));
}

// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String) -> impl Future<Output = String> {
    async { path }
}

fn main() {
    drop(read(String::new()));
}

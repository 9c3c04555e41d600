// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: &PathBuf) -> String {
    path.display().to_string()
}

fn main() {}

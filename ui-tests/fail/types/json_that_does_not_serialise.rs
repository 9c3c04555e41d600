// errors: 1
use toolkit::prelude::*;

struct File;

/// Reads a file.
#[tool]
fn read(path: String) -> Json<File> {
    drop(path);
    Json(File)
}

fn main() {}

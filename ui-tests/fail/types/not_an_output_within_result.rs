// errors: 1
use toolkit::prelude::*;

struct File;

/// Reads a file.
#[tool]
async fn read(path: String) -> Result<File, ToolError> {
    drop(path);
    Ok(File)
}

fn main() {
    drop(read(String::new()));
}

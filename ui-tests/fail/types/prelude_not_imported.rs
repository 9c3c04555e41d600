// errors: 1

/// Reads a file.
#[toolkit::tool]
fn read(path: String) -> Result<String, ToolError> {
    Ok(path)
}

fn main() {}

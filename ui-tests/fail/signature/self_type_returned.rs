// errors: 1
use toolkit::prelude::*;

struct File;

impl File {
    /// Opens a file.
    #[tool]
    fn open(path: String) -> Result<Self, ToolError> {
        drop(path);
        Ok(File)
    }
}

fn main() {}

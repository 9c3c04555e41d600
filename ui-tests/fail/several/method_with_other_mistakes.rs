// errors: 2
use toolkit::prelude::*;

struct File;

impl File {
    /// Reads a file.
    #[tool(name = "Read")]
    async fn read(&self, path: String) -> String {
        path
    }
}

fn main() {}

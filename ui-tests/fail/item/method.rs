// errors: 1
use toolkit::prelude::*;

struct File;

impl File {
    /// Reads a file.
    #[tool]
    async fn read(&self, path: String) -> String {
        path
    }
}

fn main() {
    drop(File);
}

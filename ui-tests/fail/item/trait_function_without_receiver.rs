// errors: 1
use toolkit::prelude::*;

trait File {
    /// Reads a file.
    #[tool]
    fn read(path: String) -> String {
        path
    }
}

fn main() {}

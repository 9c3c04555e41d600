// errors: 1
use toolkit::prelude::*;

struct File;

impl File {
    /// Reads a file.
    #[tool]
    fn read(path: String) -> String {
        path
    }
}

fn main() {
    File::read(String::new());
}

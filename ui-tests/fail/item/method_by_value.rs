// errors: 1
use toolkit::prelude::*;

struct File;

impl File {
    /// Reads a file.
    #[tool]
    fn read(self) -> String {
        String::new()
    }
}

fn main() {
    drop(File.read());
}

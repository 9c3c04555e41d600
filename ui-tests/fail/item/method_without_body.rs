// errors: 1
use toolkit::prelude::*;

trait File {
    /// Reads a file.
    #[tool]
    fn read(&self, path: String) -> String;
}

struct Disk;

impl File for Disk {
    fn read(&self, path: String) -> String {
        path
    }
}

fn main() {
    Disk.read(String::new());
}

// errors: 1
use toolkit::prelude::*;

mod tools {
    use toolkit::prelude::*;

    /// Reads a file.
    #[tool]
    pub fn read(path: String) -> String {
        path
    }

    /// Writes a file.
    #[tool(destructiv)]
    pub fn write(path: String) -> String {
        path
    }
}

pub use tools::{read, write};

/// Reads and writes.
#[tool]
fn both(path: String) -> String {
    write(read(path))
}

fn main() {
    both(String::new());
}

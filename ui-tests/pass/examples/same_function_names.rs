//! Functions of one name in several modules, each a tool of its own name.
use toolkit::prelude::*;
use toolkit::tool_ref;

mod file {
    use toolkit::prelude::*;

    /// Reads a file.
    #[tool(name = "file_read")]
    pub fn read(path: &Path) -> String {
        path.display().to_string()
    }
}

mod memory {
    use toolkit::prelude::*;

    /// Reads memory.
    #[tool(name = "memory_read")]
    pub fn read(address: usize) -> String {
        address.to_string()
    }
}

fn main() {
    assert_eq!(tool_ref!(file::read).name(), "file_read");
    assert_eq!(tool_ref!(memory::read).name(), "memory_read");
    assert_eq!(Toolkit::builder().build().unwrap().tools().len(), 2);
}

// errors: 1
use toolkit::prelude::*;

use std::sync::Arc;

struct File;

impl File {
    /// Reads a file.
    #[tool]
    fn read(self: Arc<Self>, path: String) -> String {
        path
    }
}

fn main() {
    drop(Arc::new(File).read(String::new()));
}

// errors: 1
use toolkit::prelude::*;

use std::cell::RefCell;

/// Reads a file.
#[tool]
async fn read(store: State<RefCell<String>>, path: String) -> String {
    drop(store);
    path
}

fn main() {
    drop(read);
}

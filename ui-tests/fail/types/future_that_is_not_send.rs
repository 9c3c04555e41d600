// errors: 1
use toolkit::prelude::*;

use std::rc::Rc;

async fn rest() {}

/// Reads a file.
#[tool]
async fn read(path: String) -> String {
    let shared = Rc::new(path);
    rest().await;
    shared.to_string()
}

fn main() {
    drop(read(String::new()));
}

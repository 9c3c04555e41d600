// errors: 1
use toolkit::prelude::*;

use std::rc::Rc;

#[toolkit::args]
struct Shared {
    text: Rc<String>,
}

/// Reads a file.
#[tool]
async fn read(shared: Shared) -> String {
    rest().await;
    shared.text.to_string()
}

async fn rest() {}

fn main() {}

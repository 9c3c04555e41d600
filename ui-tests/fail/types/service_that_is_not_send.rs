// errors: 1
use toolkit::prelude::*;

use std::rc::Rc;

/// Reads a file.
#[tool]
fn read(store: State<Rc<String>>) -> String {
    store.to_string()
}

fn main() {}

// errors: 2
use toolkit::prelude::*;

use std::rc::Rc;

struct Shared(Rc<String>);

/// Reads a file.
#[tool]
async fn read(shared: Shared) -> String {
    shared.0.to_string()
}

fn main() {}

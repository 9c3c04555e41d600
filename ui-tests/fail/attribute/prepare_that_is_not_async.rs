// errors: 1
use toolkit::prelude::*;
use toolkit::descriptor::Preparation;

fn narrowed(_: &Caller, _: &mut Preparation) {}

/// Reads a file.
#[tool(prepare = narrowed)]
fn read(path: String) -> String {
    path
}

fn main() {}

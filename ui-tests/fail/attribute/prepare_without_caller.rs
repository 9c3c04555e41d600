// errors: 1
use toolkit::prelude::*;
use toolkit::descriptor::Preparation;

async fn narrowed(_: &mut Preparation) {}

/// Reads a file.
#[tool(prepare = narrowed)]
fn read(path: String) -> String {
    path
}

fn main() {}

// errors: 1
use toolkit::prelude::*;
use toolkit::descriptor::Preparation;

async fn narrowed(_: &Caller, _: &mut Preparation) -> String {
    String::new()
}

/// Reads a file.
#[tool(prepare = narrowed)]
fn read(path: String) -> String {
    path
}

fn main() {}

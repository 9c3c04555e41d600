// errors: 1
use toolkit::prelude::*;

struct Reader;

/// Reads a file.
#[tool]
fn read(path: String) -> String {
    path
}

fn main() {
    toolkit::tool_ref!(Reader);
}

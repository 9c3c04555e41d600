// errors: 1
/// Reads a file.
#[toolkit::tool]
#[toolkit::tool]
fn read(path: String) -> String {
    path
}

fn main() {}

// errors: 2
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(count: Result<u32, String>, since: Option<std::time::SystemTime>) -> String {
    format!("{count:?} {since:?}")
}

fn main() {}

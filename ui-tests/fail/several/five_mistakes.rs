// errors: 5
use toolkit::prelude::*;

/// Reads a file.
#[tool(name = "ReadFile", concurrency = 0)]
async fn read(
    #[arg(defualt = 1)] offset: u32,
    #[arg(range(10..1))] limit: u32,
    (a, b): (u32, u32),
) -> String {
    format!("{offset}{limit}{a}{b}")
}

fn main() {
    drop(read(1, 2, (3, 4)));
}

// errors: 4
use toolkit::prelude::*;

/// Finds words.
#[tool]
fn find(
    #[arg(pattern = "(?i)^abc$")] a: String,
    #[arg(pattern = "^[[:alpha:]]+$")] b: String,
    #[arg(pattern = "\\Aabc\\z")] c: String,
    #[arg(pattern = "^a++$")] d: String,
) -> String {
    format!("{a} {b} {c} {d}")
}

fn main() {}

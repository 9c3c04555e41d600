// errors: 1
use toolkit::prelude::*;

/// Formats a number.
#[tool]
fn format_number(number: i128) -> String {
    number.to_string()
}

fn main() {}

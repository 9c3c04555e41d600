// errors: 1
use toolkit::prelude::*;

/// Doubles a number.
#[tool]
const fn double(number: u32) -> &'static str {
    if number > 5 { "many" } else { "few" }
}

const FEW: &str = double(1);

fn main() {
    drop(FEW);
}

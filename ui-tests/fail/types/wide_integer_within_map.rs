// errors: 1
use toolkit::prelude::*;

use std::collections::BTreeMap;

/// Adds numbers.
#[tool]
fn add(numbers: BTreeMap<String, u128>) -> String {
    numbers.len().to_string()
}

fn main() {}

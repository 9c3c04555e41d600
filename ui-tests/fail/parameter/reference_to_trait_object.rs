// errors: 1
use toolkit::prelude::*;

use std::fmt::Display;

/// Reads a file.
#[tool]
fn read(path: &(dyn Display + Sync)) -> String {
    path.to_string()
}

fn main() {}

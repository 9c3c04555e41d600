// errors: 1
use toolkit::prelude::*;

type Lines = Option<u32>;

/// Reads a file.
#[tool]
fn read(#[arg(default = Some(5), range(1..))] lines: Lines) -> String {
    format!("{lines:?}")
}

fn main() {}

// errors: 4
use toolkit::prelude::*;

const COUNT: u32 = 5;
const MAYBE: Option<&str> = None;

const fn made() -> String {
    String::new()
}

/// Reads a file.
#[tool(title = COUNT)]
fn read1() {}

/// Reads a file.
#[tool(icon = made())]
fn read2() {}

/// Reads a file.
#[tool(deprecated = MAYBE)]
fn read3() {}

/// Reads a file.
#[tool(permission = COUNT)]
fn read4() {}

fn main() {}

// errors: 1
use toolkit::prelude::*;

/// Files.
#[tool]
mod file {
    pub fn read() {}
}

fn main() {
    file::read();
}

// errors: 1
use toolkit::prelude::*;

struct File;

/// Files.
#[tool]
impl File {
    fn read() {}
}

fn main() {
    File::read();
}

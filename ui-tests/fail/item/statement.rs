// errors: 1
use toolkit::prelude::*;

fn main() {
    #[tool]
    let read = || 5;
    read();
}

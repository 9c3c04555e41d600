// errors: 1
use toolkit::prelude::*;

#[tool]
thread_local! {
    static LIMIT: u32 = 5;
}

fn main() {}

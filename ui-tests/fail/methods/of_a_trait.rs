// errors: 1
use toolkit::prelude::*;

struct Notes;

trait Count {
    fn count(&self) -> u8;
}

#[toolkit::tools]
impl Count for Notes {
    /// Counts.
    #[tool]
    fn count(&self) -> u8 {
        1
    }
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

struct Notes<T>(Vec<T>);

#[toolkit::tools]
impl<T> Notes<T> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        self.0.len()
    }
}

fn main() {}

// errors: 2
use toolkit::prelude::*;

struct Notes(Vec<String>);

#[toolkit::tools]
impl Notes {
    /// Counts.
    #[tool(naem = "count_notes")]
    fn count(&self) -> usize {
        self.0.len()
    }

    /// Finds a note.
    #[tool]
    fn find(&self, (first, second): (usize, usize)) -> usize {
        first + second
    }
}

fn main() {}

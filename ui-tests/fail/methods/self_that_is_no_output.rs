// errors: 1
use toolkit::prelude::*;

struct Notes;

#[toolkit::tools]
impl Notes {
    /// Copies the notes.
    #[tool]
    fn copy(&self) -> Self {
        Self
    }
}

fn main() {}

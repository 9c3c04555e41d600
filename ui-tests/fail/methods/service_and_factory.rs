// errors: 2
use toolkit::prelude::*;

struct Notes;

#[toolkit::tools]
impl Notes {
    /// Counts notes.
    #[tool]
    fn count(&self) -> u32 {
        0
    }

    #[toolkit::service]
    fn connect() -> Self {
        Self
    }

    #[toolkit::tool_factory]
    fn more(_: &Caller) -> Vec<toolkit::Tool> {
        Vec::new()
    }
}

fn main() {}

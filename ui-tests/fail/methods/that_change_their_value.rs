// errors: 2
use toolkit::prelude::*;

struct Notes(Vec<String>);

#[toolkit::tools]
impl Notes {
    /// Keeps a note.
    #[tool]
    async fn keep(&mut self, text: String) {
        self.0.push(text);
    }

    /// Takes all notes.
    #[tool]
    async fn take(self) -> Vec<String> {
        self.0
    }
}

fn main() {}

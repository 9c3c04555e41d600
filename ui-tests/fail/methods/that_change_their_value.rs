// errors: 2
//! Methods that change or take their value.

struct Notes(Vec<String>);

#[toolkit::tools]
impl Notes {
    /// Keeps a note.
    #[toolkit::tool]
    async fn keep(&mut self, text: String) {
        self.0.push(text);
    }

    /// Takes all notes.
    #[toolkit::tool]
    async fn take(self) -> Vec<String> {
        self.0
    }
}

fn main() {}

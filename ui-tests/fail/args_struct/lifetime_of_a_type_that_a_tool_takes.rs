// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Note<'a> {
    /// The text.
    text: &'a str,
}

/// Shouts.
#[tool(read_only)]
async fn shout(#[args] note: Note<'_>) -> String {
    note.text.to_uppercase()
}

fn main() {}

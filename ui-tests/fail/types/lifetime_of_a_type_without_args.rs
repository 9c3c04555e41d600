// errors: 1
use toolkit::prelude::*;

struct Note<'a> {
    text: &'a str,
}

/// Shouts.
#[tool(read_only)]
async fn shout(#[args] note: Note<'_>) -> String {
    note.text.to_uppercase()
}

fn main() {}

// errors: 3
use std::path::Path;
use toolkit::prelude::*;

#[toolkit::args]
struct Note {
    /// The text.
    text: &'a str,
    /// The tags.
    #[arg(length(..=5))]
    tags: &[String],
    /// The file.
    #[serde(default)]
    file: Option<&Path>,
}

/// Shouts.
#[tool(read_only)]
fn shout(#[args] note: Note) -> String {
    format!("{} {} {}", note.text.to_uppercase(), note.tags.join(" "), note.file.is_some())
}

fn main() {}

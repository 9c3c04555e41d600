// errors: 1
use toolkit::prelude::*;

/// Moves a note.
///
/// # Arguments
///
/// * `id` - The number of the note.
#[tool]
fn move_note(id: u32) -> String {
    id.to_string()
}

fn main() {}

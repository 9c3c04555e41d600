// errors: 2
use toolkit::prelude::*;

/// Shows a ticket.
#[tool(read_only)]
fn show(
    #[arg(pattern = "^([A-Z]{2}-[0-9]+$")] ticket: String,
    #[arg(pattern = r"^\([a-z]+[0-9$")] place: String,
) -> String {
    ticket + &place
}

fn main() {}

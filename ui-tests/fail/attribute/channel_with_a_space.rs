// errors: 1
use toolkit::prelude::*;

/// Sends a message.
#[tool(channel = "my channel")]
fn send(text: String) -> String {
    text
}

fn main() {}

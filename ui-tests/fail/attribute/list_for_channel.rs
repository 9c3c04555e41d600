// errors: 1
use toolkit::prelude::*;

/// Pins a message.
#[tool(channel = ["telegram", "discord"])]
fn pin(message: String) -> String {
    message
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

const CHANNEL: &str = "telegram";

/// Sends a message.
#[tool(channel = CHANNEL)]
fn send(text: String) -> String {
    text
}

fn main() {}

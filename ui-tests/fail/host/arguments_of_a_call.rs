// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
struct Query {
    /// The text to find.
    text: String,
}

fn main() {
    let _ = ToolCall::new("1", "search", Query { text: "cats".into() });
    let _ = ToolCall::new("2", "search", Some("{}"));
}

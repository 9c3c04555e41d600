// errors: 5
use toolkit::prelude::*;

/// Finds a word in a text.
#[tool(group = "text, search", read_only)]
fn find_word(text: String) -> String {
    text
}

/// Finds a line in a text.
#[tool(group = ["text search", "lines"], alias = "grep_line,line", read_only)]
fn find_line(text: String) -> String {
    text
}

/// Finds a page.
#[tool(group = "text, Search!", read_only)]
fn find_page(#[arg(alias = "page,leaf")] text: String) -> String {
    text
}

fn main() {}

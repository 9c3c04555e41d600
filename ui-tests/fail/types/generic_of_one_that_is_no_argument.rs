// errors: 1
use toolkit::prelude::*;

struct Session;

#[toolkit::args]
struct Page<T> {
    items: Vec<T>,
}

/// Shows a page.
#[tool]
fn show(page: Page<Session>) -> String {
    page.items.len().to_string()
}

fn main() {}

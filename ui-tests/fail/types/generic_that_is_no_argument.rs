// errors: 1
use toolkit::prelude::*;

struct Page<T> {
    items: Vec<T>,
}

/// Shows a page.
#[tool]
fn show(page: Page<String>) -> String {
    page.items.join(", ")
}

fn main() {}

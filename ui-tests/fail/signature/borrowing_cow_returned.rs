// errors: 1
use toolkit::prelude::*;

use std::borrow::Cow;

/// Reads a file.
#[tool]
async fn read(path: &str) -> Cow<'_, str> {
    path.into()
}

fn main() {
    drop(read(""));
}

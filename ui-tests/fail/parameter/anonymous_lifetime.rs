// errors: 1
use toolkit::prelude::*;

use std::borrow::Cow;

/// Reads a file.
#[tool]
async fn read(path: Cow<'_, str>) -> String {
    path.into_owned()
}

fn main() {}

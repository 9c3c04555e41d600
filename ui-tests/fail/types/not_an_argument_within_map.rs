// errors: 1
use toolkit::prelude::*;

use std::collections::HashMap;

struct Session;

/// Reads a file.
#[tool]
fn read(sessions: HashMap<String, Session>) -> String {
    sessions.len().to_string()
}

fn main() {}

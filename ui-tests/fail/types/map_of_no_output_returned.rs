// errors: 1
use toolkit::prelude::*;

use std::collections::HashMap;

struct Session;

/// Lists sessions by name.
#[tool]
fn sessions() -> HashMap<String, Session> {
    HashMap::new()
}

fn main() {}

// errors: 1
use toolkit::prelude::*;

struct Session;

/// Finds a session.
#[tool]
async fn find(name: String) -> Result<Option<Session>, ToolError> {
    drop(name);
    Ok(None)
}

fn main() {}

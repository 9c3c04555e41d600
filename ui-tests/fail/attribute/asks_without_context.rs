// errors: 3
use toolkit::prelude::*;
/// Removes a file.
#[tool(asks)]
async fn remove(path: &str) {
    let _ = path;
}

/// Moves a file.
#[tool(always_asks, permission = "edit")]
fn rename(path: &str) {
    let _ = path;
}

struct Files;

#[toolkit::tools]
impl Files {
    /// Removes all files.
    #[tool(asks)]
    async fn clear(&self) {}
}

fn main() {}

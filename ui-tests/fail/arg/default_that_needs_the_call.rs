// errors: 4
use toolkit::prelude::*;

async fn now() -> u32 {
    0
}

/// Waits.
#[tool]
fn wait(#[arg(default = now().await)] from: u32) -> String {
    from.to_string()
}

/// Counts.
#[tool]
fn count(#[arg(default = null)] from: u32, #[arg(default = None)] to: u32) -> String {
    format!("{from} {to}")
}

struct Notes {
    limit: usize,
}

#[toolkit::tools]
impl Notes {
    /// Lists notes.
    #[tool]
    fn list(&self, #[arg(default = self.limit)] limit: usize) -> String {
        limit.max(self.limit).to_string()
    }
}

fn main() {}

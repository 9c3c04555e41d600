// errors: 1
use toolkit::prelude::*;

use std::sync::Mutex;

static STORE: Mutex<String> = Mutex::new(String::new());

async fn rest() {}

/// Reads a file.
#[tool]
async fn read(path: &str) -> Result<String, ToolError> {
    let mut store = STORE.lock().map_err(|_| ToolError::failed("poisoned"))?;
    store.push_str(path);
    rest().await;
    Ok(store.clone())
}

fn main() {}

// errors: 3
use std::sync::{Mutex, PoisonError, RwLock};
use toolkit::prelude::*;

struct Counter {
    number: Mutex<u32>,
    names: RwLock<Vec<String>>,
}

impl Counter {
    async fn rest(&self) {}
}

#[toolkit::tools]
impl Counter {
    /// Counts.
    #[tool(auto_execute)]
    async fn count(&self) -> u32 {
        let mut number = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        *number += 1;
        self.rest().await;
        *number
    }

    /// Adds.
    #[tool(auto_execute)]
    async fn add(&self, by: u32) -> Result<u32, ToolError> {
        let mut number = self.number.lock().map_err(|_| ToolError::failed("poisoned"))?;
        *number += by;
        self.rest().await;
        Ok(*number)
    }

    /// Lists names.
    #[tool(read_only)]
    async fn names(&self) -> usize {
        let names = self.names.read().unwrap();
        self.rest().await;
        names.len()
    }

    /// Ends the guard first.
    #[tool(auto_execute)]
    async fn reset(&self) -> u32 {
        {
            let mut number = self.number.lock().unwrap_or_else(PoisonError::into_inner);
            *number = 0;
        }
        self.rest().await;
        0
    }
}

fn main() {}

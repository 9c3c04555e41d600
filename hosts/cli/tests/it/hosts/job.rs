//! Commands that run in the background.

use serde_json::{Value, json};

/// The arguments of `exec` for a job that ends only when it is stopped.
pub(crate) fn lasting() -> Value {
    json!({"command": "sleep 1000", "run_in_background": true})
}

/// The id of the job that a call began.
pub(crate) fn id_of(began: &str) -> String {
    let start = began.find("job_").unwrap_or_else(|| panic!("no id: {began}"));
    began[start..].chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

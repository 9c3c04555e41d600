//! Configuration of saved outputs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The default maximum size of one output, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// The default maximum size of all outputs together, in bytes.
const MAX_TOTAL_BYTES: u64 = 8 << 30;

/// Limits of the whole outputs kept on disk (`/tools/outputs`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OutputStoreSettings {
    /// The maximum size of the stored output of one call, in bytes, at least 4096. Default: 1073741824 (1 GiB). A command that writes
    /// more is killed; other outputs are truncated, with a note to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 4_096))]
    pub max_bytes: Option<u64>,
    /// The maximum size of all stored outputs together, of all sessions, in bytes, at least 4096. Default: 8589934592 (8 GiB). The oldest
    /// are removed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 4_096))]
    pub max_total_bytes: Option<u64>,
}

impl OutputStoreSettings {
    /// Returns the maximum size of one output, in bytes.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes.unwrap_or(MAX_BYTES)
    }

    /// Returns the maximum size of all outputs together, in bytes.
    pub fn max_total_bytes(&self) -> u64 {
        self.max_total_bytes.unwrap_or(MAX_TOTAL_BYTES)
    }
}

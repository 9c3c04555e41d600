//! Configuration of saved outputs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The default maximum size of one output, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// The default maximum size of all outputs together, in bytes.
const MAX_TOTAL_BYTES: u64 = 8 << 30;

/// How much of whole outputs is kept on disk (`/tools/outputs`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct OutputStoreSettings {
    /// How many bytes of the output of one call are kept, from 4096 on; 1073741824 (1 GiB) without it. A command that writes more is ended;
    /// of other outputs the rest is left out, and the model is told so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 4_096))]
    pub max_bytes: Option<u64>,
    /// How many bytes of outputs are kept together, of all sessions, from 4096 on; 8589934592 (8 GiB) without it. Where a new output might
    /// not fit, the oldest are removed first.
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

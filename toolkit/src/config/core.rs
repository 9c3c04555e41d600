//! The configuration keys of the core, besides the sections that crates declare.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The loop guard (`/loopGuard`): limits for identical calls with identical results. The guard's defaults apply to unset limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LoopGuardSettings {
    /// The number of identical calls after which the model is warned, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub tell: Option<u32>,
    /// The number of identical calls after which a person's approval is needed, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ask: Option<u32>,
    /// The number of identical calls after which the call is blocked, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub block: Option<u32>,
}

/// The history of tool calls that a host keeps on disk (`/history`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HistorySettings {
    /// If false, no call is recorded on disk.
    pub enabled: bool,
    /// The maximum age of recorded calls, in days, from 1 to 3650.
    #[schemars(range(min = 1, max = 3_650))]
    pub max_days: u32,
    /// The maximum size of all files of the history together, in bytes, at least 65536. The oldest calls are removed first.
    #[schemars(range(min = 65_536))]
    pub max_bytes: u64,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self { enabled: true, max_days: 30, max_bytes: 256 << 20 }
    }
}

/// One agent (`/agents/<id>`), beside its tools and permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AgentSettings {
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// The model that it uses, by its name in `models`; without it the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// The directory that it works in: absolute, or beginning with `~/`, or relative to the directory of the file that it stands in. Default:
    /// the workspace of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub workspace: Option<PathBuf>,
}

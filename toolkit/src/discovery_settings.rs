//! The settings of discovery.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When not every definition is shown at once (`/tools/discovery`). What is not said is left to the program; without anything,
/// every tool is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct DiscoverySettings {
    /// Whether definitions beyond the limits are left for `tool_search` to find. Without it they are where a limit is stated, or
    /// the program says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How many estimated tokens all definitions together may take before some are not shown. From 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_tokens: Option<u32>,
    /// How many tools there may be before some are not shown. From 0 to 100000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    pub max_tools: Option<u32>,
    /// The tools that are shown whatever the limits: names, `group:<group>`, ids of plugins, also patterns with `*`. Without it,
    /// those of core crates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show: Option<Vec<String>>,
}

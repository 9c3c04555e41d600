//! The settings of discovery.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tool discovery (`/tools/discovery`): limits on the definitions that are sent to the model. The program's defaults apply to unset
/// keys; without any, all tools are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct DiscoverySettings {
    /// If true, tools beyond the limits are not listed, and `tool_search` finds them. Default: true if a limit is set or the program
    /// enables it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// The maximum of estimated tokens of all listed definitions together, from 0 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_tokens: Option<u32>,
    /// The maximum number of listed tools, from 0 to 100000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000))]
    pub max_tools: Option<u32>,
    /// Tools that are listed regardless of the limits: names, `group:<group>`, plugin ids, also patterns with `*`. Default: those of
    /// core crates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub show: Option<Vec<String>>,
}

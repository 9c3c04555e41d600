//! The section `toolAgent` of the configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::config::{ConfigSection, Configuration};

/// The agent that tool calls are delegated to (`/toolAgent`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ToolAgentSettings {
    /// If true, dangerous commands run without approval. Denied commands stay denied.
    pub auto_confirm_dangerous: bool,
    /// The maximum number of tool calls for one task, from 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_tool_calls: u32,
    /// The timeout of one task, in milliseconds, from 1000 to 86400000 (a day).
    #[schemars(range(min = 1_000, max = 86_400_000_u64))]
    pub timeout_ms: u64,
    /// The maximum number of tokens of one task, those of requests and answers together, from 1. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u64>,
    /// The maximum cost of one task, in the currency of the model's `price`, without which it has no effect. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub max_cost: Option<f64>,
    /// The maximum number of sub-agents that one task starts, those of sub-agents included, from 0 to 10000.
    #[schemars(range(max = 10_000))]
    pub max_sub_agents: u32,
    /// The maximum number of sub-agents that work at once, from 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub max_parallel_sub_agents: u32,
    /// The provider of its model. Default: that of the delegating agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Its model. Default: that of the delegating agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Default for ToolAgentSettings {
    fn default() -> Self {
        Self {
            auto_confirm_dangerous: false,
            max_tool_calls: 50,
            timeout_ms: 300_000,
            max_tokens: None,
            max_cost: None,
            max_sub_agents: 32,
            max_parallel_sub_agents: 4,
            provider_id: None,
            model: None,
        }
    }
}

impl ToolAgentSettings {
    /// The path of the section. A host that runs agents states it with [`Builder::uses_section`](toolkit::Builder::uses_section).
    pub const SECTION: &str = "toolAgent";

    /// Returns the settings of a configuration. A value that names a variable or a file that is not there is left out; its default counts.
    pub fn of(configuration: &Configuration) -> Self {
        // A value that does not fit is an error of loading.
        configuration.section(Self::SECTION).unwrap_or_default()
    }
}

toolkit::config_section!(
    ConfigSection::at::<ToolAgentSettings>(ToolAgentSettings::SECTION)
        .lenient()
        .void_because("this program runs no agent that tasks are delegated to")
);

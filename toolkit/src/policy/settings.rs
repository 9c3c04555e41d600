//! Configuration of the tools that exist for a caller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::config_origin::ConfigOrigins;

/// The tool rules of one layer: a base profile, allowed tools and denied tools.
///
/// Entries are tool names or aliases, plugin ids, `mcp:<server>`, `client:<id>`, `group:<name>`, or any of them with the
/// wildcard `*`. All tools of MCP servers are in `group:mcp`, all of clients in `group:client`; other groups that they declare
/// count only in deny lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolRules {
    /// The base set of tools: `minimal`, `coding`, `messaging`, `full`, or one of `tools.profiles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The only allowed tools. Unset: no restriction; an empty list allows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Tools allowed in addition to the profile of this layer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_allow: Vec<String>,
    /// Denied tools; takes precedence over every other rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// A named set of tools, for [`ToolRules::profile`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ProfileRules {
    /// The only allowed tools. Unset: no restriction; an empty list allows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Denied tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// The rules of one source of configuration that decide which tools exist for a caller.
///
/// Each field names its pointer in the configuration, which `origins` maps to the source location of each entry.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PolicySettings {
    /// Rules for everybody (`/tools`).
    pub tools: ToolRules,
    /// Profiles by name (`/tools/profiles/<name>`).
    pub profiles: BTreeMap<String, ProfileRules>,
    /// Rules by provider, model or `provider/model` (`/tools/byProvider/<provider>`).
    pub by_provider: BTreeMap<String, ToolRules>,
    /// Rules by agent (`/agents/<id>/tools`).
    pub agents: BTreeMap<String, ToolRules>,
    /// Rules by agent, then by provider, model or `provider/model` (`/agents/<id>/tools/byProvider/<provider>`).
    pub agents_by_provider: BTreeMap<String, BTreeMap<String, ToolRules>>,
    /// Rules by channel (`/channels/<name>/tools`).
    pub channels: BTreeMap<String, ToolRules>,
    /// Rules by channel, then by conversation (`/channels/<name>/groups/<id>/tools`).
    pub groups: BTreeMap<String, BTreeMap<String, ToolRules>>,
    /// Rules by channel, then by sender (`/channels/<name>/senders/<id>/tools`).
    pub senders: BTreeMap<String, BTreeMap<String, ToolRules>>,
    /// Configured servers of the Model Context Protocol (`/mcp/<name>`): lists may name them and their tools before
    /// they are connected.
    pub servers: BTreeSet<String>,
    /// Rules for callers in a sandbox (`/tools/sandbox`).
    pub sandbox: ToolRules,
    /// Rules for sub-agents (`/tools/subagents`).
    pub subagents: ToolRules,
    /// Tools that are enabled or disabled, by name (`/tools/settings/<tool>/enabled`).
    pub enabled: BTreeMap<String, bool>,
    /// Plugins that are disabled with all their tools, by id; `true` has no effect (`/plugins/<id>/enabled`).
    pub plugins_enabled: BTreeMap<String, bool>,
    /// Tools that are limited to certain models, by tool: models, `provider/model`, or either with `*`, and the pointer
    /// to the list (`/tools/exec/applyPatch/allowModels`, for example).
    pub models: BTreeMap<String, (Vec<String>, String)>,
    /// Built-in groups in which a plugin's tools count for allow lists, by plugin id (`/plugins/<id>/joinGroups`).
    pub join_groups: BTreeMap<String, BTreeSet<String>>,
    /// True if models can call tools at all; `None` if not configured (`/enableToolCalls`).
    pub enable_tool_calls: Option<bool>,
    /// The source location of each entry.
    pub origins: ConfigOrigins,
}

impl ToolRules {
    /// Sets the profile to start from.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Allows only these tools; an empty list allows nothing.
    #[must_use]
    pub fn allow<S: Into<String>>(mut self, entries: impl IntoIterator<Item = S>) -> Self {
        self.allow.get_or_insert_default().extend(entries.into_iter().map(Into::into));
        self
    }

    /// Adds tools to those of the profile.
    #[must_use]
    pub fn also_allow<S: Into<String>>(mut self, entries: impl IntoIterator<Item = S>) -> Self {
        self.also_allow.extend(entries.into_iter().map(Into::into));
        self
    }

    /// Denies these tools.
    #[must_use]
    pub fn deny<S: Into<String>>(mut self, entries: impl IntoIterator<Item = S>) -> Self {
        self.deny.extend(entries.into_iter().map(Into::into));
        self
    }

    /// Returns true if there are no rules.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

//! What is configured of which tools exist for whom.

use crate::config_origin::ConfigOrigins;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What one layer says of tools: a profile to begin with, what is allowed, what is denied.
///
/// Entries are names or aliases of tools, ids of plugins, `mcp:<server>`, `client:<id>`, `group:<name>`, or any of them with
/// the wildcard `*`. All tools of servers are in `group:mcp`, all of clients in `group:client`; which other groups they say
/// they are in counts only to deny.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolRules {
    /// A named set of tools to begin with: `minimal`, `coding`, `messaging`, `full`, or one of `tools.profiles`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Only these tools. Without it there is no restriction; an empty list allows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Tools beside those of the profile of this very layer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_allow: Vec<String>,
    /// None of these tools, whatever else is said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// A set of tools by name, for [`ToolRules::profile`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ProfileRules {
    /// Only these tools. Without it there is no restriction; an empty list allows nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// None of these tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// All that one source of configuration says of which tools exist for whom.
///
/// In brackets the pointer in the configuration, by which `origins` knows where each entry was written.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PolicySettings {
    /// For everybody (`/tools`).
    pub tools: ToolRules,
    /// Profiles by name (`/tools/profiles/<name>`).
    pub profiles: BTreeMap<String, ProfileRules>,
    /// By provider, model or `provider/model` (`/tools/byProvider/<provider>`).
    pub by_provider: BTreeMap<String, ToolRules>,
    /// By agent (`/agents/<id>/tools`).
    pub agents: BTreeMap<String, ToolRules>,
    /// By agent, then by provider, model or `provider/model` (`/agents/<id>/tools/byProvider/<provider>`).
    pub agents_by_provider: BTreeMap<String, BTreeMap<String, ToolRules>>,
    /// By channel (`/channels/<name>/tools`).
    pub channels: BTreeMap<String, ToolRules>,
    /// By channel, then by conversation (`/channels/<name>/groups/<id>/tools`).
    pub groups: BTreeMap<String, BTreeMap<String, ToolRules>>,
    /// By channel, then by sender (`/channels/<name>/senders/<id>/tools`).
    pub senders: BTreeMap<String, BTreeMap<String, ToolRules>>,
    /// Servers of the Model Context Protocol that are configured (`/mcp/<name>`): lists may name them and their tools before they are
    /// connected.
    pub servers: BTreeSet<String>,
    /// For callers in a sandbox (`/tools/sandbox`).
    pub sandbox: ToolRules,
    /// For sub-agents (`/tools/subagents`).
    pub subagents: ToolRules,
    /// Tools that are switched on or off, by name (`/tools/settings/<tool>/enabled`).
    pub enabled: BTreeMap<String, bool>,
    /// Plugins that are switched off: all their tools, by id. `true` says nothing (`/plugins/<id>/enabled`).
    pub plugins_enabled: BTreeMap<String, bool>,
    /// Tools that only certain models get, by tool: a model, `provider/model`, or one of them with `*`, and the pointer at
    /// which the list stands [`/tools/exec/applyPatch/allowModels`, say].
    pub models: BTreeMap<String, (Vec<String>, String)>,
    /// Built-in groups in which a plugin's tools count for allow lists, by plugin id (`/plugins/<id>/joinGroups`).
    pub join_groups: BTreeMap<String, BTreeSet<String>>,
    /// Whether models can call tools at all; `None` says nothing (`/enableToolCalls`).
    pub enable_tool_calls: Option<bool>,
    /// Where each entry was written.
    pub origins: ConfigOrigins,
}

impl ToolRules {
    /// Begins with a profile.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// Allows only these tools; none of them: nothing.
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

    /// Says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

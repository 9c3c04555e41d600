//! Configuration of permissions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolkit_core::config_origin::ConfigOrigins;

/// The decision on an action. A stricter decision compares greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The action is allowed without approval.
    Allow,
    /// A person's approval is needed.
    Ask,
    /// The action is denied.
    Deny,
}

/// The rule for one kind of permission: one decision for all actions, or an ordered list whose last matching entry applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PermissionRule {
    /// One decision for all actions of this kind.
    Always(Decision),
    /// The last matching entry applies; if none matches, the list has no effect.
    List(Vec<PermissionEntry>),
}

impl PermissionRule {
    /// Returns true if it allows anything.
    pub(super) fn allows(&self) -> bool {
        match self {
            Self::Always(decision) => *decision == Decision::Allow,
            Self::List(entries) => entries.iter().any(|entry| entry.decision == Decision::Allow),
        }
    }
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionEntry {
    /// The pattern: a path, in gitignore syntax with braces and `~`; or a command, URL or similar, as an approval prompt shows it, with
    /// `*` for any text.
    #[serde(rename = "match")]
    pub pattern: String,
    /// The decision.
    #[serde(rename = "do")]
    pub decision: Decision,
}

/// The rules by kind of permission or tool. A key is a kind (`read`, `edit`, `exec`, `external_directory`, `web_fetch`,
/// `message`, or any that a tool states), a tool's name or alias, a server as `mcp:docs`, or any of them with `*`.
pub type PermissionRules = BTreeMap<String, PermissionRule>;

/// The permission rules of one source of configuration. Each field names its pointer in the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionSettings {
    /// Rules for everybody (`/permission/<kind>`).
    pub everybody: PermissionRules,
    /// Rules by agent (`/agents/<id>/permission/<kind>`).
    pub agents: BTreeMap<String, PermissionRules>,
    /// Rules by channel (`/channels/<name>/permission/<kind>`).
    pub channels: BTreeMap<String, PermissionRules>,
    /// Rules by channel, then by conversation (`/channels/<name>/groups/<id>/permission/<kind>`).
    pub groups: BTreeMap<String, BTreeMap<String, PermissionRules>>,
    /// Rules by channel, then by sender (`/channels/<name>/senders/<id>/permission/<kind>`).
    pub senders: BTreeMap<String, BTreeMap<String, PermissionRules>>,
    /// The source location of each entry.
    pub origins: ConfigOrigins,
}

impl PermissionSettings {
    /// Returns true if there is no rule.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { everybody, agents, channels, groups, senders, origins: _ } = self;
        everybody.is_empty()
            && [agents, channels].iter().all(|all| all.is_empty())
            && [groups, senders].iter().all(|all| all.is_empty())
    }
}

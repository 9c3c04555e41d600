//! What is configured of permissions.

use crate::config_origin::ConfigOrigins;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether an action may go ahead. The stricter is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It may, without a question.
    Allow,
    /// A person is asked.
    Ask,
    /// It must not.
    Deny,
}

/// What is said of one kind of permission: one word for all of it, or an ordered list of which the last that matches
/// counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PermissionRule {
    /// For all of this kind.
    Always(Decision),
    /// The last that matches counts; where none does, the list says nothing.
    List(Vec<PermissionEntry>),
}

impl PermissionRule {
    /// Whether it allows anything.
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
    /// What it is about: a path, in the syntax of gitignore with braces and `~`; or a command, an address and the like, as a
    /// question shows it, with `*` for any text.
    #[serde(rename = "match")]
    pub pattern: String,
    /// What to do.
    #[serde(rename = "do")]
    pub decision: Decision,
}

/// What is said of each kind of permission or tool. A key is a kind (`read`, `edit`, `exec`, `external_directory`, `web_fetch`,
/// `message`, or any that a tool states), a tool's name or another name of it, a server as `mcp:docs`, or any of them with `*`.
pub type PermissionRules = BTreeMap<String, PermissionRule>;

/// All that one source of configuration says of permissions. In parentheses the pointer in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionSettings {
    /// For everybody (`/permission/<kind>`).
    pub everybody: PermissionRules,
    /// By agent (`/agents/<id>/permission/<kind>`).
    pub agents: BTreeMap<String, PermissionRules>,
    /// By channel (`/channels/<name>/permission/<kind>`).
    pub channels: BTreeMap<String, PermissionRules>,
    /// By channel, then by conversation (`/channels/<name>/groups/<id>/permission/<kind>`).
    pub groups: BTreeMap<String, BTreeMap<String, PermissionRules>>,
    /// By channel, then by sender (`/channels/<name>/senders/<id>/permission/<kind>`).
    pub senders: BTreeMap<String, BTreeMap<String, PermissionRules>>,
    /// Where each entry was written.
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

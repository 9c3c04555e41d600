//! Approvals that a person gave for longer than one call: for a session, or always.

mod file;
mod memory;
mod place;
mod session;
mod session_file;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use file::{Lock, check_directory, open_own};
pub(crate) use memory::{Allowed, Memory};
pub use store::{ApprovalError, ApprovalList, Approvals};

use crate::tool::Tool;
use serde::{Deserialize, Serialize, Serializer};
use std::time::SystemTime;
use toolkit_core::ask::{Access, Ask};
use toolkit_core::caller::Caller;
use toolkit_core::name::folded;
use toolkit_core::unix_time;

/// An approval that a person gave for a session or always, in one workspace.
///
/// It answers a later question only if all fields are equal again. No character of the pattern is a wildcard, and a
/// question with several patterns needs an approval for each pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Approval {
    /// The id, with which the approval is revoked.
    pub id: String,
    /// The real path of the workspace.
    pub workspace: String,
    /// The kind of permission.
    pub kind: String,
    /// The pattern, exactly as the question showed it.
    pub pattern: String,
    /// The tool that asked.
    pub tool: String,
    /// The crate that the tool came from.
    pub source: String,
    /// The agent that called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The channel that the session came in by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The conversation of that channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The sender of the message in that channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// True if the session ran in a sandbox.
    pub sandboxed: bool,
    /// The other callers that delegated to this one, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delegated_by: Vec<Delegator>,
    /// How the question said that paths are used; `Write` if for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// The directories in which the question said that commands run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// The conditions of the question, which have to hold again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// The time of the approval; in JSON, milliseconds since 1970.
    #[serde(serialize_with = "unix_time::serialize")]
    pub approved_at: SystemTime,
    /// The session that the approval is limited to; `None` if it is valid for every session until it is revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The end of an approval for a session; in JSON, milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_milliseconds")]
    pub expires_at: Option<SystemTime>,
}

/// A caller that delegated to the one that asked. Fields that are `None` were unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Delegator {
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The conversation of that channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The sender of the message in that channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
}

impl Delegator {
    fn of(caller: &Caller) -> Self {
        Self {
            agent: caller.agent.clone(),
            channel: caller.channel.clone(),
            conversation: caller.conversation_id.clone(),
            sender: caller.sender_id.clone(),
        }
    }

    /// Returns the callers above a caller that have other names than it, each once.
    fn above(caller: &Caller) -> Vec<Self> {
        let mut all = vec![Self::of(caller)];
        for above in caller.chain().skip(1).map(Self::of) {
            if !all.contains(&above) {
                all.push(above);
            }
        }
        all.split_off(1)
    }

    fn texts(&self) -> impl Iterator<Item = &String> {
        let Self { agent, channel, conversation, sender } = self;
        [agent, channel, conversation, sender].into_iter().flatten()
    }
}

/// The tool and the caller that asked. An approval is valid again only for an equal asker, because each tool gives its
/// patterns their meaning, and the person approved for this caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Asker {
    pub(crate) tool: String,
    pub(crate) source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sender: Option<String>,
    pub(crate) sandboxed: bool,
    /// An agent's approval does not cover what another one has it do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) delegated_by: Vec<Delegator>,
}

impl Asker {
    /// Returns the asker for this tool and caller.
    pub(crate) fn of(caller: &Caller, tool: &Tool) -> Self {
        Self {
            tool: tool.name().to_owned(),
            source: tool.source().to_string(),
            agent: caller.agent.as_deref().map(folded),
            channel: caller.channel.clone(),
            conversation: caller.conversation_id.clone(),
            sender: caller.sender_id.clone(),
            sandboxed: caller.sandboxed,
            delegated_by: Delegator::above(caller),
        }
    }
}

/// The facts besides the pattern that must be equal for an approval to be valid again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Grounds {
    asker: Asker,
    kind: String,
    /// The kind of access: an approval to read does not allow writing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    access: Option<Access>,
    /// The working directories: a command may do something else in another directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    directories: Vec<String>,
    /// The facts that the answer relied on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<String>,
    /// The directory of the workspace, as opposed to another one at the same path later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
}

impl Grounds {
    fn of(asker: &Asker, ask: &Ask, workspace: Option<&str>) -> Self {
        let mut access = None;
        let mut directories = Vec::new();
        for detail in &ask.details {
            match detail.access() {
                Some(Access::Read) => {
                    access.get_or_insert(Access::Read);
                }
                Some(_) => access = Some(Access::Write),
                None => {}
            }
            directories.extend(detail.directory().map(str::to_owned));
        }
        let mut conditions = ask.conditions.clone();
        conditions.sort_unstable();
        conditions.dedup();
        let workspace = workspace.map(str::to_owned);
        Self { asker: asker.clone(), kind: ask.kind.clone(), access, directories, conditions, workspace }
    }

    /// Returns the approval with these grounds, in the public form.
    fn shown(self, id: String, workspace: String, pattern: String, approved_at: SystemTime) -> Approval {
        let Self { asker, kind, access, directories, conditions, workspace: _ } = self;
        let Asker { tool, source, agent, channel, conversation, sender, sandboxed, delegated_by } = asker;
        Approval {
            id,
            workspace,
            kind,
            pattern,
            tool,
            source,
            agent,
            channel,
            conversation,
            sender,
            sandboxed,
            delegated_by,
            access,
            directories,
            conditions,
            approved_at,
            session: None,
            expires_at: None,
        }
    }

    fn bytes(&self) -> usize {
        let Asker { tool, source, agent, channel, conversation, sender, delegated_by, .. } = &self.asker;
        let of_caller = [agent, channel, conversation, sender].into_iter().flatten();
        let of_caller = of_caller.chain(delegated_by.iter().flat_map(Delegator::texts));
        let texts = [tool, source, &self.kind].into_iter().chain(of_caller);
        texts.chain(&self.directories).chain(&self.conditions).chain(&self.workspace).map(String::len).sum()
    }
}

#[expect(clippy::ref_option, reason = "serde's form")]
fn optional_milliseconds<S: Serializer>(time: &Option<SystemTime>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => unix_time::serialize(time, serializer),
        None => serializer.serialize_none(),
    }
}

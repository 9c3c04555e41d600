//! The service by which tools of a platform's crate act through the accounts of a host.

use serde_json::Value;
use toolkit::{ToolContext, ToolError};

use crate::channel::Future;
use crate::event::Conversation;

/// Carries out [actions that one platform has](crate::Action::Platform) for its tools, by the host's own accounts.
///
/// A gateway provides it: there such an action is a row of its outbox, as each message is. A tool that finds no such service acts by itself.
/// Each method sees only what the caller's session may use: another account or conversation does not exist for it.
pub trait PlatformService: Send + Sync + 'static {
    /// Finds the conversation of an action: the one that is named, or else the conversation that the caller is in. It changes nothing.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if the session may not write there, or none is named and it is in no conversation of the channel; `Unavailable` if
    /// the caller is in no session, or the conversations cannot be read.
    fn find<'a>(
        &'a self,
        ctx: &'a ToolContext,
        wanted: &'a WantedConversation,
    ) -> Future<'a, Result<PlatformConversation, ToolError>>;

    /// Stores an action for a conversation that [`find`](Self::find) returned, waits for a while until it was carried out, and returns how far it
    /// is. The end of the waiting does not end the action. A call that is made again under its id, after a crash, stores nothing.
    ///
    /// A person or a rule has allowed it. The answer of a person may have taken long, so the service checks the conversation again.
    ///
    /// # Errors
    ///
    /// Nothing was stored, and nothing is done: `InvalidArguments` if the conversation is not possible any more, `Unavailable` if the action
    /// could not be stored.
    fn act<'a>(
        &'a self,
        ctx: &'a ToolContext,
        conversation: &'a PlatformConversation,
        action: PlatformAction,
    ) -> Future<'a, Result<ActionOutcome, ToolError>>;
}

/// A conversation, as a call names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedConversation {
    /// The channel, such as `telegram`.
    pub channel: String,
    /// The platform's id of the person or group; `None` for the conversation that the caller is in.
    pub peer: Option<String>,
    /// The topic or thread within it; `None` for that of the conversation.
    pub thread: Option<String>,
}

/// A conversation that the caller's session may write to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformConversation {
    /// The channel.
    pub channel: String,
    /// The account that writes there.
    pub account: String,
    /// The conversation.
    pub conversation: Conversation,
    /// True for the conversation that the caller is in.
    pub is_own: bool,
}

/// An action that one platform has.
#[derive(Debug, Clone, PartialEq)]
pub struct PlatformAction {
    /// Its name. A channel that does not know the name refuses the action.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// How far an action is.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum ActionState {
    /// It was carried out.
    Delivered,
    /// It waits, or is on its way: it needs no further call.
    Waiting,
    /// It will not be carried out.
    Refused,
    /// Nobody knows: it is never tried again by itself.
    Unknown,
}

/// An action that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionOutcome {
    /// Its id in the outbox.
    pub id: String,
    /// How far it is.
    pub state: ActionState,
    /// Why it is there.
    pub reason: Option<String>,
    /// The platform's id of the message.
    pub message_id: Option<String>,
}

impl ActionOutcome {
    /// Returns the state in words for a model, with the reason and what to do.
    pub fn explained(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        match self.state {
            ActionState::Delivered => "delivered".to_owned(),
            ActionState::Waiting => {
                format!("waiting{reason}: it is done without a further call; do not call again for it")
            }
            ActionState::Refused => format!("refused{reason}: it will not be done"),
            ActionState::Unknown => format!(
                "unknown{reason}: nobody knows whether it was done; do not call again for it unless the person says so"
            ),
        }
    }
}

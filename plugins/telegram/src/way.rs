//! The way of an action to its chat: through the accounts of a host, or else by the bot of the tools.

use crate::chat::Chat;
use serde::Serialize;
use std::sync::Arc;
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind};
use toolkit_channel::{
    ActionOutcome, PlatformAction, PlatformConversation, PlatformService, WantedConversation,
};

/// The name of the channel.
const CHANNEL: &str = "telegram";

/// The way of an action.
pub(crate) enum Way {
    /// Through the outbox of a host, by the account of the session.
    Host(Hosted),
    /// By the bot of `plugins.telegram`.
    Bot(Chat),
}

/// A conversation of a host.
pub(crate) struct Hosted {
    service: Arc<dyn PlatformService>,
    place: PlatformConversation,
}

impl Way {
    /// Returns the way to the chat that a call names, or else to the caller's conversation.
    pub(crate) async fn of(
        ctx: &ToolContext,
        named: Option<&str>,
        thread: Option<i64>,
    ) -> Result<Self, ToolError> {
        let Some(service) = ctx.service::<dyn PlatformService>() else {
            return Ok(Self::Bot(Chat::of(ctx, named)?));
        };
        let peer = named.map(|text| {
            Chat::parse(text).map(|chat| chat.to_string()).ok_or_else(|| {
                ToolError::new(
                    ToolErrorKind::InvalidArguments,
                    "`chat_id` is not a Telegram chat: give its number, or leave it out for this conversation",
                )
            })
        });
        let wanted = WantedConversation {
            channel: CHANNEL.to_owned(),
            peer: peer.transpose()?,
            thread: thread.map(|thread| thread.to_string()),
        };
        let place = service.find(ctx, &wanted).await?;
        Ok(Self::Host(Hosted { service, place }))
    }

    /// Returns an approval request for an action in the chat, such as "Send a poll to".
    pub(crate) fn ask(&self, ctx: &ToolContext, what: &str) -> Ask {
        match self {
            Self::Bot(chat) => chat.ask(ctx, what),
            Self::Host(hosted) => hosted.ask(what),
        }
    }
}

impl Hosted {
    fn ask(&self, what: &str) -> Ask {
        let PlatformConversation { channel, account, conversation, is_own } = &self.place;
        let peer = &conversation.peer;
        let place = if *is_own { "this conversation" } else { "another chat" };
        Ask::new("message", format!("{what} {place} on Telegram, {peer}"))
            .before_acting()
            .with_pattern(format!("{channel}:{peer}"))
            // A lasting answer counts for the same account alone.
            .with_condition(format!("by the account {account}"))
            .with_text("to", format!("{peer}, by the account {account}"))
    }

    /// Hands an action over, once it is allowed.
    pub(crate) async fn act(
        &self,
        ctx: &ToolContext,
        name: &str,
        arguments: &impl Serialize,
    ) -> Result<ActionOutcome, ToolError> {
        let action = PlatformAction { name: name.to_owned(), arguments: serde_json::to_value(arguments)? };
        let outcome = self.service.act(ctx, &self.place, action).await?;
        ctx.set_metadata("outbox", outcome.id.as_str());
        Ok(outcome)
    }

    /// Returns the platform's id of the person or group.
    pub(crate) fn peer(&self) -> &str {
        &self.place.conversation.peer
    }
}

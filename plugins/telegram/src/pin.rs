//! `telegram_pin_message`.

use crate::api::BotApi;
use crate::chat::Chat;
use crate::way::Way;
use serde::{Deserialize, Serialize};
use toolkit::prelude::*;
use toolkit_channel::ActionState;

/// The name of the action in a gateway.
pub(crate) const ACTION: &str = "pin";

/// The fields of `pinChatMessage` besides the chat.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinFields {
    pub(crate) message_id: i64,
    disable_notification: bool,
}

/// The body of `pinChatMessage`.
#[derive(Serialize)]
struct PinChatMessage<'a> {
    chat_id: &'a Chat,
    #[serde(flatten)]
    fields: PinFields,
}

/// Pins a message at the top of a Telegram chat. The bot needs the right to pin in a group, or to edit in a channel.
#[tool(
    group = "telegram",
    title = "Pin a message",
    permission = "message",
    always_asks,
    idempotent,
    open_world
)]
async fn telegram_pin_message(
    ctx: &ToolContext,
    bot: State<BotApi>,
    /// The message's id in this chat.
    #[arg(range(1..))]
    message_id: i64,
    /// Do not notify the members of a group.
    #[arg(default = false)]
    disable_notification: bool,
    /// The chat, as a number or `@name`. Default: this conversation.
    #[arg(pattern = "^(-?[1-9][0-9]{0,15}|@[A-Za-z][A-Za-z0-9_]{3,31})$", example = "-1001234567890")]
    chat_id: Option<&str>,
) -> Result<String, ToolError> {
    let way = Way::of(ctx, chat_id, None).await?;
    if let Way::Bot(_) = &way {
        bot.check()?;
    }
    let ask = way.ask(ctx, &format!("Pin the message {message_id} in"));
    ctx.ask(ask.with_text("members are told", if disable_notification { "no" } else { "yes" })).await?;
    let fields = PinFields { message_id, disable_notification };
    match way {
        Way::Host(hosted) => {
            let outcome = hosted.act(ctx, ACTION, &fields).await?;
            let done = match outcome.state {
                ActionState::Delivered => "Pinned",
                _ => "Asked to pin",
            };
            let (peer, id, state) = (hosted.peer(), &outcome.id, outcome.explained());
            Ok(format!("{done} the message {message_id} in {peer}. Row {id} of the outbox is {state}."))
        }
        Way::Bot(chat) => {
            // The result carries no information: there is one only after success.
            let _: bool = bot.call("pinChatMessage", &PinChatMessage { chat_id: &chat, fields }).await?;
            Ok(format!("Pinned the message {message_id} in {chat}."))
        }
    }
}

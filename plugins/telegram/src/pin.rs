//! `telegram_pin_message`.

use crate::api::BotApi;
use crate::chat::Chat;
use serde::Serialize;
use toolkit::prelude::*;

/// The body of `pinChatMessage`.
#[derive(Serialize)]
struct PinChatMessage<'a> {
    chat_id: &'a Chat,
    message_id: i64,
    disable_notification: bool,
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
    let chat = Chat::of(ctx, chat_id)?;
    let ask = chat.ask(ctx, &format!("Pin the message {message_id} in"));
    ctx.ask(ask.with_text("members are told", if disable_notification { "no" } else { "yes" })).await?;
    // The result carries no information: there is one only after success.
    let _: bool = bot
        .call("pinChatMessage", &PinChatMessage { chat_id: &chat, message_id, disable_notification })
        .await?;
    Ok(format!("Pinned the message {message_id} in {chat}."))
}

//! Telegram, by its [Bot API](https://core.telegram.org/bots/api): a chat channel, and tools for conversations on it.
//!
//! # The channel
//!
//! The crate registers the platform `telegram` as a [channel](toolkit_channel): a gateway receives messages of its bots by long polling, and
//! sends answers. Each account is a bot, with a token that the bot `BotFather` gave:
//!
//! ```json5
//! {
//!   channels: { telegram: { telegram: {
//!     token: "${env:TELEGRAM_TOKEN}", // the account `default`; for several: accounts: { home: { token: … }, work: { token: … } }
//!     baseUrl: "https://api.telegram.org", pollSeconds: 50, timeoutSeconds: 30, // as by default
//!   } } },
//! }
//! ```
//!
//! * Texts, photos, stickers, voice notes, music, films, other files, places, edits, replies with quotes, presses of buttons, and posts in
//!   channels are received. An update that cannot be read is left out and logged without its content, and blocks none behind it.
//! * A message is marked as forwarded if a bot wrote it for the sender, too. It has no sender if it was written in the name of a group or channel.
//! * A topic of a group is a thread. Groups that become supergroups are moved.
//! * A file is sent as a photo, voice note, music or film only if Telegram takes its type as such, otherwise as any file. Replacing a text
//!   removes its buttons.
//! * Telegram has no keys for messages: one whose answer was lost is never sent again. A message that Telegram certainly does not have may be.
//! * Limits: 4,096 UTF-16 units for a text, 1,024 for a caption, 12 options of a poll, 64 bytes for the data of a button, 50 MiB for a
//!   file that is sent, 20 MiB for one that is fetched. A server of the Bot API in local mode, which gives paths of its own disk, is not supported.
//!
//! # The tools
//!
//! `telegram_send_poll` sends a poll or a quiz, `telegram_pin_message` pins a message. They are there in sessions of the channel
//! `telegram` alone. In a gateway they act by the account of the session, through its outbox ([`toolkit_channel::PlatformService`]), and need
//! no token of their own. Another host needs `toolkit::link!(toolkit_telegram)` and the token of a bot:
//!
//! ```json5
//! {
//!   plugins: { telegram: { token: "${env:TELEGRAM_TOKEN}" } }, // or { file: "telegram-token" }
//!   permission: { message: [{ match: "telegram:-1001234567890", do: "allow" }] }, // asked for otherwise
//! }
//! ```
//!
//! # Whom they reach
//!
//! The chat is the caller's conversation (`Caller::conversation_id`), unless the call names another by `chat_id`. Either way it needs
//! approval, under the kind `message` with the pattern `telegram:<chat>`: the number, or `@name` in lower case, in whatever form the
//! call writes it. To deny a public chat, deny both: only Telegram knows the number of a name.
//!
//! In a gateway the chat is the session's conversation, or another one that the session may write to, by its number; the pattern has this
//! number. Other chats, names and topics are refused.
//!
//! # What fails, and whether to try again
//!
//! Telegram's description of a failure is returned, with the time to wait that it gives (`retry_after`). A request that was refused
//! or never arrived was not sent, nor was one that a proxy rejected as too much (HTTP status 429, or 503 with `Retry-After`). One
//! whose answer is missing may have been: then no error advises to send it again.
//!
//! The token is a part of the address of each request. No error names that address.
//!
//! # Limits
//!
//! The limits are those of Bot API 10.2: a question of 300 characters, 1 to 12 options of 100, an explanation of 200 with at most 2
//! line feeds, 5 to 2,628,000 seconds for an answer. The timeout of a request is 30 seconds (`timeoutSeconds`); an answer has at most
//! 1 MiB.

mod api;
mod channel;
mod chat;
mod fault;
mod pin;
mod poll;
mod request;
mod settings;
mod way;

pub use api::BotApi;
pub use settings::TelegramSettings;

// Its clients have no provider of cryptography of their own, nor has then any other client of the program.
toolkit::at_start!(toolkit_http::install_provider);

toolkit::plugin! {
    id: "telegram",
    title: "Telegram",
    description: "Polls and pinned messages in conversations on Telegram.",
    channel: "telegram",
}

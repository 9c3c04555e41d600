//! Tools for conversations on Telegram, by its [Bot API](https://core.telegram.org/bots/api).
//!
//! `telegram_send_poll` sends a poll or a quiz, `telegram_pin_message` pins a message. They are there in sessions of the channel
//! `telegram` alone. A host needs `toolkit::link!(toolkit_telegram)` and the token of a bot:
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
mod chat;
mod fault;
mod pin;
mod poll;
mod settings;

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

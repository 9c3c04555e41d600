//! The configuration `plugins.telegram`.

use toolkit::config::Secret;

/// Settings of Telegram (`plugins.telegram`).
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct TelegramSettings {
    /// The bot's token, from the bot `BotFather`: `123456:ABC-DEF1234`.
    pub token: Option<Secret>,
    /// The base URL of the Bot API; change it for a self-hosted server.
    #[arg(default = "https://api.telegram.org", pattern = "^https?://[^?#]+$")]
    pub base_url: String,
    /// The timeout of a request, in seconds.
    #[arg(default = 30, range(1..=300))]
    pub timeout_seconds: u64,
}

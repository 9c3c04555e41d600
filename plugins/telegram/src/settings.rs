//! The configuration `plugins.telegram`.

use crate::api::BotApi;
use toolkit::prelude::*;
use toolkit::{Config, Secret};

/// What can be configured of Telegram, under `plugins.telegram`.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct TelegramSettings {
    /// The bot's token, as the bot `BotFather` gives it: `123456:ABC-DEF1234`.
    pub token: Option<Secret>,
    /// Where the Bot API is; another place for a server of one's own.
    #[arg(default = "https://api.telegram.org", pattern = "^https?://[^?#]+$")]
    pub base_url: String,
    /// How long a request may take, in seconds.
    #[arg(default = 30, range(1..=300))]
    pub timeout_seconds: u64,
}

#[toolkit::service]
fn bot(settings: &Config<TelegramSettings>) -> Result<BotApi, ToolError> {
    BotApi::new(settings)
}

//! The bot of the tools.

use crate::fault::{self, PLATFORM};
use crate::request::{Bot, Payload, is_token};
use crate::settings::TelegramSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::time::Duration;
use toolkit::Config;
use toolkit::prelude::*;

/// A bot, by its token.
pub struct BotApi {
    /// The bot, or why there is none: where a host has accounts of its own, the tools need none.
    bot: Result<Bot, ToolError>,
}

#[toolkit::service]
fn bot(settings: &Config<TelegramSettings>) -> BotApi {
    BotApi { bot: configured(settings) }
}

impl BotApi {
    /// The bot that is configured. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Unavailable`, with the setting to configure, if there is no token or it is invalid.
    pub fn new(settings: &TelegramSettings) -> Result<Self, ToolError> {
        configured(settings).map(|bot| Self { bot: Ok(bot) })
    }

    /// Calls a method that sends or changes something.
    pub(crate) async fn call<R: DeserializeOwned>(
        &self,
        method: &str,
        body: &impl Serialize,
    ) -> Result<R, ToolError> {
        let bot = self.bot.as_ref().map_err(Clone::clone)?;
        let called = bot.call(&PLATFORM, method, Payload::json(body)?, bot.timeout()).await;
        called.map_err(|failure| fault::of(&failure))
    }

    /// Checks that there is a bot.
    pub(crate) fn check(&self) -> Result<(), ToolError> {
        self.bot.as_ref().map(|_| ()).map_err(Clone::clone)
    }
}

/// Returns the bot that the settings name.
fn configured(settings: &TelegramSettings) -> Result<Bot, ToolError> {
    let token = settings.token.clone().ok_or_else(|| {
        ToolError::unavailable(
            "no bot is configured: a person has to set `plugins.telegram.token` to the token that @BotFather gave, as \
             \"${env:TELEGRAM_TOKEN}\" or { file: \"…\" }",
        )
    })?;
    if !is_token(token.expose()) {
        return Err(ToolError::unavailable(
            "`plugins.telegram.token` is not a bot token: that is a number, a colon, and letters, digits, `_` or `-`, as \
             @BotFather gives it",
        ));
    }
    let timeout = Duration::from_secs(settings.timeout_seconds);
    Bot::new(token, &settings.base_url, timeout)
        .map_err(|error| ToolError::unavailable(format!("requests to Telegram cannot be made: {error}")))
}

impl fmt::Debug for BotApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base_url = self.bot.as_ref().ok().map(Bot::base_url);
        f.debug_struct("BotApi").field("base_url", &base_url).finish_non_exhaustive()
    }
}

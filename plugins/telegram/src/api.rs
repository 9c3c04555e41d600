//! Requests to the Bot API.

use crate::fault::{self, PLATFORM, Parameters};
use crate::settings::TelegramSettings;
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{Config, config::Secret};
use toolkit_http::PlatformAnswer;

/// A bot, by its token.
pub struct BotApi {
    client: Client,
    base_url: String,
    token: Secret,
    timeout: Duration,
}

/// The envelope of every answer of the Bot API.
#[derive(Deserialize)]
struct Envelope<R> {
    ok: bool,
    result: Option<R>,
    error_code: Option<i64>,
    description: Option<String>,
    parameters: Option<Parameters>,
}

#[toolkit::service]
fn bot(settings: &Config<TelegramSettings>) -> Result<BotApi, ToolError> {
    BotApi::new(settings)
}

impl BotApi {
    /// The bot that is configured. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// `Unavailable`, with the setting to configure, if there is no token or it is invalid.
    pub fn new(settings: &TelegramSettings) -> Result<Self, ToolError> {
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
        let client = toolkit_http::client(timeout).build().map_err(|error| {
            ToolError::unavailable(format!("requests to Telegram cannot be made: {error}"))
        })?;
        let base_url = settings.base_url.trim_end_matches('/').to_owned();
        Ok(Self { client, base_url, token, timeout })
    }

    /// Calls a method that sends or changes something.
    pub(crate) async fn call<R: DeserializeOwned>(
        &self,
        method: &str,
        body: &impl Serialize,
    ) -> Result<R, ToolError> {
        self.try_call(method, body).await.map_err(|error| {
            // The token is removed from any message, even one from a server that repeats its URL.
            let message = error.message().replace(self.token.expose(), toolkit_http::REDACTED);
            error.with_message(message)
        })
    }

    async fn try_call<R: DeserializeOwned>(
        &self,
        method: &str,
        body: &impl Serialize,
    ) -> Result<R, ToolError> {
        let url = format!("{}/bot{}/{method}", self.base_url, self.token.expose());
        let body = serde_json::to_vec(body)?;
        let request = self.client.post(url).header(CONTENT_TYPE, "application/json").body(body);
        let answer = PLATFORM.exchange(request, self.timeout, self.token.expose()).await;
        let answer = answer.map_err(|failure| fault::of_request(&failure))?;
        let envelope: Envelope<R> = serde_json::from_slice(&answer.body)
            .map_err(|_| fault::of_request(&PLATFORM.foreign(&answer)))?;
        let PlatformAnswer { status, wait, .. } = answer;
        match envelope {
            Envelope { ok: true, result: Some(result), .. } => Ok(result),
            Envelope { ok: true, .. } => {
                Err(fault::of_request(&PLATFORM.unusable(status, wait, "it has no result")))
            }
            Envelope { error_code, description, parameters, .. } => Err(fault::of_api(
                error_code.unwrap_or_else(|| status.as_u16().into()),
                &description.unwrap_or_default(),
                &parameters.unwrap_or_default(),
                wait,
            )),
        }
    }
}

fn is_token(text: &str) -> bool {
    let is_of_secret = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    text.len() <= 128
        && text.split_once(':').is_some_and(|(id, secret)| {
            !id.is_empty()
                && id.bytes().all(|byte| byte.is_ascii_digit())
                && !secret.is_empty()
                && secret.chars().all(is_of_secret)
        })
}

impl fmt::Debug for BotApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BotApi").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

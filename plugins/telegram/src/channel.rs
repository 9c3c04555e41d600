//! A bot account as a chat channel: messages by long polling, and answers.

mod downloading;
mod errors;
mod mentions;
mod multipart;
mod opening;
mod receiving;
mod sending;
mod update;

use crate::request::{Bot, Payload};
use bytes::Bytes;
use errors::RECEIVING;
use mentions::Me;
use serde::Deserialize;
use serde_json::json;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use toolkit_channel::text::{Markup, Style, Unit};
use toolkit_channel::{
    Batch, Capabilities, Channel, Conversation, Future, Identity, Limits, Media, Outgoing, Receipt,
    ReceiveError, SendError,
};

/// The longest text of a message, in UTF-16 units.
const MAX_TEXT: usize = 4096;
/// The longest caption, in UTF-16 units.
const MAX_CAPTION: usize = 1024;
/// The most options of a poll.
const MAX_POLL_OPTIONS: usize = 12;
/// The most bytes of the data of a button.
const MAX_BUTTON_DATA: usize = 64;
/// The most bytes of a file that a bot can send.
const MAX_UPLOAD: u64 = 50 << 20;
/// The most bytes of a file that a bot can fetch.
const MAX_DOWNLOAD: u64 = 20 << 20;
/// The longest text that whoever pressed a button can be shown, in characters.
const MAX_ACKNOWLEDGEMENT: usize = 200;

toolkit_channel::channel! {
    platform: "telegram",
    settings: opening::ChannelSettings,
    open: opening::open,
}

/// A bot account.
struct BotAccount {
    bot: Bot,
    poll: Duration,
    /// The account as Telegram last described it.
    me: Mutex<Option<Arc<Me>>>,
}

/// The account, as `getMe` describes it.
#[derive(Deserialize)]
struct Described {
    id: i64,
    username: Option<String>,
    first_name: Option<String>,
}

impl BotAccount {
    fn new(bot: Bot, poll: Duration) -> Self {
        Self { bot, poll, me: Mutex::new(None) }
    }

    /// Asks Telegram who the account is. Its user name is needed to find mentions of it.
    async fn describe(&self) -> Result<(Arc<Me>, Identity), ReceiveError> {
        let payload = errors::json(&json!({}))?;
        let described = self.bot.call(&RECEIVING, "getMe", payload, self.bot.timeout()).await;
        let Described { id, username, first_name } = described.map_err(errors::receive)?;
        let name = match (&username, first_name) {
            (Some(username), _) => format!("@{username}"),
            (None, Some(name)) => name,
            (None, None) => id.to_string(),
        };
        let me = Arc::new(Me { id, username });
        *self.me.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&me));
        Ok((me, Identity { id: id.to_string(), name }))
    }

    async fn me(&self) -> Result<Arc<Me>, ReceiveError> {
        let known = self.me.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(me) => Ok(me),
            None => Ok(self.describe().await?.0),
        }
    }

    /// Calls a method on whose success nothing depends.
    async fn attempt(&self, method: &str, body: &serde_json::Value) {
        let Ok(payload) = Payload::json(body) else { return };
        let called: Result<serde::de::IgnoredAny, _> =
            self.bot.call(&errors::SENDING, method, payload, self.bot.timeout()).await;
        if let Err(failure) = called {
            let error = errors::receive(failure);
            tracing::debug!(method, %error, "Telegram did not do what nothing depends on");
        }
    }
}

impl fmt::Debug for BotAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BotAccount").field("base_url", &self.bot.base_url()).finish_non_exhaustive()
    }
}

impl Channel for BotAccount {
    fn capabilities(&self) -> Capabilities {
        let mut all = Capabilities::default();
        all.edit = true;
        all.delete = true;
        all.react = true;
        all.poll = true;
        all.buttons = true;
        all.media = true;
        all.typing = true;
        all.reply = true;
        all.silent = true;
        all
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::new(MAX_TEXT, MAX_CAPTION);
        limits.poll_options = MAX_POLL_OPTIONS;
        limits.button_data = MAX_BUTTON_DATA;
        limits.media_out = MAX_UPLOAD;
        limits.media_in = MAX_DOWNLOAD;
        limits
    }

    fn style(&self) -> Style {
        Style { markup: Markup::Html, unit: Unit::Utf16, max: MAX_TEXT }
    }

    fn identify(&self) -> Future<'_, Result<Identity, ReceiveError>> {
        Box::pin(async { Ok(self.describe().await?.1) })
    }

    fn receive<'a>(&'a self, offset: Option<&'a str>) -> Future<'a, Result<Batch, ReceiveError>> {
        Box::pin(async move {
            let me = self.me().await?;
            receiving::receive(&self.bot, &me, offset, self.poll).await
        })
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Future<'a, Result<Receipt, SendError>> {
        Box::pin(sending::send(&self.bot, outgoing))
    }

    fn fetch<'a>(&'a self, media: &'a Media, max: u64) -> Future<'a, Result<Bytes, ReceiveError>> {
        Box::pin(downloading::fetch(&self.bot, media, max))
    }

    fn typing<'a>(&'a self, conversation: &'a Conversation) -> Future<'a, ()> {
        Box::pin(async {
            if let Ok(mut body) = sending::target(conversation) {
                body.insert("action".to_owned(), "typing".into());
                self.attempt("sendChatAction", &body.into()).await;
            }
        })
    }

    fn acknowledge<'a>(&'a self, press_id: &'a str, text: &'a str) -> Future<'a, ()> {
        Box::pin(async move {
            let mut body = json!({ "callback_query_id": press_id });
            if !text.is_empty() {
                body["text"] = text.chars().take(MAX_ACKNOWLEDGEMENT).collect::<String>().into();
            }
            self.attempt("answerCallbackQuery", &body).await;
        })
    }
}

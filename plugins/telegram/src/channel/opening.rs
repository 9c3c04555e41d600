//! The settings `channels.telegram.telegram`, and the accounts that they name.

use super::BotAccount;
use crate::request::{Bot, is_token};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use toolkit::config::Secret;
use toolkit_channel::{Accounts, Channel, OpenError};

/// The id of an account whose token stands in `token`.
const DEFAULT_ACCOUNT: &str = "default";

/// Settings of the channel Telegram (`channels.telegram.telegram`).
#[toolkit::args]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChannelSettings {
    /// The token of the bot, from the bot `BotFather`, where there is one: its account has the id `default`.
    token: Option<Secret>,
    /// The bots by the ids of their accounts, where there are several.
    accounts: Option<BTreeMap<String, AccountSettings>>,
    /// The base URL of the Bot API; change it for a self-hosted server.
    #[arg(default = "https://api.telegram.org", pattern = "^https?://[^?#]+$")]
    base_url: String,
    /// The seconds that Telegram waits for a message before it answers that there is none.
    #[arg(default = 50, range(1..=50))]
    poll_seconds: u64,
    /// The timeout of a request, in seconds. For a poll, and for a file by its size, time is added.
    #[arg(default = 30, range(1..=300))]
    timeout_seconds: u64,
}

/// Settings of a bot.
#[toolkit::args]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
pub(super) struct AccountSettings {
    /// The token of the bot, from the bot `BotFather`: `123456:ABC-DEF1234`.
    token: Secret,
}

/// Opens the accounts that the settings name.
pub(super) fn open(settings: &ChannelSettings) -> Result<Accounts, OpenError> {
    check_base_url(&settings.base_url)?;
    let (timeout, poll) =
        (Duration::from_secs(settings.timeout_seconds), Duration::from_secs(settings.poll_seconds));
    let mut accounts: Vec<(String, Arc<dyn Channel>)> = Vec::new();
    let mut bots: BTreeMap<i64, &str> = BTreeMap::new();
    for (id, place, token) in tokens(settings)? {
        if !is_token(token.expose()) {
            return Err(OpenError(format!(
                "`{place}` is not a bot token: that is a number, a colon, and letters, digits, `_` or `-`, as @BotFather gives it"
            )));
        }
        let bot = Bot::new(token.clone(), &settings.base_url, timeout)
            .map_err(|error| OpenError(format!("requests to Telegram cannot be made: {error}")))?;
        if let Some(other) = bots.insert(bot.id(), id) {
            return Err(OpenError(format!(
                "the accounts `{other}` and `{id}` are the same bot, whose messages can be received once: remove one of them"
            )));
        }
        accounts.push((id.to_owned(), Arc::new(BotAccount::new(bot, poll))));
    }
    Ok(accounts)
}

/// Returns each account's id, the place of its token, and the token.
fn tokens(settings: &ChannelSettings) -> Result<Vec<(&str, String, &Secret)>, OpenError> {
    match (&settings.token, &settings.accounts) {
        (Some(token), None) => Ok(vec![(DEFAULT_ACCOUNT, "token".to_owned(), token)]),
        (None, Some(accounts)) if accounts.contains_key("") => {
            Err(OpenError("an account in `accounts` has no id: give it a name".to_owned()))
        }
        (None, Some(accounts)) if !accounts.is_empty() => Ok(accounts
            .iter()
            .map(|(id, account)| (id.as_str(), format!("accounts.{id}.token"), &account.token))
            .collect()),
        (Some(_), Some(_)) => Err(OpenError(
            "`token` is for one account, `accounts` for several: move the token to `accounts.default.token`".to_owned(),
        )),
        (None, _) => Err(OpenError(
            "no bot is named: set `token` to the token that @BotFather gave, as \"${env:TELEGRAM_TOKEN}\" or { file: \"…\" }"
                .to_owned(),
        )),
    }
}

/// Each request needs it, and a request that cannot be built would look like one that may have been sent.
fn check_base_url(base_url: &str) -> Result<(), OpenError> {
    let url = reqwest::Url::parse(base_url).ok().filter(reqwest::Url::has_host);
    match url {
        Some(url) if url.username().is_empty() && url.password().is_none() => Ok(()),
        Some(_) => Err(OpenError("`baseUrl` has a user name or password: leave them out".to_owned())),
        None => Err(OpenError("`baseUrl` is not a URL with a host".to_owned())),
    }
}

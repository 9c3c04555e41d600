//! The settings `channels.postbox.postbox`, and the account that they name.

use std::sync::Arc;
use std::time::Duration;

use toolkit::config::Secret;
use toolkit_channel::{Accounts, OpenError};

use crate::account::Account;
use crate::requests::Server;

/// Settings of the channel Postbox (`channels.postbox.postbox`).
#[toolkit::args]
#[derive(Debug)]
#[serde(rename_all = "camelCase")]
pub struct PostboxSettings {
    /// The token of the account.
    token: Secret,
    /// The base URL of the server.
    #[arg(default = "https://postbox.example", pattern = "^https?://[^?#]+$")]
    base_url: String,
    /// The seconds that the server waits for an event before it answers that there is none.
    #[arg(default = 30, range(1..=50))]
    wait_seconds: u64,
}

/// Opens the account. Nothing is sent: a token that is unknown to the server is an error of the first request.
pub(crate) fn open(settings: &PostboxSettings) -> Result<Accounts, OpenError> {
    let is_token = |char: char| char.is_ascii_alphanumeric() || char == '-';
    let token = settings.token.expose();
    if token.is_empty() || !token.chars().all(is_token) {
        return Err(OpenError(
            "`token` is no token: that is letters, digits and `-`, as Postbox shows it".to_owned(),
        ));
    }
    let server = Server::new(&settings.base_url, settings.token.clone())
        .map_err(|reason| OpenError(format!("`baseUrl` cannot be used: {reason}")))?;
    let wait = Duration::from_secs(settings.wait_seconds);
    Ok(vec![("default".to_owned(), Arc::new(Account::new(server, wait)))])
}
